#include "verbs.hpp"

#include <cstring>
#include <vector>

namespace puppet {
namespace {

struct Call {
    ipc_channel* channel;
    int32_t timeout_ms;
    bool loan;
};

// Calls and expects `expected`'s content in the reply, whatever its length; returns the length.
size_t call_and_check(const Call& call, const void* request, size_t request_length, Payload expected,
                      std::vector<uint8_t>& buffer) {
    if (!call.loan) {
        require(ipc_call(call.channel, request, request_length, buffer.data(), buffer.size(), &expected.length,
                         call.timeout_ms));
        require_same(difference(expected, buffer.data(), expected.length));
        return expected.length;
    }
    const void* reply;
    require(ipc_call_peek(call.channel, request, request_length, &reply, &expected.length, call.timeout_ms));
    require_same(difference(expected, reply, expected.length));
    return expected.length;
}

std::string call(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto message = payload(command);
    std::vector<uint8_t> buffer(command.size());
    auto request = bytes_of(message);
    return std::to_string(
        call_and_check({channel, command.timeout(), false}, request.data(), request.size(), message, buffer));
}

std::string call_in_place(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto message = payload(command);
    std::vector<uint8_t> none;
    auto request = bytes_of(message);
    return std::to_string(
        call_and_check({channel, command.timeout(), true}, request.data(), request.size(), message, none));
}

std::string call_many(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto count = command.number();
    auto most = command.size();
    auto seed = command.number();
    auto timeout_ms = command.timeout();
    Call call{channel, timeout_ms, command.loan()};
    std::vector<uint8_t> request(most), reply(most);
    size_t bytes = 0;
    for (uint64_t i = 1; i <= count; i++) {
        auto message = payload_of_series(seed, i, most);
        fill(message, request.data());
        auto length = call_and_check(call, request.data(), message.length, message, reply);
        if (call.loan) require(ipc_release(channel));
        if (length != message.length)
            throw Wrong("reply " + std::to_string(i) + " has " + std::to_string(length) + " bytes");
        bytes += length;
    }
    return std::to_string(bytes);
}

std::string ask(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    std::vector<uint8_t> buffer(command.size());
    auto expected = expected_payload(command);
    auto timeout_ms = command.timeout();
    auto text = command.text();
    return std::to_string(call_and_check({channel, timeout_ms, false}, text.data(), text.size(), expected, buffer));
}

std::string receive_reply(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    std::vector<uint8_t> buffer(command.size());
    auto expected = expected_payload(command);
    require(ipc_receive_reply(channel, buffer.data(), buffer.size(), &expected.length, IPC_FOREVER));
    require_same(difference(expected, buffer.data(), expected.length));
    return std::to_string(expected.length);
}

ipc_status IPC_CALL echo_handler(void*, const void* request, size_t length, ipc_reply_writer* writer) {
    void* room;
    if (ipc_status refused = ipc_reply_reserve(writer, length, &room); refused != IPC_OK) return refused;
    if (length > 0) std::memcpy(room, request, length);
    return IPC_OK;
}

ipc_status run_script(Command& script, ipc_reply_writer* writer) {
    auto verb = script.word();
    void* room;
    if (verb == "reply") {
        auto reply = payload(script);
        if (ipc_status refused = ipc_reply_reserve(writer, reply.length, &room); refused != IPC_OK) return refused;
        fill(reply, room);
        return IPC_OK;
    }
    if (verb == "empty") return IPC_OK;
    if (verb == "reserve-then-fail")
        require(ipc_reply_reserve(writer, script.size(), &room));
    else if (verb != "fail")
        throw Wrong("'" + verb + "' is no script");
    ipc_reply_fail(writer, script.text().c_str());
    return IPC_INVALID_ARGUMENT;
}

ipc_status IPC_CALL script_handler(void*, const void* request, size_t length, ipc_reply_writer* writer) {
    Command script(std::string(static_cast<const char*>(request), length));
    try {
        return run_script(script, writer);
    } catch (const Wrong& wrong) {
        ipc_reply_fail(writer, wrong.what());
        return IPC_INVALID_ARGUMENT;
    } catch (const Refused& refused) {
        return refused.status;
    }
}

std::string serve(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    require(ipc_serve(channel, command.word() == "echo" ? echo_handler : script_handler, nullptr));
    return "";
}

std::string receive_request(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto expected = expected_payload(command);
    const void* request;
    require(ipc_receive_request(channel, &request, &expected.length, command.timeout()));
    require_same(difference(expected, request, expected.length));
    return std::to_string(expected.length);
}

std::string reply(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto bytes = bytes_of(payload(command));
    require(ipc_reply(channel, bytes.data(), bytes.size(), command.timeout()));
    return "";
}

std::string reserve_reply(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto length = command.size();
    auto message = payload(command);
    void* room;
    require(ipc_reserve_reply(channel, length, &room, command.timeout()));
    if (message.length > length) throw Wrong("the message is longer than the room asked for");
    fill(message, room);
    return "";
}

std::string commit_reply(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto length = command.size();
    require(ipc_commit_reply(channel, length, command.timeout()));
    return "";
}

std::string fail_request(Handles& handles, Command& command) {
    auto* channel = handles.channel(command.word());
    auto timeout_ms = command.timeout();
    require(ipc_fail_request(channel, command.text().c_str(), timeout_ms));
    return "";
}

} // namespace

void add_call_verbs(Verbs* verbs) {
    verbs->insert({{"call", call},
                   {"call-in-place", call_in_place},
                   {"call-many", call_many},
                   {"ask", ask},
                   {"receive-reply", receive_reply},
                   {"serve", serve},
                   {"receive-request", receive_request},
                   {"reply", reply},
                   {"reserve-reply", reserve_reply},
                   {"commit-reply", commit_reply},
                   {"fail-request", fail_request}});
}

} // namespace puppet
