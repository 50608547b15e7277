#pragma once

#include "../core/channels.hpp"
#include "ipc/ipc.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <windows.h>

namespace ipc::test {

struct FreeHandles {
    void operator()(ipc_listener* listener) const { ipc_listener_free(listener); }
    void operator()(ipc_channel* channel) const { ipc_channel_free(channel); }
};
using Listener = std::unique_ptr<ipc_listener, FreeHandles>;
using Channel = std::unique_ptr<ipc_channel, FreeHandles>;

inline Listener listen_at(const std::string& address) {
    ipc_listener* listener = nullptr;
    EXPECT_EQ(ipc_listen(address.c_str(), &listener), IPC_OK) << ipc_last_error();
    return Listener(listener);
}

inline Channel connect_to(const std::string& address, ipc_status wanted = IPC_OK) {
    ipc_channel* channel = nullptr;
    EXPECT_EQ(ipc_connect(address.c_str(), 10'000, &channel), wanted) << address << ": " << ipc_last_error();
    return Channel(channel);
}

inline Channel accept_from(const Listener& listener) {
    ipc_channel* channel = nullptr;
    EXPECT_EQ(ipc_accept(listener.get(), 10'000, &channel), IPC_OK) << ipc_last_error();
    return Channel(channel);
}

// Both ends in this process.
struct Pair {
    explicit Pair(const std::string& address, const std::string& server_options = "",
                  const std::string& client_options = "")
        : listener(listen_at(address + server_options)), client(connect_to(address + client_options)),
          server(accept_from(listener)) {}
    Listener listener;
    Channel client, server;
};

// "fail" fails, "slow" takes half a second; all else is echoed.
inline ipc_status echo(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
    const std::string text(static_cast<const char*>(request), length);
    if (user != nullptr) ++*static_cast<std::atomic<int>*>(user);
    if (text == "fail") {
        ipc_reply_fail(writer, "as asked");
        return IPC_INVALID_ARGUMENT;
    }
    if (text == "slow") Sleep(500);
    void* room = nullptr;
    if (ipc_status s = ipc_reply_reserve(writer, length, &room)) return s;
    if (length != 0) memcpy(room, request, length);
    return IPC_OK;
}

// Serves on a thread of its own, and gives what ipc_serve returned.
class Serving {
  public:
    explicit Serving(const Channel& channel, std::atomic<int>* count = nullptr)
        : thread_([this, raw = channel.get(), count] { status_ = ipc_serve(raw, echo, count); }) {}
    ~Serving() {
        if (thread_.joinable()) thread_.join();
    }
    ipc_status end() {
        thread_.join();
        return status_;
    }

  private:
    ipc_status status_ = -1;
    std::thread thread_;
};

inline ipc_status call(const Channel& channel, const std::string& request, std::string* reply = nullptr,
                       int32_t timeout_ms = 10'000) {
    std::string room(reply != nullptr ? 4 << 20 : 100, '\0');
    size_t length = 0;
    const ipc_status status =
        ipc_call(channel.get(), request.data(), request.size(), room.data(), room.size(), &length, timeout_ms);
    if (reply != nullptr && status == IPC_OK) *reply = room.substr(0, length);
    return status;
}

} // namespace ipc::test
