#pragma once

#include "core/frame_header.hpp"
#include "core/frame_stream.hpp"
#include "posix/socket_stream.hpp"
#include "support.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace ipc::test {

using posix::Descriptor;

constexpr size_t limit = 4 * 1024 * 1024;

// Around every boundary of how frames are sent and received.
constexpr size_t interesting_lengths[] = {0,     1,     47,    48,    2047,  2048,   2049,   4096,    65519,
                                          65520, 65521, 65535, 65536, 65537, 100000, 262144, 1000000, limit};

enum class Kind { socket, fifo };

// A channel whose peer is the test itself, reading and writing raw bytes.
class FrameStreamFixture : public testing::TestWithParam<Kind> {
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

inline std::string kind_name(const testing::TestParamInfo<Kind>& instance) {
    return instance.param == Kind::socket ? "socket" : "fifo";
}

} // namespace ipc::test
