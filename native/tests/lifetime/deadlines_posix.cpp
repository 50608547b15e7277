// Every function that takes a time-out, with the peer stopped at every step: none outlasts its time-out.
#include "peer_process.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/mman.h>

using namespace lifetime;

namespace {

// By no more than this.
constexpr int64_t grace_ms = 20;
// A machine that does other things at the same time can make any one call late, and does not make the same one late so often.
constexpr int tries = 8;

// Where the peer was stopped: before it sent anything; with a reply that was kept here, half out; with a message half out; when
// nothing more fits on the way to it; with its own request waiting for the answer; with the reply to a call in flight half out; with
// its own request put off here.
enum class Stopped { idle, within_a_reply, within_a_message, full, waiting, within_a_completion, put_off };

struct TimedCall {
    Stopped at;
    const char* name;
    ipc_status (*run)(ipc_channel*, int32_t timeout_ms);
};

// The peers, which are forks, do not get it: else each of its pages would have to be copied when it is next written to, by the function whose
// time is taken. Where a page fault takes 10 us that is 80 ms.
class Buffer {
  public:
    Buffer() {
        void* const pages =
            mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (pages == MAP_FAILED || madvise(pages, large, MADV_DONTFORK) != 0) std::abort();
        bytes_ = static_cast<char*>(pages);
    }
    char* data() const { return bytes_; }

  private:
    char* bytes_;
};

const Buffer& buffer() {
    static const Buffer bytes;
    return bytes;
}

// A length that does not fit on the way. Over shm-event everything fits, and is copied at one go, which takes as long as it takes.
constexpr size_t much = 0;
size_t much_is;
size_t bytes_of(size_t length) {
    return length == much ? much_is : length;
}

ipc_status receive(ipc_channel* channel, int32_t timeout_ms) {
    size_t length = 0;
    return ipc_receive(channel, buffer().data(), large, &length, timeout_ms);
}
ipc_status receive_batch(ipc_channel* channel, int32_t timeout_ms) {
    uint32_t lengths[4];
    size_t count = 0;
    return ipc_receive_batch(channel, buffer().data(), large, lengths, 4, &count, timeout_ms);
}
ipc_status peek(ipc_channel* channel, int32_t timeout_ms) {
    const void* message = nullptr;
    size_t length = 0;
    return ipc_peek(channel, &message, &length, timeout_ms);
}
ipc_status receive_request(ipc_channel* channel, int32_t timeout_ms) {
    const void* request = nullptr;
    size_t length = 0;
    return ipc_receive_request(channel, &request, &length, timeout_ms);
}
ipc_status receive_reply(ipc_channel* channel, int32_t timeout_ms) {
    size_t length = 0;
    return ipc_receive_reply(channel, buffer().data(), large, &length, timeout_ms);
}
template <size_t request_length>
ipc_status call(ipc_channel* channel, int32_t timeout_ms) {
    size_t length = 0;
    return ipc_call(channel, buffer().data(), bytes_of(request_length), buffer().data(), large, &length, timeout_ms);
}
template <size_t request_length>
ipc_status call_peek(ipc_channel* channel, int32_t timeout_ms) {
    const void* reply = nullptr;
    size_t length = 0;
    return ipc_call_peek(channel, buffer().data(), bytes_of(request_length), &reply, &length, timeout_ms);
}
template <size_t length>
ipc_status send(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_send(channel, buffer().data(), bytes_of(length), timeout_ms);
}
template <size_t length>
ipc_status send_batch(ipc_channel* channel, int32_t timeout_ms) {
    const auto each = static_cast<uint32_t>(bytes_of(length) / 2);
    const uint32_t lengths[] = {each, each};
    size_t sent = 0;
    return ipc_send_batch(channel, buffer().data(), lengths, 2, &sent, timeout_ms);
}
// Reserving waits over some transports, committing over others; here the two have one time-out together.
template <size_t length>
ipc_status reserve_and_commit(ipc_channel* channel, int32_t timeout_ms) {
    void* room = nullptr;
    if (ipc_reserve(channel, bytes_of(length), &room, 0) != IPC_OK)
        return ipc_reserve(channel, bytes_of(length), &room, timeout_ms);
    return ipc_commit(channel, bytes_of(length), timeout_ms);
}
template <size_t length>
ipc_status reply(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_reply(channel, buffer().data(), bytes_of(length), timeout_ms);
}
template <size_t length>
ipc_status reserve_and_commit_reply(ipc_channel* channel, int32_t timeout_ms) {
    void* room = nullptr;
    if (ipc_reserve_reply(channel, bytes_of(length), &room, 0) != IPC_OK)
        return ipc_reserve_reply(channel, bytes_of(length), &room, timeout_ms);
    return ipc_commit_reply(channel, bytes_of(length), timeout_ms);
}
const std::string& text_of_much() {
    static std::string text;
    if (text.size() != much_is) text.assign(much_is, 't'); // takes its time, but only the first time
    return text;
}
ipc_status fail_request(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_fail_request(channel, text_of_much().c_str(), timeout_ms);
}

template <size_t length>
ipc_status submit(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_submit(channel, buffer().data(), bytes_of(length), 1, timeout_ms);
}
ipc_status complete(ipc_channel* channel, int32_t timeout_ms) {
    uint64_t tag = 0;
    ipc_status outcome = IPC_OK;
    size_t length = 0;
    return ipc_complete(channel, &tag, &outcome, buffer().data(), large, &length, timeout_ms);
}
// Nobody answers what is submitted.
ipc_status submit_and_complete(ipc_channel* channel, int32_t timeout_ms) {
    const ipc_status submitted = submit<1>(channel, 0);
    return submitted == IPC_OK ? complete(channel, timeout_ms) : submitted;
}
// The token that lead_to was given.
uint64_t put_off;
ipc_status reply_deferred(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_reply_deferred(channel, put_off, buffer().data(), bytes_of(much), timeout_ms);
}
ipc_status fail_deferred(ipc_channel* channel, int32_t timeout_ms) {
    return ipc_fail_deferred(channel, put_off, text_of_much().c_str(), timeout_ms);
}

constexpr TimedCall timed_calls[] = {
    {Stopped::idle, "ipc_receive", receive},
    {Stopped::idle, "ipc_receive_batch", receive_batch},
    {Stopped::idle, "ipc_peek", peek},
    {Stopped::idle, "ipc_receive_request", receive_request},
    {Stopped::idle, "ipc_call", call<1>},
    {Stopped::idle, "ipc_call_peek", call_peek<1>},
    {Stopped::idle, "ipc_call of much", call<much>},
    {Stopped::idle, "ipc_call_peek of much", call_peek<much>},
    {Stopped::idle, "ipc_send of much", send<much>},
    {Stopped::idle, "ipc_send_batch of much", send_batch<much>},
    {Stopped::idle, "ipc_commit of much", reserve_and_commit<much>},
    {Stopped::idle, "ipc_submit of much", submit<much>},
    {Stopped::idle, "ipc_complete, none in flight", complete},
    {Stopped::idle, "ipc_complete", submit_and_complete},
    {Stopped::within_a_reply, "ipc_receive_reply", receive_reply},
    {Stopped::within_a_reply, "ipc_call", call<1>},
    {Stopped::within_a_reply, "ipc_call_peek", call_peek<1>},
    {Stopped::within_a_reply, "ipc_receive", receive},
    {Stopped::within_a_reply, "ipc_peek", peek},
    {Stopped::within_a_message, "ipc_receive", receive},
    {Stopped::within_a_message, "ipc_receive_batch", receive_batch},
    {Stopped::within_a_message, "ipc_peek", peek},
    {Stopped::full, "ipc_send", send<1000>},
    {Stopped::full, "ipc_send of much", send<much>},
    {Stopped::full, "ipc_send_batch", send_batch<1000>},
    {Stopped::full, "ipc_commit", reserve_and_commit<1000>},
    {Stopped::full, "ipc_commit of much", reserve_and_commit<much>},
    {Stopped::full, "ipc_call", call<1000>},
    {Stopped::full, "ipc_call_peek", call_peek<1000>},
    {Stopped::full, "ipc_submit", submit<1000>},
    {Stopped::full, "ipc_submit of much", submit<much>},
    {Stopped::full, "ipc_complete", complete},
    {Stopped::waiting, "ipc_reply of much", reply<much>},
    {Stopped::waiting, "ipc_commit_reply of much", reserve_and_commit_reply<much>},
    {Stopped::waiting, "ipc_fail_request of much", fail_request},
    {Stopped::within_a_completion, "ipc_complete", complete},
    {Stopped::within_a_completion, "ipc_submit of much", submit<much>},
    {Stopped::put_off, "ipc_reply_deferred of much", reply_deferred},
    {Stopped::put_off, "ipc_fail_deferred of much", fail_deferred},
};

class Deadlines : public testing::TestWithParam<std::string> {
  protected:
    // What shm-event sends is there at once or not at all, however long.
    bool whole() const { return GetParam() == "shm-event"; }
    bool exists(const TimedCall& timed) const {
        // tcp takes megabytes of small messages, and then a part of one.
        if (GetParam() == "tcp" && timed.at == Stopped::full) return false;
        return !whole() || (timed.at != Stopped::within_a_reply && timed.at != Stopped::within_a_message &&
                            timed.at != Stopped::within_a_completion);
    }

    void lead_to(Stopped at, PeerProcess& peer) {
        ipc_channel* channel = peer.channel();
        size_t length = 0;
        switch (at) {
        case Stopped::idle:
            break;
        case Stopped::within_a_reply:
            ASSERT_EQ(ipc_call(channel, "?", 1, buffer().data(), 1, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
            break;
        case Stopped::within_a_message:
            ASSERT_EQ(ipc_receive(channel, buffer().data(), 1, &length, patience_ms), IPC_BUFFER_TOO_SMALL);
            break;
        case Stopped::waiting:
        case Stopped::put_off: {
            const void* request = nullptr;
            ASSERT_EQ(ipc_receive_request(channel, &request, &length, patience_ms), IPC_OK) << ipc_last_error();
            if (at == Stopped::waiting) break;
            ASSERT_EQ(ipc_defer_request(channel, &put_off), IPC_OK) << ipc_last_error();
            break;
        }
        case Stopped::within_a_completion: {
            uint64_t tag = 0;
            ipc_status outcome = IPC_OK;
            ASSERT_EQ(ipc_submit(channel, "?", 1, 1, patience_ms), IPC_OK) << ipc_last_error();
            ASSERT_EQ(ipc_complete(channel, &tag, &outcome, buffer().data(), 1, &length, patience_ms),
                      IPC_BUFFER_TOO_SMALL)
                << ipc_last_error();
            break;
        }
        case Stopped::full:
            break;
        }
        peer.stop();
        if (at == Stopped::full)
            while (ipc_send(channel, buffer().data(), 1000, 0) == IPC_OK) continue;
    }

    static PeerProcess::Does what_for(Stopped at) {
        switch (at) {
        case Stopped::within_a_reply:
        case Stopped::within_a_completion:
            return PeerProcess::Does::replies;
        case Stopped::within_a_message:
            return PeerProcess::Does::sends;
        case Stopped::waiting:
        case Stopped::put_off:
            return PeerProcess::Does::calls;
        default:
            return PeerProcess::Does::nothing;
        }
    }

    // Who commits has filled the room before, and met the page faults of its memory then.
    static void use_room(ipc_channel* channel) {
        void* room = nullptr;
        if (ipc_reserve(channel, much_is, &room, patience_ms) != IPC_OK) return;
        std::memset(room, 1, much_is);
        ipc_cancel(channel);
    }

    // Half of a message is here, megabytes over tcp. The first function to time out then keeps them in memory that is new to the process, and where
    // a page fault takes 10 to 25 us that alone takes 25 ms: the machine's time, not the function's.
    static bool is_half_way(Stopped at) {
        return at == Stopped::within_a_reply || at == Stopped::within_a_message || at == Stopped::within_a_completion;
    }

    // Milliseconds for which it ran beyond its time-out.
    int64_t over(const TimedCall& timed, int32_t timeout_ms) {
        PeerProcess peer(GetParam(), what_for(timed.at));
        if (HasFatalFailure() || peer.channel() == nullptr) return 0;
        if (std::string_view(timed.name).find("commit") != std::string_view::npos) use_room(peer.channel());
        lead_to(timed.at, peer);
        if (HasFatalFailure()) return 0;
        if (is_half_way(timed.at)) timed.run(peer.channel(), 20);
        const OwnTime time;
        const ipc_status status = timed.run(peer.channel(), timeout_ms);
        const int64_t took_ms = time.ms();
        if (!(whole() && status == IPC_OK)) {
            EXPECT_EQ(status, IPC_TIMED_OUT) << timed.name << ": " << ipc_last_error();
        }
        return took_ms - timeout_ms;
    }
};

TEST_P(Deadlines, NoFunctionOutlastsItsTimeOut) {
    buffer();
    much_is = whole() ? 1 << 20 : large;
    for (const TimedCall& timed : timed_calls) {
        if (!exists(timed)) continue;
        for (const int32_t timeout_ms : {0, 20}) {
            int64_t least_ms = INT64_MAX;
            for (int i = 0; i < tries && least_ms > grace_ms && !HasFailure(); ++i)
                least_ms = std::min(least_ms, over(timed, timeout_ms));
            EXPECT_LE(least_ms, grace_ms) << timed.name << " with " << timeout_ms << " ms, the peer stopped at step "
                                          << static_cast<int>(timed.at);
            if (HasFailure()) return;
        }
    }
}

TEST_P(Deadlines, NorDoesConnectingToAStoppedServerOrAcceptingNobody) {
    for (const int32_t timeout_ms : {0, 20}) {
        int64_t least_ms = INT64_MAX;
        for (int i = 0; i < tries && least_ms > grace_ms && !HasFailure(); ++i) {
            PeerProcess peer(GetParam(), PeerProcess::Does::nothing);
            if (HasFatalFailure()) return;
            peer.stop();
            ipc_channel* second = nullptr;
            const OwnTime time;
            const ipc_status status = ipc_connect(peer.address().c_str(), timeout_ms, &second);
            least_ms = std::min(least_ms, time.ms() - timeout_ms);
            // A socket is connected by the system.
            EXPECT_TRUE(status == IPC_TIMED_OUT || status == IPC_OK) << ipc_last_error();
            ipc_channel_free(second);
        }
        EXPECT_LE(least_ms, grace_ms) << timeout_ms;
    }
    ipc_listener* listener = nullptr;
    ASSERT_EQ(ipc_listen(address_of(GetParam()).c_str(), &listener), IPC_OK) << ipc_last_error();
    for (const int32_t timeout_ms : {0, 20}) {
        int64_t least_ms = INT64_MAX;
        for (int i = 0; i < tries && least_ms > grace_ms; ++i) {
            ipc_channel* nobody = nullptr;
            const OwnTime time;
            EXPECT_EQ(ipc_accept(listener, timeout_ms, &nobody), IPC_TIMED_OUT) << ipc_last_error();
            least_ms = std::min(least_ms, time.ms() - timeout_ms);
        }
        EXPECT_LE(least_ms, grace_ms) << timeout_ms;
    }
    ipc_listener_free(listener);
}

INSTANTIATE_TEST_SUITE_P(Channels, Deadlines, testing::ValuesIn(of_our_own()), name_of);

} // namespace
