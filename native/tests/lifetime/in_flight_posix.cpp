// A server that is killed with calls in flight, or stops with both ways full.
#include "peer_process.hpp"

namespace lifetime {
namespace {

class InFlightDeath : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, InFlightDeath, testing::ValuesIn(of_our_own()), name_of);

TEST_P(InFlightDeath, EndsEachCallOnce) {
    PeerProcess server(GetParam(), PeerProcess::Does::nothing);
    ipc_channel* const client = server.channel();
    uint64_t submitted = 0;
    while (submitted < 20 && ipc_submit(client, "x", 1, submitted, 200) == IPC_OK) ++submitted;
    ASSERT_GE(submitted, 1u) << ipc_last_error();
    server.kill_it();
    std::vector<bool> seen(submitted);
    for (uint64_t i = 0; i < submitted; ++i) {
        uint64_t tag = 0;
        ipc_status outcome = IPC_OK;
        size_t length = 0;
        ASSERT_EQ(ipc_complete(client, &tag, &outcome, nullptr, 0, &length, patience_ms), IPC_OK) << ipc_last_error();
        EXPECT_EQ(outcome, IPC_PEER_CLOSED) << ipc_last_error();
        ASSERT_LT(tag, submitted);
        EXPECT_FALSE(seen[tag]);
        seen[tag] = true;
    }
    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    size_t length = 0;
    EXPECT_EQ(ipc_complete(client, &tag, &outcome, nullptr, 0, &length, patience_ms), IPC_PEER_CLOSED);
}

// Nobody receives: the time-out holds, and a request that was cut breaks the channel, which ends the calls before it.
TEST_P(InFlightDeath, ASubmitKeepsToItsTimeOut) {
    PeerProcess server(GetParam(), PeerProcess::Does::nothing);
    ipc_channel* const client = server.channel();
    const std::string request(1 << 20, 'r');
    uint64_t submitted = 0;
    ipc_status status = IPC_OK;
    while (submitted < IPC_MOST_IN_FLIGHT && status == IPC_OK) {
        status = ipc_submit(client, request.data(), request.size(), submitted, 50);
        if (status == IPC_OK) ++submitted;
    }
    EXPECT_EQ(status, IPC_TIMED_OUT) << ipc_last_error();
    ipc_channel_close(client);
    for (uint64_t i = 0; i < submitted; ++i) {
        uint64_t tag = 0;
        ipc_status outcome = IPC_OK;
        size_t length = 0;
        ASSERT_EQ(ipc_complete(client, &tag, &outcome, nullptr, 0, &length, 0), IPC_OK) << ipc_last_error();
        EXPECT_EQ(outcome, IPC_CLOSED);
    }
}

// With a time-out of 0, too: what was submitted is whole, and what was not has left nothing behind, or the channel says that it is broken.
// (A stream takes the part of a request that fits.)
TEST_P(InFlightDeath, ASubmitThatDoesNotWaitIsWholeOrSaysSo) {
    PeerProcess server(GetParam(), PeerProcess::Does::nothing);
    ipc_channel* const client = server.channel();
    const std::string request(60'000, 'r');
    uint64_t submitted = 0;
    ipc_status status = IPC_OK;
    for (; status == IPC_OK; submitted += status == IPC_OK)
        status = ipc_submit(client, request.data(), request.size(), submitted, 0);
    const std::string why = ipc_last_error();
    const bool cut = why.find("so the channel is broken") != std::string::npos;
    EXPECT_TRUE(status == IPC_TOO_MANY_CALLS || status == IPC_TIMED_OUT) << why;
    const ipc_status next = ipc_submit(client, "x", 1, submitted, 0);
    const std::string said = ipc_last_error();
    if (cut) { // a broken channel repeats its first failure
        EXPECT_EQ(next, IPC_TIMED_OUT);
        EXPECT_EQ(said, why);
    } else if (next != IPC_OK) {
        EXPECT_EQ(said.find("so the channel is broken"), std::string::npos) << said;
    }
    for (uint64_t i = 0; cut && i < submitted; ++i) {
        uint64_t tag = 0;
        ipc_status outcome = IPC_OK;
        size_t length = 0;
        ASSERT_EQ(ipc_complete(client, &tag, &outcome, nullptr, 0, &length, 0), IPC_OK) << ipc_last_error();
        EXPECT_EQ(outcome, IPC_TIMED_OUT);
        EXPECT_EQ(ipc_last_error(), why);
    }
}

} // namespace
} // namespace lifetime
