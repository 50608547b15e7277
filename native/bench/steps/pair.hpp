#pragma once

#include "ipc/ipc.hpp"
#include "shared_memory/segment.hpp"

#include <memory>
#include <string>
#include <utility>

// Both ends of one connection in one process. Through the inside: two mappings of one memory; through the C ABI: a listener
// and a client as a user has them.
struct Links {
    std::unique_ptr<ipc::shared_memory::Segment> server;
    std::unique_ptr<ipc::shared_memory::Segment> client;

    explicit Links(ipc::shared_memory::WaitMode wait, uint64_t data_bytes = 256 * 1024);
};

struct Channels {
    ipc::Channel server;
    ipc::Channel client;

    // `options` as in an address: "wait=spin&size=16M".
    explicit Channels(const std::string& options);
};
