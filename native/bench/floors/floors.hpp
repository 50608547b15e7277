#pragma once

#include <cstddef>

// Floors: the least a round trip can cost on this machine, each as simple as it can be written. None uses the library.
namespace floors {

// Which processors the two processes run on (-1: anywhere), and how long one floor is warmed up and measured. Both times should be
// those of the cells held against it: a virtual processor wakes up faster in its first tenths of a second of such work than later.
struct Setup {
    int server_cpu;
    int client_cpu;
    double warmup_seconds;
    double seconds;
};

struct Sizes {
    size_t request;
    size_t reply;
};

// All return the median round trip in nanoseconds, or throw std::system_error.

// One flag each way, each on a cache line of its own, spinning.
double cacheline_rtt_ns(const Setup& setup);
// The least of: one slot each way, some in turns, and from 8 kB on in pieces. Copy in, flag, copy out, spinning. Flag and
// the first 56 bytes of a slot share a line.
double slot_rtt_ns(const Setup& setup, Sizes sizes);
// The same slots or pieces, the waiting by futex, a wake-up for every message; on Windows slots only, by an event.
double futex_rtt_ns(const Setup& setup, Sizes sizes);
// Blocking write and read on a pair of pipes, and on a Unix stream socket pair (on Windows one named pipe, both ways).
double pipe_rtt_ns(const Setup& setup, Sizes sizes);
double unix_rtt_ns(const Setup& setup, Sizes sizes);

// Nanoseconds per message from one process to another through a ring of slots, at the receiver (median over portions of
// 1024): one by one, each slot carrying its own sequence, or published 64 at a time.
double oneway_ns(const Setup& setup, size_t message);
double oneway_batch_ns(const Setup& setup, size_t message);

// Bytes per second of copying one mebibyte over and over on one core, and nanoseconds of one clock read.
double memcpy_bytes_per_s(const Setup& setup);
double clock_ns();

} // namespace floors
