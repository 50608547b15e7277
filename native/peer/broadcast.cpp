// Scenario `broadcast`: the server publishes as fast as it can; every client receives, checks every message and measures.
#include "connection.hpp"
#include "one_way_stretch.hpp"
#include "scenarios.hpp"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace ipc::peer {
namespace {

struct PublisherFree {
    void operator()(ipc_publisher* publisher) const { ipc_publisher_free(publisher); }
};
struct SubscriberFree {
    void operator()(ipc_subscriber* subscriber) const { ipc_subscriber_free(subscriber); }
};

class PublishSink {
  public:
    PublishSink(ipc_publisher* publisher, size_t length) : publisher_(publisher), message_(length) {}
    size_t put(const MessagePattern& pattern, uint64_t head, size_t) {
        pattern.write_many(message_.data(), 1, head);
        check(ipc_publish(publisher_, message_.data(), message_.size(), IPC_FOREVER));
        return 1;
    }
    void flush() {}

  private:
    ipc_publisher* publisher_;
    std::vector<uint8_t> message_;
};

class SubscriberSource : public OneMessage {
  public:
    static constexpr bool may_lose = true;
    SubscriberSource(ipc_subscriber* subscriber, size_t length) : OneMessage(length), subscriber_(subscriber) {}

    Received next(size_t) {
        size_t length = 0;
        const ipc_status status =
            ipc_subscriber_receive(subscriber_, buffer_.data(), buffer_.size(), &length, &lost_, IPC_FOREVER);
        if (status != IPC_OK && status != IPC_BUFFER_TOO_SMALL) [[unlikely]]
            check(status);
        return received(length);
    }
    // Messages dropped just before the last one.
    uint64_t lost() const { return lost_; }

  private:
    ipc_subscriber* subscriber_;
    uint64_t lost_ = 0;
};

// What is published before a subscriber has joined never reaches it.
void wait_for_subscribers(ipc_publisher* publisher, const Cell& cell, const Control& control) {
    for (size_t count = 0;;) {
        control.throw_if_ended();
        check(ipc_publisher_subscribers(publisher, &count));
        if (count >= cell.clients) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

void broadcast_server(const Cell& cell, Control& control) {
    const size_t length = pattern_of(cell).length();
    ipc_publisher* opened = nullptr;
    check(ipc_publisher_open(cell.address.c_str(), &opened));
    const std::unique_ptr<ipc_publisher, PublisherFree> publisher(opened);
    const Control::Interruptible interruptible(control, [opened] { ipc_publisher_close(opened); });
    control.emit({{"event", "ready"}, {"address", cell.address}});
    wait_for_subscribers(opened, cell, control);
    const int64_t begin_ns = now_ns();
    PublishSink sink(opened, length);
    Senders senders(control, 1);
    run_sender(cell, control, senders, 0, sink, begin_ns, [] {});
    control.wait_for_end();
}

void broadcast_client(const Cell& cell, Control& control) {
    constexpr int32_t handover_ms = 10'000;
    const MessagePattern pattern = pattern_of(cell);
    ipc_subscriber* opened = nullptr;
    check(ipc_subscriber_open(cell.address.c_str(), handover_ms, &opened));
    const std::unique_ptr<ipc_subscriber, SubscriberFree> subscriber(opened);
    const Control::Interruptible interruptible(control, [opened] { ipc_subscriber_close(opened); });
    SubscriberSource source(opened, pattern.length());
    Arrivals arrivals(cell, pattern);

    Portions warm_up(cell.portion, 0);
    receive_stretch(source, arrivals, warm_up, 1, cell.portion);
    const uint64_t lost = arrivals.lost();
    Portions measured(cell.portion, expected_samples(cell, warm_up, 1));
    const auto memory_before = memory_without(measured.samples());
    Usage before = read_counters();
    before.memory_bytes = memory_before;
    report_received(cell, control, warm_up, lost, nullptr);
    receive_stretch(source, arrivals, measured, 1, cell.portion);
    report_received(cell, control, measured, arrivals.lost() - lost, &before);
}

} // namespace ipc::peer
