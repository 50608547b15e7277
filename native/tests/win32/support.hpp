#pragma once

#include "../core/channels.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <windows.h>

// What the tests of Windows' transports share.
namespace ipc::test {

// Both ends of a new connection; null where one could not be made, which fails the test.
inline void connect_pair(FrameListener& listener, std::unique_ptr<FrameChannel>* server,
                         std::unique_ptr<FrameChannel>* client) {
    Status connected = IPC_OK;
    std::string error_message;
    const std::string address = listener.address();
    std::thread connecting([&] {
        connected = connect(address, client);
        error_message = last_error();
    });
    EXPECT_EQ(accept(listener, server), IPC_OK) << last_error();
    connecting.join();
    EXPECT_EQ(connected, IPC_OK) << error_message;
}

// A message goes over a new connection.
inline void expect_serves(FrameListener& listener) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    connect_pair(listener, &server, &client);
    ASSERT_TRUE(server && client);
    std::thread taking([&] {
        std::vector<std::byte> bytes;
        EXPECT_EQ(receive(*server, &bytes), IPC_OK) << last_error();
        EXPECT_EQ(bytes, pattern(100));
    });
    EXPECT_EQ(send(*client, pattern(100)), IPC_OK) << last_error();
    taking.join();
}

} // namespace ipc::test
