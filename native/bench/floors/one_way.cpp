// The least a one-way message can cost: one producer, one consumer, a ring of slots between two processes, spinning. Every
// word of a message is written and looked at, as the peers of the lab do.
#include "ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <vector>

namespace floors {
namespace {

constexpr size_t line = 64;
constexpr size_t ring_bytes = size_t{1} << 17; // of slots; with its neighbours within a second-level cache
constexpr uint64_t batch = 64;
constexpr uint64_t portion = 1024; // messages between two looks at the clock

// Ahead of the slots, each on a line of its own.
struct Control {
    alignas(line) std::atomic<uint64_t> written; // batches only: messages published so far
    alignas(line) std::atomic<uint64_t> read;    // messages whose slots may be written again
    alignas(line) std::atomic<uint32_t> stop;
};

using Stamp = std::atomic<uint64_t>;

struct Ring {
    Control* control;
    char* slots;
    size_t stride; // bytes from slot to slot
    uint64_t count;
    size_t words; // of a message, the last one padded

    char* slot(uint64_t number) const { return slots + (number & (count - 1)) * stride; }
};

void write_words(char* to, size_t words, uint64_t number) {
    for (size_t i = 0; i < words; ++i) {
        const uint64_t value = number + i;
        std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

bool has_words(const char* from, size_t words, uint64_t number) {
    uint64_t wrong = 0;
    for (size_t i = 0; i < words; ++i) {
        uint64_t value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        wrong |= value ^ (number + i);
    }
    return wrong == 0;
}

// Each slot begins with a stamp: the number of the message it holds, plus one. Stamp and the first 56 bytes share a line.
struct Single {
    static constexpr size_t stamp = sizeof(Stamp);
    static size_t stride(size_t words) { return (stamp + words * sizeof(uint64_t) + line - 1) / line * line; }

    static void produce(const Ring& ring, uint64_t number) {
        char* const slot = ring.slot(number);
        write_words(slot + stamp, ring.words, number);
        reinterpret_cast<Stamp*>(slot)->store(number + 1, std::memory_order_release);
    }
    static void consume(const Ring& ring, uint64_t number) {
        char* const slot = ring.slot(number);
        while (reinterpret_cast<Stamp*>(slot)->load(std::memory_order_acquire) != number + 1) relax();
        if (!has_words(slot + stamp, ring.words, number)) throw std::runtime_error("a one-way floor lost a message");
    }
};

// Messages lie back to back and one counter publishes 64 of them.
struct Batched {
    static size_t stride(size_t words) { return words * sizeof(uint64_t); }

    static void produce(const Ring& ring, uint64_t number) {
        write_words(ring.slot(number), ring.words, number);
        if ((number + 1) % batch == 0) ring.control->written.store(number + 1, std::memory_order_release);
    }
    static void consume(const Ring& ring, uint64_t number) {
        if (number % batch == 0)
            while (ring.control->written.load(std::memory_order_acquire) <= number) relax();
        if (!has_words(ring.slot(number), ring.words, number))
            throw std::runtime_error("a one-way floor lost a message");
    }
};

// Runs until the consumer says stop. Room is looked for once for a batch of slots: the consumer gives back as many at a time.
template <class Way>
void produce(const Ring& ring) {
    uint64_t free_until = ring.count;
    for (uint64_t number = 0;; number += batch) {
        while (number + batch > free_until) {
            if (ring.control->stop.load(std::memory_order_relaxed)) return;
            free_until = ring.control->read.load(std::memory_order_acquire) + ring.count;
            if (number + batch > free_until) relax();
        }
        for (uint64_t i = 0; i < batch; ++i) Way::produce(ring, number + i);
    }
}

template <class Way>
double consume(const Ring& ring, const Setup& setup) {
    std::vector<double> samples;
    samples.reserve(1 << 20);
    uint64_t number = 0;
    const auto take_portion = [&] {
        const int64_t before = now_ns();
        for (uint64_t i = 0; i < portion; ++i, ++number) {
            Way::consume(ring, number);
            if ((number + 1) % batch == 0) ring.control->read.store(number + 1, std::memory_order_release);
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
    const size_t stride = Way::stride(words);
    uint64_t count = 2 * batch; // the least with which both sides can work at once
    while (count * 2 * stride <= ring_bytes) count *= 2;
    const Shared memory(sizeof(Control) + count * stride);
    const Ring ring{reinterpret_cast<Control*>(memory.bytes()), memory.bytes() + sizeof(Control), stride, count, words};

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
