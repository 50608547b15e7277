#include "verbs.hpp"

#include <map>
#include <utility>
#include <vector>

namespace puppet {
namespace {

struct Completed {
    uint64_t tag;
    ipc_status outcome;
    size_t length;
};

Completed complete(ipc_channel* channel, std::vector<uint8_t>& reply, int32_t timeout_ms) {
    Completed done{};
    require(ipc_complete(channel, &done.tag, &done.outcome, reply.data(), reply.size(), &done.length, timeout_ms));
    return done;
}

std::string call_in_flight(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto count = command.number();
    auto window = command.number();
    auto most = command.size();
    auto seed = command.number();
    auto timeout_ms = command.timeout();
    std::vector<uint8_t> request(most), reply(most);
    std::map<uint64_t, Payload> in_flight;
    size_t bytes = 0;
    for (uint64_t submitted = 0, completed = 0; completed < count; ++completed) {
        for (; submitted < count && in_flight.size() < window; ++submitted) {
            auto message = payload_of_series(seed, submitted + 1, most);
            fill(message, request.data());
            require(ipc_submit(channel, request.data(), message.length, submitted + 1, timeout_ms));
            in_flight[submitted + 1] = message;
        }
        auto done = complete(channel, reply, timeout_ms);
        require(done.outcome);
        auto expected = in_flight.find(done.tag);
        if (expected == in_flight.end()) throw Wrong("tag " + std::to_string(done.tag) + " is not in flight");
        if (done.length != expected->second.length)
            throw Wrong("a reply has " + std::to_string(done.length) + " bytes");
        require_same(difference(expected->second, reply.data(), done.length));
        bytes += done.length;
        in_flight.erase(expected);
    }
    return std::to_string(bytes);
}

std::string submit_all(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto count = command.number();
    auto timeout_ms = command.timeout();
    for (uint64_t i = 0; i < count; ++i) require(ipc_submit(channel, "in flight", 9, i, timeout_ms));
    return "";
}

std::string complete_all(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto count = command.number();
    auto timeout_ms = command.timeout();
    std::vector<uint8_t> reply(100);
    std::vector<bool> seen(static_cast<size_t>(count));
    std::map<ipc_status, uint64_t> outcomes;
    for (uint64_t i = 0; i < count; ++i) {
        auto done = complete(channel, reply, timeout_ms);
        if (done.tag >= count || seen[static_cast<size_t>(done.tag)])
            throw Wrong("tag " + std::to_string(done.tag) + " came twice");
        seen[static_cast<size_t>(done.tag)] = true;
        ++outcomes[done.outcome];
    }
    std::string text;
    for (auto [outcome, times] : outcomes)
        text += (text.empty() ? "" : " ") + std::to_string(outcome) + ":" + std::to_string(times);
    return text;
}

std::string serve_deferred(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto span = command.number();
    std::vector<std::pair<uint64_t, std::vector<uint8_t>>> waiting;
    while (true) {
        const void* request = nullptr;
        size_t length = 0;
        const ipc_status status = ipc_receive_request(channel, &request, &length, waiting.empty() ? IPC_FOREVER : 5);
        if (status == IPC_PEER_CLOSED && waiting.empty()) return "";
        if (status == IPC_OK) {
            const auto* bytes = static_cast<const uint8_t*>(request);
            uint64_t token = 0;
            std::vector<uint8_t> copy(bytes, bytes + length);
            require(ipc_defer_request(channel, &token));
            waiting.emplace_back(token, std::move(copy));
        } else if (status != IPC_TIMED_OUT) {
            require(status);
        }
        if (status == IPC_OK && waiting.size() < span) continue;
        for (; !waiting.empty(); waiting.pop_back())
            require(ipc_reply_deferred(channel, waiting.back().first, waiting.back().second.data(),
                                       waiting.back().second.size(), IPC_FOREVER));
    }
}

std::string defer_requests(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto count = command.number();
    auto timeout_ms = command.timeout();
    for (uint64_t i = 0; i < count; ++i) {
        const void* request = nullptr;
        size_t length = 0;
        uint64_t token = 0;
        require(ipc_receive_request(channel, &request, &length, timeout_ms));
        require(ipc_defer_request(channel, &token));
    }
    return "";
}

} // namespace

void add_in_flight_verbs(Verbs* verbs) {
    verbs->insert({{"call-in-flight", call_in_flight},
                   {"submit-all", submit_all},
                   {"complete-all", complete_all},
                   {"serve-deferred", serve_deferred},
                   {"defer-requests", defer_requests}});
}

} // namespace puppet
