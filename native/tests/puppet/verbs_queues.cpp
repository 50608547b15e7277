#include "verbs.hpp"

#include <cstring>
#include <map>

namespace puppet {
namespace {

// A message that tells what it is and can be checked: who wrote it, its number, then bytes that follow from both.
constexpr size_t longest = 300;
constexpr int32_t patience_ms = 20'000;

size_t length_of(uint32_t writer, uint32_t number) {
    return 8 + (number * 7 + writer) % (longest - 8);
}

unsigned char content(uint32_t writer, uint32_t number, size_t at) {
    return static_cast<unsigned char>((number * 2654435761u + writer * 40503u + static_cast<uint32_t>(at) * 131u) >> 8);
}

std::string open_queue(Handles& handles, Command& command) {
    auto name = command.word();
    auto address = command.word();
    ipc_queue* queue;
    require(ipc_queue_open(address.c_str(), command.timeout(), &queue));
    handles.add(name, queue);
    return "";
}

std::string remove_queue(Handles&, Command& command) {
    require(ipc_queue_remove(command.word().c_str()));
    return "";
}

std::string queue_limit(Handles& handles, Command& command) {
    return std::to_string(ipc_queue_limit(handles.queue(command.word())));
}

std::string enqueue(Handles& handles, Command& command) {
    auto* queue = handles.queue(command.word());
    auto bytes = bytes_of(payload(command));
    require(ipc_queue_enqueue(queue, bytes.data(), bytes.size(), command.timeout()));
    return "";
}

std::string dequeue(Handles& handles, Command& command) {
    auto* queue = handles.queue(command.word());
    std::vector<uint8_t> buffer(command.size());
    auto expected = expected_payload(command);
    require(ipc_queue_dequeue(queue, buffer.data(), buffer.size(), &expected.length, command.timeout()));
    require_same(difference(expected, buffer.data(), expected.length));
    return std::to_string(expected.length);
}

std::string pour(Handles& handles, Command& command) {
    auto* queue = handles.queue(command.word());
    auto writer = static_cast<uint32_t>(command.number());
    auto count = static_cast<uint32_t>(command.number());
    unsigned char bytes[longest];
    for (uint32_t number = 0; number < count; ++number) {
        std::memcpy(bytes, &writer, 4);
        std::memcpy(bytes + 4, &number, 4);
        auto length = length_of(writer, number);
        for (size_t at = 8; at < length; ++at) bytes[at] = content(writer, number, at);
        require(ipc_queue_enqueue(queue, bytes, length, patience_ms));
    }
    return "";
}

struct Tally {
    uint64_t count = 0;
    uint64_t sum = 0;     // of the numbers
    uint64_t squares = 0; // of the numbers, modulo 2^64: with the sum they tell a lost and doubled pair
    uint32_t next = 0;
};

std::string drain(Handles& handles, Command& command) {
    auto* queue = handles.queue(command.word());
    std::map<uint32_t, Tally> tallies;
    unsigned char bytes[longest];
    while (true) {
        size_t length;
        require(ipc_queue_dequeue(queue, bytes, sizeof bytes, &length, patience_ms));
        if (length == 1) break;
        uint32_t writer, number;
        std::memcpy(&writer, bytes, 4);
        std::memcpy(&number, bytes + 4, 4);
        if (length != length_of(writer, number)) throw Wrong("a message of " + std::to_string(length) + " bytes");
        for (size_t at = 8; at < length; ++at)
            if (bytes[at] != content(writer, number, at)) throw Wrong("a torn message");
        Tally& tally = tallies[writer];
        if (number < tally.next) throw Wrong("message " + std::to_string(number) + " out of order");
        tally.next = number + 1;
        ++tally.count;
        tally.sum += number;
        tally.squares += uint64_t{number} * number;
    }
    std::string answer;
    for (auto& [writer, tally] : tallies)
        answer += (answer.empty() ? "" : " ") + std::to_string(writer) + ":" + std::to_string(tally.count) + ":" +
                  std::to_string(tally.sum) + ":" + std::to_string(tally.squares);
    return answer;
}

} // namespace

void add_queue_verbs(Verbs* verbs) {
    verbs->insert({{"open-queue", open_queue},
                   {"remove-queue", remove_queue},
                   {"queue-limit", queue_limit},
                   {"enqueue", enqueue},
                   {"dequeue", dequeue},
                   {"pour", pour},
                   {"drain", drain}});
}

} // namespace puppet
