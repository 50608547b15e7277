#pragma once

#include "channels.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace ipc::test {

// A stream transport by its id, and a connected pair of it.
class StreamTransport : public testing::TestWithParam<const char*> {
  protected:
    // An address nobody has; for tcp the system chooses when it listens.
    std::string fresh_address() const {
        const std::string transport = GetParam();
        return transport + "://" + (transport == "tcp" ? "0" : unique_name());
    }
    bool has_name() const { return GetParam() != std::string("tcp"); }
    // A connected pair of channels.
    void connect_pair() {
        ASSERT_EQ(listen(fresh_address(), &listener_), IPC_OK) << last_error();
        Status connected = IPC_OK;
        std::string error_message;
        std::thread client([&] {
            connected = connect(listener_->address(), &client_);
            error_message = last_error();
        });
        EXPECT_EQ(accept(*listener_, &server_), IPC_OK) << last_error();
        client.join();
        ASSERT_EQ(connected, IPC_OK) << error_message;
    }

    std::unique_ptr<FrameListener> listener_;
    std::unique_ptr<FrameChannel> server_;
    std::unique_ptr<FrameChannel> client_;
};

// The stream transports that this build has.
inline std::vector<const char*> stream_transports() {
    std::vector<const char*> here;
    for (const char* id : {"pipe", "unix", "tcp", "fifo"}) {
        const TransportEntry* entry = nullptr;
        if (find_transport(id, &entry) == IPC_OK && entry->implementation != nullptr) here.push_back(id);
    }
    return here;
}

} // namespace ipc::test
