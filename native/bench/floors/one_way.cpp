// The least a one-way message can cost: one producer, one consumer, a ring of lines between two processes, spinning. Every
// word of a message is written and looked at, as the peers of the lab do.
#include "owning.hpp"
#include "ping_pong.hpp"
#include "shared_memory/fetching.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace floors {
namespace {

using ipc::shared_memory::fetch_line_to_write;
using ipc::shared_memory::fetch_to_read;
using ipc::shared_memory::fetch_to_write;

constexpr size_t line = ipc::shared_memory::line_bytes;
constexpr size_t ring_bytes = size_t{1} << 18; // with its neighbours within a second-level cache
constexpr uint64_t batch = 64;
constexpr uint64_t portion = 1024; // messages between two looks at the clock
// The consumer writes into the lines it has read, and tells of a quarter of the ring at a time: both are as in the product, where they were
// found to pay (docs/experiments.md, "Whose a line is" and "How often the reader tells its writer").
constexpr uint64_t told_of = 4; // parts of a ring

// Ahead of the messages, each on a line of its own.
struct Control {
    alignas(line) std::atomic<uint64_t> read; // messages whose room may be written again
    alignas(line) std::atomic<uint32_t> stop;
};

// The number of the first message that it publishes, plus one.
using Sequence = std::atomic<uint64_t>;

struct Ring {
    Control* control;
    std::byte* bytes;
    size_t batch_bytes; // a whole number of lines
    uint64_t count;     // of messages
    size_t words;       // of a message, the last one padded

    // Where the batch begins whose first message this is.
    std::byte* at(uint64_t first) const { return bytes + (first & (count - 1)) / batch * batch_bytes; }
};

size_t whole_lines(size_t bytes) {
    return (bytes + line - 1) / line * line;
}

void write_words(std::byte* to, size_t words, uint64_t number) {
    for (size_t i = 0; i < words; ++i) {
        const uint64_t value = number + i;
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

bool has_words(const std::byte* from, size_t words, uint64_t number) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < words; ++i) {
        uint64_t value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        wrong |= value ^ (number + i);
    }
    return wrong == 0;
}

// Has `work` done with the number of a message's words, as a constant where it is a headline's (32 bytes): with loops of a length that
// is not known before, making and checking would cost such a message more than handing it on (by 64: 7.5 against 5.3 ns, in turn).
template <class Work>
void with_words(size_t words, Work work) {
    if (words == 4)
        work(std::integral_constant<size_t, 4>{});
    else
        work(words);
}

// Each message begins with a sequence, on lines of its own; the sequence and the first 56 bytes share one.
struct Single {
    static constexpr uint64_t fetched_ahead = 16; // messages

    explicit Single(const Ring& ring) : ring_(ring), stride_(batch_bytes(ring.words) / batch) {}
    static size_t batch_bytes(size_t words) { return batch * whole_lines(sizeof(Sequence) + words * sizeof(uint64_t)); }

    void produce(uint64_t first, uint64_t free_until) {
        with_words(ring_.words, [&](auto words) {
            for (uint64_t number = first; number < first + batch; ++number) {
                std::byte* const slot = slot_of(number);
                if (number + fetched_ahead < free_until) fetch_line_to_write(slot_of(number + fetched_ahead));
                write_words(slot + sizeof(Sequence), words, number);
                reinterpret_cast<Sequence*>(slot)->store(number + 1, std::memory_order_release);
            }
        });
    }
    bool consume(uint64_t first) {
        bool right = true;
        with_words(ring_.words, [&](auto words) {
            for (uint64_t number = first; number < first + batch; ++number) {
                const std::byte* const slot = slot_of(number);
                while (reinterpret_cast<const Sequence*>(slot)->load(std::memory_order_acquire) != number + 1) relax();
                right &= has_words(slot + sizeof(Sequence), words, number);
            }
        });
        own(reinterpret_cast<char*>(ring_.at(first)), ring_.batch_bytes);
        return right;
    }

  private:
    std::byte* slot_of(uint64_t number) const { return ring_.at(number) + number % batch * stride_; }

    const Ring& ring_;
    size_t stride_;
};

// Messages lie back to back behind a line with the sequence that publishes all of them. They are made apart and copied in at
// once, so that a line is stored to in a few wide steps when it has come from the other side.
class Batched {
  public:
    explicit Batched(const Ring& ring) : ring_(ring), made_(batch * ring.words * sizeof(uint64_t)) {}
    static size_t batch_bytes(size_t words) { return line + whole_lines(batch * words * sizeof(uint64_t)); }

    void produce(uint64_t first, uint64_t free_until) {
        if (first + batch < free_until) fetch_to_write(ring_.at(first + batch), fetched_ahead());
        with_words(ring_.words, [&](auto words) {
            for (uint64_t i = 0; i < batch; ++i)
                write_words(made_.data() + i * words * sizeof(uint64_t), words, first + i);
        });
        std::byte* const room = ring_.at(first);
        std::memcpy(room + line, made_.data(), made_.size());
        reinterpret_cast<Sequence*>(room)->store(first + 1, std::memory_order_release);
    }
    bool consume(uint64_t first) {
        while (!is_there(first)) relax();
        // Not before it is written: its lines would be taken from the producer's hands.
        if (is_there(first + batch)) fetch_to_read(ring_.at(first + batch), fetched_ahead());
        const std::byte* const messages = ring_.at(first) + line;
        bool right = true;
        with_words(ring_.words, [&](auto words) {
            for (uint64_t i = 0; i < batch; ++i)
                right &= has_words(messages + i * words * sizeof(uint64_t), words, first + i);
        });
        own(reinterpret_cast<char*>(ring_.at(first)), ring_.batch_bytes);
        return right;
    }

  private:
    // Bytes of the next batch that are asked for: of batches of long messages the beginning.
    size_t fetched_ahead() const { return std::min(ring_.batch_bytes, size_t{4096}); }
    bool is_there(uint64_t first) const {
        return reinterpret_cast<const Sequence*>(ring_.at(first))->load(std::memory_order_acquire) == first + 1;
    }

    const Ring& ring_;
    std::vector<std::byte> made_;
};

// Runs until the consumer says stop. Room is looked for once for a batch: the consumer gives back as much at a time.
template <class Way>
void produce(const Ring& ring) {
    Way way(ring);
    uint64_t free_until = ring.count;
    for (uint64_t number = 0;; number += batch) {
        while (number + batch > free_until) {
            if (ring.control->stop.load(std::memory_order_relaxed)) return;
            free_until = ring.control->read.load(std::memory_order_acquire) + ring.count;
            if (number + batch > free_until) relax();
        }
        way.produce(number, free_until);
    }
}

template <class Way>
double consume(const Ring& ring, const Setup& setup) {
    Way way(ring);
    std::vector<double> samples;
    samples.reserve(1 << 20);
    const uint64_t at_once = std::max(ring.count / told_of, batch);
    uint64_t number = 0, told = 0;
    const auto take_portion = [&] {
        const int64_t before = now_ns();
        for (uint64_t i = 0; i < portion; i += batch, number += batch) {
            if (!way.consume(number)) throw std::runtime_error("a one-way floor lost a message");
            if (number + batch - told < at_once) continue;
            told = number + batch;
            ring.control->read.store(told, std::memory_order_release);
        }
        samples.push_back(static_cast<double>(now_ns() - before) / static_cast<double>(portion));
    };
    for (const int64_t end = now_ns() + static_cast<int64_t>(setup.warmup_seconds * 1e9); now_ns() < end;)
        take_portion();
    samples.clear();
    const int64_t end = now_ns() + static_cast<int64_t>(setup.seconds * 1e9);
    do take_portion();
    while (now_ns() < end);
    std::nth_element(samples.begin(), samples.begin() + static_cast<long>(samples.size() / 2), samples.end());
    return samples[samples.size() / 2];
}

template <class Way>
double measure(const Setup& setup, size_t message) {
    const size_t words = (std::max<size_t>(message, 1) + 7) / 8;
    const size_t batch_bytes = Way::batch_bytes(words);
    uint64_t batches = 2; // the least with which both sides can work at once
    while (batches * 2 * batch_bytes <= ring_bytes) batches *= 2;
    const Shared memory(sizeof(Control) + batches * batch_bytes);
    const Ring ring{reinterpret_cast<Control*>(memory.bytes()),
                    reinterpret_cast<std::byte*>(memory.bytes()) + sizeof(Control), batch_bytes, batches * batch,
                    words};

    Partner producer(setup.client_cpu, [&ring] { produce<Way>(ring); });
    pin_to(setup.server_cpu); // the receiver is the server, as in the scenarios
    double median = 0;
    std::exception_ptr wrong;
    try {
        median = consume<Way>(ring, setup);
    } catch (...) {
        wrong = std::current_exception();
    }
    ring.control->stop.store(1, std::memory_order_relaxed);
    const bool good = producer.join();
    if (wrong) std::rethrow_exception(wrong);
    if (!good) throw std::runtime_error("the sending process of a floor failed");
    return median;
}

} // namespace

double oneway_ns(const Setup& setup, size_t message) {
    return measure<Single>(setup, message);
}
double oneway_batch_ns(const Setup& setup, size_t message) {
    return measure<Batched>(setup, message);
}

} // namespace floors
