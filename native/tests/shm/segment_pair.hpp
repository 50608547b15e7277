#pragma once

#include "shared_memory/segment.hpp"
#include "transports/shm/shm_channel.hpp"

#include <memory>

// Both ends of one shared mapping in one process: two mappings of the same memory, as two processes would have.
struct SegmentPair {
    std::unique_ptr<ipc::shared_memory::Segment> server;
    std::unique_ptr<ipc::shared_memory::Segment> client;
};

struct LinkForm {
    ipc::shared_memory::Layout layout = ipc::shared_memory::Layout::slots;
    uint32_t slots = 16;
    uint64_t data_bytes = 65536;
    ipc::shared_memory::WaitMode wait = ipc::shared_memory::WaitMode::adaptive;
};

// The two ends of what a server and its client meet over: the server's first.
void connect_pair(ipc::shared_memory::Connection ends[2]);
// Processor time this thread has used.
long long thread_time_us();

SegmentPair make_segment_pair(const LinkForm& form = {});

struct ChannelPair {
    std::unique_ptr<ipc::shm::ShmChannel> server;
    std::unique_ptr<ipc::shm::ShmChannel> client;
};
ChannelPair make_channel_pair(const LinkForm& form = {}, size_t limit = 64 << 20);

// `length` bytes that differ from place to place and from seed to seed.
std::vector<std::byte> pattern(size_t length, unsigned seed);

inline const ipc::Deadline forever{IPC_FOREVER};
inline const ipc::Deadline at_once{0};
