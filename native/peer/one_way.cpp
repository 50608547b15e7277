// Scenarios `oneway`, `oneway-batch` and `fanin`: clients send as fast as they can, the server receives, checks every
// message and measures. Copying calls throughout: at small sizes one call that copies is cheaper than two that lend.
#include "connection.hpp"
#include "one_way_stretch.hpp"
#include "scenarios.hpp"

#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ipc::peer {
namespace {

constexpr uint8_t confirmation = 0x06;

bool is_batch(const Cell& cell) {
    return cell.scenario == "oneway-batch";
}

bool is_queue(const Cell& cell) {
    return cell.transport_kind() == "queue";
}

// ---- ways to receive

// A received message longer than the buffer has another length than is due; the caller says so.
ipc_status accept_too_long(ipc_status status) {
    return status == IPC_BUFFER_TOO_SMALL ? IPC_OK : status;
}

class ChannelSource : public OneMessage {
  public:
    static constexpr bool may_lose = false;
    ChannelSource(ipc_channel* channel, size_t length) : OneMessage(length), channel_(channel) {}

    Received next(size_t) {
        size_t length = 0;
        const ipc_status status = ipc_receive(channel_, buffer_.data(), buffer_.size(), &length, IPC_FOREVER);
        if (status != IPC_OK) [[unlikely]]
            check(accept_too_long(status));
        return received(length);
    }

  private:
    ipc_channel* channel_;
};

class QueueSource : public OneMessage {
  public:
    static constexpr bool may_lose = false;
    QueueSource(ipc_queue* queue, size_t length) : OneMessage(length), queue_(queue) {}

    Received next(size_t) {
        size_t length = 0;
        const ipc_status status = ipc_queue_dequeue(queue_, buffer_.data(), buffer_.size(), &length, IPC_FOREVER);
        if (status != IPC_OK) [[unlikely]]
            check(accept_too_long(status));
        return received(length);
    }

  private:
    ipc_queue* queue_;
};

class BatchSource {
  public:
    static constexpr bool may_lose = false;
    BatchSource(ipc_channel* channel, size_t length, size_t batch)
        : channel_(channel), length_(length), buffer_(length * batch), lengths_(batch) {}

    Received next(size_t most) {
        if (at_ == count_) refill();
        return {buffer_.data() + at_ * length_, lengths_.data() + at_, std::min(most, count_ - at_)};
    }
    // Each of them had the length of the cell's messages.
    void use(size_t count) { at_ += count; }

  private:
    void refill() {
        at_ = count_ = 0;
        const ipc_status status = ipc_receive_batch(channel_, buffer_.data(), buffer_.size(), lengths_.data(),
                                                    lengths_.size(), &count_, IPC_FOREVER);
        if (status == IPC_BUFFER_TOO_SMALL) count_ = 1; // its length is in lengths_[0]
        check(accept_too_long(status));
    }

    ipc_channel* channel_;
    size_t length_;
    std::vector<uint8_t> buffer_;
    std::vector<uint32_t> lengths_;
    size_t count_ = 0;
    size_t at_ = 0;
};

// ---- ways to send

class ChannelSink : public Unpaced {
  public:
    ChannelSink(ipc_channel* channel, size_t length) : channel_(channel), message_(length) {}
    size_t put(const MessagePattern& pattern, uint64_t head, size_t) {
        pattern.write_many(message_.data(), 1, head);
        check(ipc_send(channel_, message_.data(), message_.size(), IPC_FOREVER));
        return 1;
    }
    void flush() {}

  private:
    ipc_channel* channel_;
    std::vector<uint8_t> message_;
};

class QueueSink : public Unpaced {
  public:
    QueueSink(ipc_queue* queue, size_t length) : queue_(queue), message_(length) {}
    size_t put(const MessagePattern& pattern, uint64_t head, size_t) {
        pattern.write_many(message_.data(), 1, head);
        check(ipc_queue_enqueue(queue_, message_.data(), message_.size(), IPC_FOREVER));
        return 1;
    }
    void flush() {}

  private:
    ipc_queue* queue_;
    std::vector<uint8_t> message_;
};

class BatchSink : public Unpaced {
  public:
    BatchSink(ipc_channel* channel, size_t length, size_t batch)
        : channel_(channel), length_(length), messages_(length * batch),
          lengths_(batch, static_cast<uint32_t>(length)) {}
    size_t put(const MessagePattern& pattern, uint64_t head, size_t most) {
        const size_t count = std::min(most, lengths_.size() - count_);
        pattern.write_many(messages_.data() + count_ * length_, count, head);
        count_ += count;
        if (count_ == lengths_.size()) flush();
        return count;
    }
    void flush() {
        if (count_ == 0) return;
        size_t sent = 0;
        check(ipc_send_batch(channel_, messages_.data(), lengths_.data(), count_, &sent, IPC_FOREVER));
        if (sent != count_)
            throw Failure("SYSTEM", "a batch of " + std::to_string(count_) + " messages went out only up to message " +
                                        std::to_string(sent) + " although it may wait: the transport is wrong");
        count_ = 0;
    }

  private:
    ipc_channel* channel_;
    size_t length_;
    std::vector<uint8_t> messages_;
    std::vector<uint32_t> lengths_;
    size_t count_ = 0;
};

// ---- the queue of a cell

struct QueueFree {
    void operator()(ipc_queue* queue) const { ipc_queue_free(queue); }
};
using Queue = std::unique_ptr<ipc_queue, QueueFree>;

Queue open_queue(const Cell& cell) {
    constexpr int32_t handover_ms = 10'000;
    ipc_queue* queue = nullptr;
    check(ipc_queue_open(cell.address.c_str(), handover_ms, &queue));
    return Queue(queue);
}

// ---- the server

// The server's end of all its channels. The end of standard input interrupts whatever is blocked on them.
class Connections {
  public:
    Connections(const Cell& cell, Control& control) {
        {
            Listener listener(cell.address);
            const Control::Interruptible interruptible(control, [&listener] { listener.close(); });
            control.emit({{"event", "ready"}, {"address", listener.address()}});
            while (channels_.size() < cell.clients) channels_.push_back(listener.accept());
        }
        interruptible_.emplace(control, [this] { close(); });
    }

    const std::vector<Channel>& all() const { return channels_; }
    void close() {
        for (Channel& channel : channels_) channel.close();
    }
    void confirm() {
        for (Channel& channel : channels_) channel.send(&confirmation, sizeof confirmation);
    }

  private:
    std::vector<Channel> channels_; // first, so that they outlive every interrupt
    std::optional<Control::Interruptible> interruptible_;
};

// Both stretches, received by so many threads: all of them together take a sample when each has had its portion.
// receive(portions) receives one whole; confirm() tells the senders that it is there, if the transport can.
template <class Receive, class Confirm>
uint64_t measure_stretches(const Cell& cell, Control& control, size_t threads, Receive&& receive, Confirm&& confirm) {
    Portions warm_up(cell.portion * threads, 0);
    receive(warm_up);
    Portions measured(cell.portion * threads, expected_samples(cell, warm_up, cell.clients));
    const auto memory_before = memory_without(measured.samples());
    Usage before = read_counters();
    before.memory_bytes = memory_before;
    // Only now may the runner let the senders go on.
    report_received(cell, control, warm_up, 0, nullptr);
    confirm();
    receive(measured);
    report_received(cell, control, measured, 0, &before);
    confirm();
    return warm_up.operations() + measured.operations();
}

// One thread for each channel; the first failure ends all and is thrown here.
template <class Lane>
void receive_together(std::vector<Lane>& lanes, Connections& connections, Portions& portions, const Cell& cell) {
    if (lanes.size() == 1) {
        receive_stretch(lanes[0].source, lanes[0].arrivals, portions, 1, cell.portion);
        return;
    }
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (Lane& lane : lanes)
        threads.emplace_back([&] {
            try {
                receive_stretch(lane.source, lane.arrivals, portions, 1, cell.portion);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
                connections.close();
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

template <class Source>
struct Lane {
    Source source;
    Arrivals arrivals;
};

template <class Source, class... More>
uint64_t serve_channels(const Cell& cell, Control& control, const MessagePattern& pattern, More... more) {
    Connections connections(cell, control);
    std::vector<Lane<Source>> lanes;
    for (const Channel& channel : connections.all())
        lanes.push_back({Source(channel.handle(), pattern.length(), more...), Arrivals(cell, pattern)});
    return measure_stretches(
        cell, control, lanes.size(), [&](Portions& portions) { receive_together(lanes, connections, portions, cell); },
        [&] { connections.confirm(); });
}

bool gives_newest_first(const Cell& cell) {
    const size_t options = cell.address.find('?');
    return options != std::string::npos && cell.address.find("order=lifo", options) != std::string::npos;
}

template <class Arriving>
uint64_t serve_queue(const Cell& cell, Control& control, const MessagePattern& pattern) {
    const Queue queue = open_queue(cell);
    const Control::Interruptible interruptible(control, [&queue] { ipc_queue_close(queue.get()); });
    control.emit({{"event", "ready"}, {"address", cell.address}});
    QueueSource source(queue.get(), pattern.length());
    Arriving arrivals(cell, pattern);
    const uint64_t operations = measure_stretches(
        cell, control, 1,
        [&](Portions& portions) { receive_stretch(source, arrivals, portions, cell.clients, cell.portion); }, [] {});
    // A queue may outlive its users; this one was made for the launch.
    if (const ipc_status status = ipc_queue_remove(cell.address.c_str()); status != IPC_NO_SERVER) check(status);
    return operations;
}

// ---- the client

// Runs send(number) in as many threads as the cell has, number 0, 1 ...; the first failure ends all and is thrown here.
// close() makes every call return that is blocked.
template <class Send, class Close>
void send_together(const Cell& cell, Senders& senders, Send&& send, Close&& close) {
    if (cell.threads == 1) return send(0);
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (uint32_t number = 0; number < cell.threads; ++number)
        threads.emplace_back([&, number] {
            try {
                send(number);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
                senders.give_up();
                close();
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

// The number that a thread's messages carry: each thread is a client of its own.
uint32_t client_of(const Cell& cell, uint32_t thread) {
    return cell.client * cell.threads + thread;
}

void wait_for_confirmation(Channel& channel) {
    uint8_t answer = 0;
    if (channel.receive(&answer, sizeof answer) != sizeof answer || answer != confirmation)
        fail_wrong_content("a stretch was confirmed by something else than the byte 0x06: check that the server "
                           "plays the same scenario");
}

template <class Sink, class... More>
void send_over_channels(const Cell& cell, Control& control, size_t length, More... more) {
    constexpr int32_t handover_ms = 10'000;
    const int64_t begin_ns = now_ns();
    std::vector<Channel> channels;
    for (uint32_t thread = 0; thread < cell.threads; ++thread)
        channels.push_back(Channel::connect(cell.address, handover_ms));
    const auto close = [&channels] {
        for (Channel& channel : channels) channel.close();
    };
    const Control::Interruptible interruptible(control, close);
    Senders senders(control, cell.threads);
    const auto send = [&](uint32_t thread) {
        Channel& channel = channels[thread];
        Sink sink(channel.handle(), length, more...);
        run_sender(cell, control, senders, client_of(cell, thread), sink, begin_ns,
                   [&channel] { wait_for_confirmation(channel); });
    };
    send_together(cell, senders, send, close);
}

// Threads share the one handle, which any number of them may use.
void send_over_queue(const Cell& cell, Control& control, size_t length) {
    const int64_t begin_ns = now_ns();
    const Queue queue = open_queue(cell);
    const auto close = [&queue] { ipc_queue_close(queue.get()); };
    const Control::Interruptible interruptible(control, close);
    Senders senders(control, cell.threads);
    const auto send = [&](uint32_t thread) {
        QueueSink sink(queue.get(), length);
        // A queue has no way back: the runner compares what both ends counted.
        run_sender(cell, control, senders, client_of(cell, thread), sink, begin_ns, [] {});
    };
    send_together(cell, senders, send, close);
}

} // namespace

void one_way_client(const Cell& cell, Control& control) {
    const size_t length = pattern_of(cell).length();
    if (is_queue(cell))
        send_over_queue(cell, control, length);
    else if (is_batch(cell))
        send_over_channels<BatchSink>(cell, control, length, cell.batch);
    else
        send_over_channels<ChannelSink>(cell, control, length);
}

void one_way_server(const Cell& cell, Control& control) {
    const MessagePattern pattern = pattern_of(cell);
    uint64_t operations = 0;
    if (is_queue(cell))
        operations = gives_newest_first(cell) ? serve_queue<UnorderedArrivals>(cell, control, pattern)
                                              : serve_queue<Arrivals>(cell, control, pattern);
    else if (is_batch(cell))
        operations = serve_channels<BatchSource>(cell, control, pattern, cell.batch);
    else
        operations = serve_channels<ChannelSource>(cell, control, pattern);
    finish_serving(control, operations);
}

} // namespace ipc::peer
