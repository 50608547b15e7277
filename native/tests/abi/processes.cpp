// Calls and plain messages between two processes by the C header alone, as a C++ program would use it.
// Ends with 0, or says on standard error what was wrong.
#include "header.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::int32_t timeout_ms = 10'000;
constexpr std::size_t large = 3'000'000; // larger than any socket buffer: sending and receiving must overlap

static_assert(std::is_same_v<ipc_status, std::int32_t>, "statuses are 32 bits on every ABI");

void expect(bool so, const char* what) {
    if (so) return;
    std::fprintf(stderr, "not so: %s (%s)\n", what, ipc_last_error());
    std::exit(1);
}

std::vector<unsigned char> pattern(std::size_t length, unsigned first) {
    std::vector<unsigned char> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<unsigned char>(first + i * 7);
    return bytes;
}

// Answers one request a step at a time, then echoes plain messages in place until the peer is gone.
int serve(ipc_listener* listener) {
    ipc_channel* channel = nullptr;
    expect(ipc_accept(listener, timeout_ms, &channel) == IPC_OK, "a client arrives");

    const void* request = nullptr;
    std::size_t length = 0;
    expect(ipc_receive_request(channel, &request, &length, timeout_ms) == IPC_OK, "a request arrives");
    auto expected = pattern(large, 1);
    expect(length == large && std::memcmp(request, expected.data(), large) == 0, "the request is what was sent");
    void* reply = nullptr;
    expect(ipc_reserve_reply(channel, length, &reply, timeout_ms) == IPC_OK, "there is room for the reply");
    std::memcpy(reply, pattern(large, 2).data(), large);
    expect(ipc_commit_reply(channel, length, timeout_ms) == IPC_OK, "the reply is sent");

    const void* message = nullptr;
    ipc_status status;
    while ((status = ipc_peek(channel, &message, &length, timeout_ms)) == IPC_OK) {
        void* room = nullptr;
        expect(ipc_reserve(channel, length, &room, timeout_ms) == IPC_OK, "there is room for the echo");
        if (length > 0) std::memcpy(room, message, length);
        expect(ipc_release(channel) == IPC_OK, "the message is given back");
        expect(ipc_commit(channel, length, timeout_ms) == IPC_OK, "the echo is sent");
    }
    expect(status == IPC_PEER_CLOSED, "the client closed between two messages");
    ipc_channel_free(channel);
    return 0;
}

void call(ipc_channel* channel) {
    auto request = pattern(large, 1);
    std::vector<unsigned char> reply(large);
    std::size_t length = 0;
    expect(ipc_call(channel, request.data(), large, reply.data(), large, &length, timeout_ms) == IPC_OK,
           "the call succeeds");
    expect(length == large && reply == pattern(large, 2), "the reply is what was sent");
}

void exchange(ipc_channel* channel, std::size_t size) {
    auto message = pattern(size, 3);
    std::vector<unsigned char> echo(size + 1);
    std::size_t length = 0;
    expect(ipc_send(channel, message.data(), size, timeout_ms) == IPC_OK, "the message is sent");
    expect(ipc_receive(channel, echo.data(), echo.size(), &length, timeout_ms) == IPC_OK, "the echo arrives");
    echo.resize(length);
    expect(echo == message, "the echo is the message");
}

} // namespace

int main(int count, char** arguments) {
    const std::string transport = count > 1 ? arguments[1] : "unix";
    std::string address =
        transport == "tcp" ? "tcp://127.0.0.1:0" : transport + "://abi-processes-" + std::to_string(getpid());
    ipc_listener* listener = nullptr;
    const ipc_status status = ipc_listen(address.c_str(), &listener);
    if (status == IPC_NOT_AVAILABLE &&
        std::strstr(ipc_transport_describe(transport.c_str()), "\"module\"") != nullptr) {
        std::fprintf(stderr, "left out: %s\n", ipc_last_error());
        return 77;
    }
    expect(status == IPC_OK, "the name is free");
    address = ipc_listener_address(listener);

    // The child is the client: the parent owns the name and takes it away.
    const pid_t child = fork();
    expect(child >= 0, "a second process starts");
    if (child == 0) {
        ipc_channel* channel = nullptr;
        expect(ipc_connect(address.c_str(), timeout_ms, &channel) == IPC_OK, "the server is there");
        call(channel);
        for (std::size_t size :
             {std::size_t{0}, std::size_t{1}, std::size_t{48}, std::size_t{4096}, std::size_t{100'000}})
            exchange(channel, size);
        ipc_channel_free(channel);
        std::_Exit(0); // the listener is the parent's
    }

    const int served = serve(listener);
    int state = 0;
    expect(waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0, "the client ended well");
    ipc_listener_free(listener);
    return served;
}
