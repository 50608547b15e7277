// Frames on byte streams, fed by hand: what a peer may do, a well-behaved one and a hostile one.
#include "core/frame_stream.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/frame_header.hpp"
#include "posix/socket_stream.hpp"
#include "support.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

namespace ipc {
namespace {

using posix::Descriptor;
using test::pattern;

constexpr size_t limit = 4 * 1024 * 1024;
constexpr size_t buffer_size = 64 * 1024;

enum class Kind { socket, fifo };

// A channel whose peer is the test itself, reading and writing raw bytes.
class FrameStreamTest : public testing::TestWithParam<Kind> {
  protected:
    void SetUp() override {
        int up[2];
        int down[2];
        std::unique_ptr<ByteStream> stream;
        if (GetParam() == Kind::socket) {
            ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, up), 0);
            stream = std::make_unique<posix::SocketStream>(Descriptor(up[0]));
            peer_in_ = Descriptor(up[1]);
            peer_out_ = Descriptor(dup(up[1]));
        } else {
            ASSERT_EQ(pipe2(up, O_CLOEXEC), 0);
            ASSERT_EQ(pipe2(down, O_CLOEXEC), 0);
            fcntl(down[0], F_SETFL, O_NONBLOCK);
            fcntl(up[1], F_SETFL, O_NONBLOCK);
            auto fifo = std::make_unique<FifoStream>(Descriptor(down[0]), Descriptor(up[1]), "");
            ASSERT_EQ(fifo->open(), IPC_OK);
            stream = std::move(fifo);
            peer_in_ = Descriptor(up[0]);
            peer_out_ = Descriptor(down[1]);
        }
        channel_ = std::make_unique<FrameStream>(std::move(stream), limit, "test://peer");
    }

    void feed(const void* data, size_t length) {
        const auto* bytes = static_cast<const char*>(data);
        while (length != 0) {
            const ssize_t written = write(peer_out_.get(), bytes, length);
            ASSERT_GT(written, 0);
            bytes += written;
            length -= static_cast<size_t>(written);
        }
    }
    void feed(const std::vector<std::byte>& bytes) { feed(bytes.data(), bytes.size()); }

    static std::vector<std::byte> frame(const std::vector<std::byte>& payload, FrameKind kind = FrameKind::message,
                                        uint32_t id = 0) {
        std::vector<std::byte> bytes(frame_header_size + payload.size());
        write_frame_header(bytes.data(), kind, id, payload.size());
        std::copy(payload.begin(), payload.end(), bytes.begin() + frame_header_size);
        return bytes;
    }

    void hang_up() {
        peer_in_.reset();
        peer_out_.reset();
    }

    // Reads what the channel sends until it has `length` bytes or the end comes.
    std::vector<std::byte> drain(size_t length) {
        std::vector<std::byte> bytes(length);
        size_t have = 0;
        while (have < length) {
            const ssize_t count = read(peer_in_.get(), bytes.data() + have, length - have);
            if (count <= 0) break;
            have += static_cast<size_t>(count);
        }
        bytes.resize(have);
        return bytes;
    }

    Status next(int32_t timeout_ms = 5000) { return channel_->next(&info_, Deadline(timeout_ms)); }

    Descriptor peer_in_;
    Descriptor peer_out_;
    std::unique_ptr<FrameStream> channel_;
    FrameInfo info_{};
};

INSTANTIATE_TEST_SUITE_P(Streams, FrameStreamTest, testing::Values(Kind::socket, Kind::fifo),
                         [](const auto& instance) { return instance.param == Kind::socket ? "socket" : "fifo"; });

const size_t interesting_lengths[] = {0,    1,     47,    48,    2047,  2048,  2049,  4096, 65519, 65520,
                                      65521, 65535, 65536, 65537, 100000, 262144, 1000000, limit};

TEST_P(FrameStreamTest, BytesSentAreTheOnesOfTheDocument) {
    for (const size_t length : interesting_lengths) {
        const auto payload = pattern(length);
        std::vector<std::byte> arrived;
        std::thread reader([&] { arrived = drain(2 * (frame_header_size + length)); });
        EXPECT_EQ(channel_->send(FrameKind::request, 7, payload.data(), length, Deadline(5000)), IPC_OK);
        void* room = nullptr;
        EXPECT_EQ(channel_->reserve(length + 10, &room, Deadline(0)), IPC_OK);
        if (length != 0) std::memcpy(room, payload.data(), length);
        EXPECT_EQ(channel_->commit(FrameKind::reply, 0x01020304, length, Deadline(5000)), IPC_OK);
        reader.join();
        auto expected = frame(payload, FrameKind::request, 7);
        const auto second = frame(payload, FrameKind::reply, 0x01020304);
        expected.insert(expected.end(), second.begin(), second.end());
        EXPECT_TRUE(arrived == expected) << length;
    }
    const unsigned char golden[] = {'I', 'P', 'C', '1', 2, 0, 0, 0, 3, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 'h', 'i'};
    EXPECT_EQ(channel_->send(FrameKind::reply, 0x11223344, "hi", 2, Deadline(5000)), IPC_OK);
    const auto bytes = drain(sizeof golden);
    EXPECT_EQ(std::memcmp(bytes.data(), golden, sizeof golden), 0);
}

TEST_P(FrameStreamTest, TakesAndViewsEveryLength) {
    for (const bool in_place : {false, true}) {
        for (const size_t length : interesting_lengths) {
            const auto payload = pattern(length, static_cast<unsigned>(length));
            std::thread writer([&] { feed(frame(payload, FrameKind::reply, 9)); });
            EXPECT_EQ(next(), IPC_OK) << test::forever;
            EXPECT_EQ(info_.length, length);
            EXPECT_EQ(info_.kind, FrameKind::reply);
            EXPECT_EQ(info_.id, 9u);
            std::vector<std::byte> copy(length);
            if (in_place) {
                const void* data = nullptr;
                EXPECT_EQ(channel_->view(&data, Deadline(5000)), IPC_OK);
                if (length != 0) std::memcpy(copy.data(), data, length);
                EXPECT_EQ(channel_->release(), IPC_OK);
            } else {
                EXPECT_EQ(channel_->take(copy.data(), Deadline(5000)), IPC_OK);
            }
            writer.join();
            EXPECT_TRUE(copy == payload) << length;
        }
    }
}

TEST_P(FrameStreamTest, FramesArriveByteByByte) {
    std::thread writer([&] {
        for (unsigned i = 0; i < 20; ++i)
            for (const std::byte byte : frame(pattern(i * 7, i), FrameKind::request, i)) feed(&byte, 1);
    });
    for (unsigned i = 0; i < 20; ++i) {
        std::vector<std::byte> payload(i * 7);
        ASSERT_EQ(next(), IPC_OK);
        ASSERT_EQ(info_.id, i);
        ASSERT_EQ(info_.length, payload.size());
        ASSERT_EQ(channel_->take(payload.data(), Deadline(5000)), IPC_OK);
        EXPECT_TRUE(payload == pattern(i * 7, i));
    }
    writer.join();
}

TEST_P(FrameStreamTest, ManyFramesInOnePieceAreParsedApart) {
    std::thread writer([&] {
        std::vector<std::byte> all;
        for (unsigned i = 0; i < 3000; ++i) {
            const auto one = frame(pattern(i % 97, i), FrameKind::message);
            all.insert(all.end(), one.begin(), one.end());
        }
        feed(all);
    });
    std::vector<std::byte> payload;
    for (unsigned i = 0; i < 3000; ++i) {
        ASSERT_EQ(test::receive(*channel_, &payload), IPC_OK);
        ASSERT_TRUE(payload == pattern(i % 97, i)) << i;
    }
    writer.join();
}

TEST_P(FrameStreamTest, NextTellsTheSameUntilTheFrameIsConsumed) {
    feed(frame(pattern(10), FrameKind::request, 5));
    feed(frame(pattern(20), FrameKind::request, 6));
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(info_.id, 5u);
    }
    const void* first = nullptr;
    const void* again = nullptr;
    EXPECT_EQ(channel_->view(&first, Deadline(0)), IPC_OK);
    EXPECT_EQ(channel_->view(&again, Deadline(0)), IPC_OK);
    EXPECT_EQ(first, again);
    channel_->release();
    ASSERT_EQ(next(), IPC_OK);
    EXPECT_EQ(info_.id, 6u);
}

TEST_P(FrameStreamTest, GarbageBreaksTheChannelForGood) {
    auto damaged = frame(pattern(4));
    damaged[0] = std::byte{'X'};
    feed(damaged);
    EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL);
    const std::string sentence = last_error();
    EXPECT_NE(sentence.find("test://peer"), std::string::npos);
    feed(frame(pattern(4)));
    EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(last_error(), sentence);
}

TEST_P(FrameStreamTest, UnknownKindsAreRefused) {
    for (const uint32_t kind : {0u, 5u, 0x01000001u}) {
        SetUp();
        auto damaged = frame(pattern(4));
        store_u32(damaged.data() + 8, kind);
        feed(damaged);
        EXPECT_EQ(next(), IPC_NOT_OUR_PROTOCOL) << kind;
    }
}

TEST_P(FrameStreamTest, LengthOverTheLimitIsRefusedBeforeAnythingIsAllocated) {
    std::vector<std::byte> header(frame_header_size);
    write_frame_header(header.data(), FrameKind::message, 0, 0xffffffff);
    feed(header);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
    EXPECT_NE(std::string(last_error()).find("4294967295"), std::string::npos);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
    SetUp();
    write_frame_header(header.data(), FrameKind::message, 0, limit + 1);
    feed(header);
    EXPECT_EQ(next(), IPC_PEER_TOO_LARGE);
}

TEST_P(FrameStreamTest, MemoryGrowsWithWhatArrivesNotWithWhatIsClaimed) {
    std::vector<std::byte> header(frame_header_size);
    write_frame_header(header.data(), FrameKind::message, 0, limit);
    feed(header);
    feed(pattern(100));
    ASSERT_EQ(next(), IPC_OK);
    const auto in_use = [] {
        const auto info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const size_t before = in_use();
    const void* data = nullptr;
    EXPECT_EQ(channel_->view(&data, Deadline(10)), IPC_TIMED_OUT);
    EXPECT_LT(in_use() - before, 1024u * 1024);
}

TEST_P(FrameStreamTest, EndBetweenFramesIsAnOrderlyEnd) {
    feed(frame(pattern(10)));
    hang_up();
    std::vector<std::byte> payload;
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
}

TEST_P(FrameStreamTest, EndInsideAFrameIsTruncation) {
    for (const size_t length : {size_t{100}, size_t{buffer_size + 1000}, size_t{500000}}) {
        const auto whole = frame(pattern(length));
        for (const size_t cut : {size_t{1}, size_t{15}, size_t{16}, size_t{17}, whole.size() - 1}) {
            for (const bool in_place : {false, true}) {
                SetUp();
                std::thread writer([&] {
                    feed(whole.data(), cut);
                    hang_up();
                });
                Status status = next();
                std::vector<std::byte> payload(length);
                const void* data = nullptr;
                if (status == IPC_OK)
                    status = in_place ? channel_->view(&data, Deadline(5000)) : channel_->take(payload.data(), Deadline(5000));
                writer.join();
                EXPECT_EQ(status, IPC_TRUNCATED) << length << " cut at " << cut;
                EXPECT_EQ(next(), IPC_TRUNCATED);
            }
        }
    }
}

TEST_P(FrameStreamTest, TimingOutLosesNothing) {
    for (const size_t length : {size_t{300}, size_t{60000}, size_t{200000}}) {
        const auto payload = pattern(length);
        const auto whole = frame(payload, FrameKind::reply, 3);
        const size_t steps[] = {0, 5, frame_header_size, frame_header_size + 10, frame_header_size + length / 2, whole.size()};
        EXPECT_EQ(next(0), IPC_TIMED_OUT);
        for (size_t i = 1; i < 2; ++i) feed(whole.data(), steps[1]);
        EXPECT_EQ(next(0), IPC_TIMED_OUT);
        EXPECT_EQ(next(5), IPC_TIMED_OUT);
        feed(whole.data() + steps[1], steps[2] - steps[1]);
        ASSERT_EQ(next(0), IPC_OK);
        ASSERT_EQ(info_.length, length);
        const void* data = nullptr;
        std::vector<std::byte> first(length);
        std::vector<std::byte> second(length);
        EXPECT_EQ(channel_->take(first.data(), Deadline(5)), IPC_TIMED_OUT);
        feed(whole.data() + steps[2], steps[3] - steps[2]);
        EXPECT_EQ(channel_->take(first.data(), Deadline(0)), IPC_TIMED_OUT);
        std::fill(first.begin(), first.end(), std::byte{0});
        std::thread half([&] { feed(whole.data() + steps[3], steps[4] - steps[3]); });
        EXPECT_EQ(channel_->view(&data, Deadline(50)), IPC_TIMED_OUT);
        half.join();
        EXPECT_EQ(channel_->take(first.data(), Deadline(5)), IPC_TIMED_OUT);
        std::thread rest([&] { feed(whole.data() + steps[4], steps[5] - steps[4]); });
        EXPECT_EQ(channel_->take(second.data(), Deadline(5000)), IPC_OK);
        rest.join();
        EXPECT_TRUE(second == payload) << length;
    }
}

TEST_P(FrameStreamTest, TimeOutsAreKeptAndLast) {
    test::Stopwatch stopwatch;
    EXPECT_EQ(next(60), IPC_TIMED_OUT);
    EXPECT_GE(stopwatch.ms(), 60);
    EXPECT_LT(stopwatch.ms(), 1000);
    // The limit of the call before must not end one without end.
    std::thread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        feed(frame(pattern(5)));
    });
    EXPECT_EQ(next(test::forever), IPC_OK);
    writer.join();
}

TEST_P(FrameStreamTest, FramesReleasedUnseenAreSkippedAsTheyArrive) {
    for (const size_t length : {size_t{200}, size_t{300000}}) {
        const auto whole = frame(pattern(length), FrameKind::reply, 1);
        feed(whole.data(), frame_header_size + 50);
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(channel_->release(), IPC_OK);
        EXPECT_EQ(next(5), IPC_TIMED_OUT);
        std::thread writer([&] {
            feed(whole.data() + frame_header_size + 50, length - 50);
            feed(frame(pattern(3), FrameKind::reply, 2));
        });
        ASSERT_EQ(next(), IPC_OK);
        EXPECT_EQ(info_.id, 2u);
        writer.join();
        EXPECT_EQ(channel_->release(), IPC_OK);
    }
}

TEST_P(FrameStreamTest, SendThatNobodyTakesTimesOutAndKeepsTheChannel) {
    const auto small = pattern(1000);
    Status status = IPC_OK;
    size_t sent = 0;
    while (status == IPC_OK) {
        status = test::send(*channel_, small, 20);
        if (status == IPC_OK) ++sent;
    }
    EXPECT_EQ(status, IPC_TIMED_OUT);
    EXPECT_NE(std::string(last_error()).find("nothing was sent"), std::string::npos) << last_error();
    std::thread reader([&] { drain(sent * (frame_header_size + small.size())); });
    reader.join();
    EXPECT_EQ(test::send(*channel_, small), IPC_OK);
    EXPECT_TRUE(drain(frame_header_size + small.size()) == frame(small));
}

TEST_P(FrameStreamTest, SendCutHalfWayBreaksBothHalves) {
    Status received = IPC_OK;
    std::thread receiver([&] {
        FrameInfo info{};
        received = channel_->next(&info, Deadline(test::forever));
    });
    const auto message = pattern(limit);
    EXPECT_EQ(test::send(*channel_, message, 50), IPC_TIMED_OUT);
    EXPECT_NE(std::string(last_error()).find("half-way"), std::string::npos);
    receiver.join();
    EXPECT_EQ(received, IPC_TIMED_OUT);
    EXPECT_EQ(test::send(*channel_, pattern(1)), IPC_TIMED_OUT);
    EXPECT_NE(std::string(last_error()).find("half-way"), std::string::npos);
    // The peer finds the beginning of the message and then the end.
    const auto arrived = drain(limit + frame_header_size);
    EXPECT_GT(arrived.size(), frame_header_size);
    EXPECT_LT(arrived.size(), limit);
}

TEST_P(FrameStreamTest, SendToAPeerThatLeftSaysSoAndLeavesWhatItSent) {
    feed(frame(pattern(11)));
    feed(frame(pattern(12)));
    hang_up();
    Status status = IPC_OK;
    for (int i = 0; i < 100 && status == IPC_OK; ++i) status = test::send(*channel_, pattern(100));
    EXPECT_EQ(status, IPC_PEER_CLOSED);
    EXPECT_EQ(test::send(*channel_, pattern(100)), IPC_PEER_CLOSED);
    std::vector<std::byte> payload;
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_TRUE(payload == pattern(11));
    EXPECT_EQ(test::receive(*channel_, &payload), IPC_OK);
    EXPECT_EQ(next(), IPC_PEER_CLOSED);
}

TEST_P(FrameStreamTest, CloseInterruptsReceiveAndSendFromAnotherThread) {
    const auto message = pattern(limit);
    for (const int32_t timeout_ms : {test::forever, 60000}) {
        // A busy machine may keep a thread waiting for its processor; not three times in a row.
        int64_t quickest_ms = INT64_MAX;
        for (int round = 0; round < 3; ++round) {
            SetUp();
            Status received = IPC_OK;
            Status sent = IPC_OK;
            std::thread receiver([&] {
                FrameInfo info{};
                received = channel_->next(&info, Deadline(timeout_ms));
            });
            std::thread sender([&] { sent = test::send(*channel_, message, timeout_ms); });
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            test::Stopwatch stopwatch;
            channel_->close();
            receiver.join();
            sender.join();
            quickest_ms = std::min(quickest_ms, stopwatch.ms());
            EXPECT_EQ(received, IPC_CLOSED);
            EXPECT_EQ(sent, IPC_CLOSED);
            EXPECT_EQ(next(), IPC_CLOSED);
            EXPECT_EQ(test::send(*channel_, pattern(1)), IPC_CLOSED);
            channel_->close();
        }
        EXPECT_LT(quickest_ms, 100);
    }
}

TEST_P(FrameStreamTest, ThePeerReadsWhatWasSentBeforeTheEnd) {
    EXPECT_EQ(test::send(*channel_, pattern(100)), IPC_OK);
    channel_->close();
    EXPECT_TRUE(drain(1000) == frame(pattern(100)));
}

TEST_P(FrameStreamTest, NoSignalReachesTheProgram) {
    struct sigaction before {};
    struct sigaction deadly {};
    deadly.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &deadly, &before);
    hang_up();
    EXPECT_EQ(test::send(*channel_, pattern(100)), IPC_PEER_CLOSED);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
    sigaction(SIGPIPE, &before, nullptr);
}

} // namespace
} // namespace ipc
