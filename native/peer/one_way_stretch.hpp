#pragma once

#include "cell.hpp"
#include "control.hpp"
#include "failure.hpp"
#include "ipc/ipc.hpp"
#include "measure.hpp"
#include "one_way_message.hpp"
#include "senders.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

// A one-way cell is two stretches, warm-up and measurement, each ended by an end mark from every sender. What is here is
// the same for every way to send and to receive: a Sink writes messages and sends them, at most as many as it is asked for
// and one at least, a Source gives the next ones and is told how many of them were used.
namespace ipc::peer {

// The receiver's time, taken once for so many messages and divided down: a clock read for every message would cost more
// than the message. Any number of threads may add.
class Portions {
  public:
    // Messages of one sample, where each message is timed by itself and its receiver tells how long it took.
    static constexpr uint64_t each_timed = std::numeric_limits<uint64_t>::max();

    // messages: of one sample, or each_timed. expected_samples 0: keep none.
    Portions(uint64_t messages, double expected_samples)
        : portion_(messages), keeps_(expected_samples > 0), samples_(touched_samples(expected_samples)) {}

    // A thread has its first message. The first of all begins the stretch.
    void begin();
    // A thread has received so many more.
    void add(uint64_t messages);
    // A thread has received so many more and then its last end mark.
    void end(uint64_t messages);
    // A message was so many nanoseconds on its way: a sample, where messages are timed one by one.
    void keep_time(int64_t nanoseconds);

    // Nanoseconds from the first message of all to the last end mark of all.
    int64_t elapsed_ns() const { return end_ns_ - begin_ns_; }
    uint64_t operations() const { return operations_; }
    // Picoseconds per message of each portion, saturated; the whole stretch where it is shorter than one. Of messages timed one by one, nanoseconds.
    const std::vector<uint32_t>& samples() const { return samples_; }

  private:
    void keep(int64_t now);

    const uint64_t portion_;
    const bool keeps_;
    std::mutex mutex_;
    std::vector<uint32_t> samples_;
    int64_t begin_ns_ = 0;
    int64_t last_ns_ = 0;
    int64_t end_ns_ = 0;
    uint64_t pending_ = 0; // messages since the last sample
    uint64_t operations_ = 0;
};

[[noreturn]] void fail_message_length(size_t found, size_t expected);
[[noreturn]] void fail_message_content(uint64_t head);

// What a Source has: one message or more, back to back, valid until it is asked again. The buffers are the Source's.
struct Received {
    const uint8_t* messages;
    const uint32_t* lengths;
    size_t count;
};

// What the Sources have in common that receive one message at a time.
class OneMessage {
  public:
    void use(size_t) {}

  protected:
    // length: of the cell's messages.
    explicit OneMessage(size_t length) : buffer_(length) {}
    // The one in buffer_, or too long for it.
    Received received(size_t length) {
        length_ = static_cast<uint32_t>(length);
        return {buffer_.data(), &length_, 1};
    }

    std::vector<uint8_t> buffer_;

  private:
    uint32_t length_ = 0;
};

// What has arrived from each client so far, and whether it is what is due.
class Arrivals {
  public:
    Arrivals(const Cell& cell, const MessagePattern& pattern) : pattern_(pattern) {
        for (uint32_t client = 0; client < cell.clients; ++client) next_.push_back(MessageHead::first_of(client));
    }

    // Takes messages until `most` have come or `senders` end marks; returns how many messages (end marks do not count).
    template <class Source>
    uint64_t take(Source& source, uint64_t most, uint32_t senders) {
        constexpr uint64_t most_at_once = std::numeric_limits<size_t>::max();
        uint64_t taken = 0;
        while (taken < most) {
            const Received received = source.next(static_cast<size_t>(std::min<uint64_t>(most - taken, most_at_once)));
            if constexpr (Source::may_lose) skip_lost(source.lost());
            const size_t due = count_due(received);
            source.use(due);
            taken += due;
            if (due != 0) [[likely]]
                continue;
            check_end_mark(received.messages, received.lengths[0]);
            source.use(1);
            if (++ended_ == senders) break;
        }
        return taken;
    }

    bool has_ended(uint32_t senders) const { return ended_ == senders; }
    void begin_stretch() { ended_ = 0; }
    void check_stretch() const {} // each message was checked in its turn
    uint64_t lost() const { return lost_; }

  private:
    void skip_lost(uint64_t lost) {
        lost_ += lost;
        next_[0] += lost;
    }
    // How many messages from the first on are the ones due from the client that sent the first. In one loop with all it needs in
    // registers: a batch of short messages is received in less time than keeping a count in memory for each would take.
    size_t count_due(const Received& received) {
        if (received.lengths[0] != pattern_.length()) [[unlikely]]
            return 0;
        const size_t client = MessageHead::client_of(head_of(received.messages));
        if (client >= next_.size()) [[unlikely]]
            return 0;
        const size_t due = pattern_.count_right(received.messages, received.lengths, received.count, next_[client]);
        next_[client] += due;
        return due;
    }
    // A Failure unless it is one in its turn.
    void check_end_mark(const uint8_t* message, size_t length) const;
    const MessagePattern& pattern_;
    std::vector<uint64_t> next_; // head of the next message of each client
    uint32_t ended_ = 0;
    uint64_t lost_ = 0; // a broadcast may drop messages, and says so
};

// The same for a queue that gives the newest message first: every message of the stretch once, in whatever order. An end
// mark then only tells how many there are; that they are those, sums over their numbers and squares tell.
class UnorderedArrivals {
  public:
    UnorderedArrivals(const Cell& cell, const MessagePattern& pattern) : pattern_(pattern), clients_(cell.clients) {
        for (uint32_t client = 0; client < cell.clients; ++client) clients_[client].end = MessageHead::first_of(client);
    }

    template <class Source>
    uint64_t take(Source& source, uint64_t most, uint32_t senders) {
        static_assert(!Source::may_lose);
        uint64_t taken = 0;
        while (taken < most && !has_ended(senders)) {
            const Received received = source.next(1);
            taken += note(received.messages, received.lengths[0]);
            source.use(1);
        }
        return taken;
    }

    bool has_ended(uint32_t senders) const { return ended_ == senders && left_ == 0; }
    void begin_stretch();
    // Throws a Failure unless each message of the stretch came once.
    void check_stretch() const;

  private:
    struct Client {
        uint64_t first = 0; // head of its first message of this stretch
        uint64_t end = 0;   // that of its end mark, once it has come
        bool has_ended = false;
        uint64_t sum = 0;
        uint64_t squares = 0;
    };

    // 1 for a message, 0 for an end mark.
    uint64_t note(const uint8_t* message, size_t length);

    const MessagePattern& pattern_;
    std::vector<Client> clients_;
    uint32_t ended_ = 0;
    int64_t left_ = 0; // what the end marks so far announced, less what came
};

// Receives one stretch of `senders` senders from one source, and tells `portions` how it goes. No clock is read between
// two portions.
template <class Source, class Arriving>
void receive_stretch(Source& source, Arriving& arrivals, Portions& portions, uint32_t senders, uint32_t portion) {
    arrivals.begin_stretch();
    uint64_t taken = arrivals.take(source, 1, senders);
    portions.begin();
    while (!arrivals.has_ended(senders)) {
        portions.add(taken);
        taken = arrivals.take(source, portion, senders);
    }
    portions.end(taken);
    arrivals.check_stretch();
}

// What the Sinks have in common that send as fast as they can.
struct Unpaced {
    static constexpr uint64_t burst = 64; // messages between two looks at the clock
    void begin(int64_t) {}                // the measured stretch begins
    int64_t spun_ns() const { return 0; } // processor time spent in waiting until a message is due
};

// Sends stretches: messages whose sequence runs on from one to the next.
template <class Sink>
class Sender {
  public:
    Sender(const Control& control, Sink& sink, const MessagePattern& pattern, uint32_t client)
        : control_(control), sink_(sink), pattern_(pattern), head_(MessageHead::first_of(client)) {}

    // One message on its way at once.
    void send_first() {
        head_ += sink_.put(pattern_, head_, 1);
        sink_.flush();
    }

    // Sends until so many have gone or the time has come, then the end mark; returns how many messages went.
    uint64_t send(uint64_t count, int64_t until_ns) {
        uint64_t sent = 0;
        do {
            control_.throw_if_ended();
            const uint64_t due = std::min(Sink::burst, count - sent);
            for (const uint64_t end = head_ + due; head_ != end;)
                head_ += sink_.put(pattern_, head_, static_cast<size_t>(end - head_));
            sent += due;
        } while (sent < count && now_ns() < until_ns);
        sink_.flush();
        sink_.put(pattern_, head_ | MessageHead::end_mark, 1);
        sink_.flush();
        return sent;
    }

  private:
    const Control& control_;
    Sink& sink_;
    const MessagePattern& pattern_;
    uint64_t head_;
};

// The pattern of a cell; a Failure if its messages have no room for a head.
MessagePattern pattern_of(const Cell& cell);

// How many samples the measured stretch will bring, judged by the warm-up's rate.
double expected_samples(const Cell& cell, const Portions& warm_up, uint32_t senders);

// Tells what a stretch brought; the samples are written before. `before` null: it was the warm-up.
void report_received(const Cell& cell, Control& control, Portions& portions, uint64_t lost, const Usage* before);

// The course of a sender: warm-up stretch, `warm`, go, measured stretch, `measured`. `confirmed` waits until the stretch has
// arrived, where the transport can tell. begin_ns: when the sender began to connect.
template <class Sink, class Confirmed>
void run_sender(const Cell& cell, const Control& control, Senders& senders, uint32_t client, Sink& sink,
                int64_t begin_ns, Confirmed&& confirmed) {
    const MessagePattern pattern = pattern_of(cell);
    Sender sender(control, sink, pattern, client);
    constexpr uint64_t no_count = std::numeric_limits<uint64_t>::max();
    constexpr int64_t no_end = std::numeric_limits<int64_t>::max();

    sender.send_first();
    const int64_t cold_ns = now_ns() - begin_ns;
    const uint64_t warm = 1 + sender.send(no_count, now_ns() + static_cast<int64_t>(cell.warmup_seconds * 1e9));
    confirmed();
    senders.wait_for_go(warm, cold_ns);

    const int64_t start_ns = now_ns();
    sink.begin(start_ns);
    const uint64_t sent = sender.send(cell.count.value_or(no_count),
                                      cell.count ? no_end : start_ns + static_cast<int64_t>(cell.seconds * 1e9));
    const int64_t elapsed_ns = now_ns() - start_ns;
    senders.have_sent(sent, elapsed_ns, sink.spun_ns());
    confirmed();
    senders.tell_measured(pattern.length());
}

} // namespace ipc::peer
