// The C++ header's publisher and subscriber.
#include "ipc/ipc.hpp"

#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace {

TEST(BroadcastCppHeader, PublishesToAllSubscribers) {
    const std::string address = "broadcast://cpp-" + std::to_string(getpid());
    ipc::Publisher publisher(address);
    EXPECT_EQ(524288u, publisher.limit());
    ipc::Subscriber first(address, 1000), second(address + "?policy=drop", 1000);
    EXPECT_EQ(2u, publisher.subscribers());
    publisher.publish("EURUSD 1.0831");
    for (ipc::Subscriber* subscriber : {&first, &second}) {
        char buffer[64];
        const ipc::Subscriber::Received received = subscriber->receive(buffer, sizeof buffer, 1000);
        EXPECT_EQ("EURUSD 1.0831", std::string(buffer, received.size));
        EXPECT_EQ(0u, received.lost);
    }
    publisher.close();
    try {
        char buffer[64];
        first.receive(buffer, sizeof buffer, 1000);
        FAIL() << "the publisher has closed";
    } catch (const ipc::Error& e) {
        EXPECT_EQ(IPC_PEER_CLOSED, e.status());
    }
    EXPECT_THROW(ipc::Subscriber(address, 0), ipc::Error);
}

} // namespace
