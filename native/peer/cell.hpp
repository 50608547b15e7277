#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ipc::peer {

// What workload `table` asks of which file; the first column is the id. No header: the file's first row names the
// fields.
struct TableQuestion {
    std::string file;
    char separator = ',';
    std::optional<std::vector<std::string>> header;
    std::vector<std::string> ids;
    std::vector<std::string> fields;
};

struct Workload {
    std::string id;
    size_t ids = 0; // the registry's n
    size_t request_bytes = 0;
    size_t reply_bytes = 0;
    size_t bucket = 1;             // objects that scenario `batch` sends together
    double rate = 0;               // calls per second of scenario `paced`
    std::vector<std::string> text; // question and answer, or empty
    std::optional<TableQuestion> table;
};

// The client's number has 7 bits in a one-way message.
constexpr uint32_t most_clients = 127;

enum class Role { server, client, alone };

// Of the messages that scenario `shuffled` chooses from.
enum class Order { random, memory };

// What this process has to play: the first line from the runner, docs/peer-protocol.md.
struct Cell {
    Role role = Role::alone;
    std::string address;
    std::string codec;
    std::string scenario;
    Workload workload;
    uint64_t seed = 0;
    std::optional<int> cpu;
    double warmup_seconds = 0;
    double seconds = 0;
    std::optional<uint64_t> count; // measure exactly so many operations instead of `seconds`
    std::string samples;           // path; empty: keep none
    uint32_t client = 0;           // which of them this client is
    uint32_t clients = 1;
    uint32_t threads = 1;    // sending threads of this client, each of which counts as one of `clients`
    uint32_t in_flight = 1;  // calls that scenario `pipelined` has in flight
    uint32_t portion = 1000; // messages of one sample, where each is too short to be timed alone
    uint32_t batch = 64;     // messages of one batch
    size_t pool_bytes = 0;   // of the messages that each process of scenario `shuffled` chooses from
    Order order = Order::random;
    uint32_t pause_us = 0; // how long this receiver of a broadcast pauses after every hundred messages

    bool is_text() const { return !workload.text.empty(); }
    // Of the address's transport: channel, call, queue or broadcast; empty if there is no such transport.
    std::string transport_kind() const;
};

// Throws a Failure that says which field of the line is wrong.
Cell parse_cell(const std::string& line);

} // namespace ipc::peer
