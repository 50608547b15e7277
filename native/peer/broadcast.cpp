// Scenario `broadcast`: the server publishes as fast as it can; every client receives, checks every message and measures.
// `broadcast-last`: the server publishes at a rate and writes into each message when; every client tells how long each was on its way.
// `broadcast-slow`: one client pauses again and again.
#include "connection.hpp"
#include "one_way_stretch.hpp"
#include "pacer.hpp"
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

class PublishSink : public Unpaced {
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

// The warm-up does not wait: it is there to get everything ready.
class StampedSink {
  public:
    static constexpr uint64_t burst = 1;
    StampedSink(ipc_publisher* publisher, const Cell& cell)
        : publisher_(publisher), pacer_(cell.workload.rate), message_(cell.workload.request_bytes) {}
    void begin(int64_t begin_ns) {
        pacer_.begin(begin_ns);
        paced_ = true;
    }
    int64_t spun_ns() const { return pacer_.spun_ns(); }
    size_t put(const MessagePattern& pattern, uint64_t head, size_t) {
        pattern.write(message_.data(), head);
        if (paced_) pacer_.wait_until_due();
        pattern.write_stamp(message_.data(), now_ns());
        check(ipc_publish(publisher_, message_.data(), message_.size(), IPC_FOREVER));
        return 1;
    }
    void flush() {}

  private:
    ipc_publisher* publisher_;
    Pacer pacer_;
    std::vector<uint8_t> message_;
    bool paced_ = false;
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

class SlowSource : public SubscriberSource {
  public:
    SlowSource(ipc_subscriber* subscriber, size_t length, std::chrono::microseconds pause)
        : SubscriberSource(subscriber, length), pause_(pause) {}

    Received next(size_t most) {
        if (since_pause_ == messages_between_pauses) {
            std::this_thread::sleep_for(pause_);
            since_pause_ = 0;
        }
        ++since_pause_;
        return SubscriberSource::next(most);
    }

  private:
    static constexpr uint32_t messages_between_pauses = 100;

    const std::chrono::microseconds pause_;
    uint32_t since_pause_ = 0;
};

class StampedSource : public SubscriberSource {
  public:
    StampedSource(ipc_subscriber* subscriber, const MessagePattern& pattern)
        : SubscriberSource(subscriber, pattern.length()), pattern_(pattern) {}

    // Where the next stretch's times go.
    void tell(Portions& portions) { portions_ = &portions; }

    Received next(size_t most) {
        const Received received = SubscriberSource::next(most);
        const int64_t now = now_ns();
        if (received.lengths[0] != pattern_.length()) return received;
        const uint64_t head = head_of(buffer_.data());
        const int64_t taken_ns = now - pattern_.take_stamp(buffer_.data(), head);
        if (taken_ns < 0 || taken_ns > most_ns) fail_stamp(taken_ns);
        if ((head & MessageHead::end_mark) == 0) portions_->keep_time(taken_ns);
        return received;
    }

  private:
    static constexpr int64_t most_ns = 60'000'000'000;

    [[noreturn]] static void fail_stamp(int64_t taken_ns) {
        fail_wrong_content("a message says it was published " + std::to_string(taken_ns) +
                           " ns ago: the transport damaged it, or publisher and subscriber read different clocks");
    }

    const MessagePattern& pattern_;
    Portions* portions_ = nullptr;
};

bool is_stamped(const Cell& cell) {
    return cell.scenario == "broadcast-last";
}

void check_stamped(const Cell& cell) {
    if (!(cell.workload.rate > 0))
        fail_bad_cell("workload '" + cell.workload.id +
                      "' has no rate: scenario broadcast-last needs messages per second");
    if (cell.workload.request_bytes < MessagePattern::stamp_at + sizeof(int64_t))
        fail_bad_cell("workload '" + cell.workload.id + "' has messages of " +
                      std::to_string(cell.workload.request_bytes) +
                      " bytes, too short for a sequence and a time: choose one of 16 bytes or more");
}

// What is published before a subscriber has joined never reaches it.
void wait_for_subscribers(ipc_publisher* publisher, const Cell& cell, const Control& control) {
    for (size_t count = 0;;) {
        control.throw_if_ended();
        check(ipc_publisher_subscribers(publisher, &count));
        if (count >= cell.clients) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Warm-up and measurement. portion: messages of one sample.
template <class Receive>
void receive_both(const Cell& cell, Control& control, const Arrivals& arrivals, uint64_t portion, Receive&& receive) {
    Portions warm_up(portion, 0);
    receive(warm_up);
    const uint64_t lost = arrivals.lost();
    Portions measured(portion, expected_samples(cell, warm_up, 1));
    const auto memory_before = memory_without(measured.samples());
    Usage before = read_counters();
    before.memory_bytes = memory_before;
    report_received(cell, control, warm_up, lost, nullptr);
    receive(measured);
    report_received(cell, control, measured, arrivals.lost() - lost, &before);
}

} // namespace

void broadcast_server(const Cell& cell, Control& control) {
    if (is_stamped(cell)) check_stamped(cell);
    const size_t length = pattern_of(cell).length();
    ipc_publisher* opened = nullptr;
    check(ipc_publisher_open(cell.address.c_str(), &opened));
    const std::unique_ptr<ipc_publisher, PublisherFree> publisher(opened);
    const Control::Interruptible interruptible(control, [opened] { ipc_publisher_close(opened); });
    control.emit({{"event", "ready"}, {"address", cell.address}});
    wait_for_subscribers(opened, cell, control);
    const int64_t begin_ns = now_ns();
    Senders senders(control, 1);
    if (is_stamped(cell)) {
        StampedSink sink(opened, cell);
        run_sender(cell, control, senders, 0, sink, begin_ns, [] {});
    } else {
        PublishSink sink(opened, length);
        run_sender(cell, control, senders, 0, sink, begin_ns, [] {});
    }
    control.wait_for_end();
}

void broadcast_client(const Cell& cell, Control& control) {
    constexpr int32_t handover_ms = 10'000;
    if (is_stamped(cell)) check_stamped(cell);
    const MessagePattern pattern = pattern_of(cell);
    ipc_subscriber* opened = nullptr;
    check(ipc_subscriber_open(cell.address.c_str(), handover_ms, &opened));
    const std::unique_ptr<ipc_subscriber, SubscriberFree> subscriber(opened);
    const Control::Interruptible interruptible(control, [opened] { ipc_subscriber_close(opened); });
    Arrivals arrivals(cell, pattern);
    if (is_stamped(cell)) {
        StampedSource source(opened, pattern);
        receive_both(cell, control, arrivals, Portions::each_timed, [&](Portions& portions) {
            source.tell(portions);
            receive_stretch(source, arrivals, portions, 1, 1);
        });
        return;
    }
    const auto receive_from = [&](auto source) {
        receive_both(cell, control, arrivals, cell.portion,
                     [&](Portions& portions) { receive_stretch(source, arrivals, portions, 1, cell.portion); });
    };
    if (cell.pause_us != 0)
        receive_from(SlowSource(opened, pattern.length(), std::chrono::microseconds(cell.pause_us)));
    else
        receive_from(SubscriberSource(opened, pattern.length()));
}

} // namespace ipc::peer
