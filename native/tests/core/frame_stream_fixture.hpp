#pragma once

#include "channels.hpp"
#include "core/frame_header.hpp"
#include "core/frame_stream.hpp"
#include "raw_peer.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace ipc::test {

constexpr size_t limit = 4 * 1024 * 1024;

// Around every boundary of how frames are sent and received.
constexpr size_t interesting_lengths[] = {0,     1,     47,    48,    2047,  2048,   2049,   4096,    65519,
                                          65520, 65521, 65535, 65536, 65537, 100000, 262144, 1000000, limit};

// A channel whose peer is the test itself, reading and writing raw bytes.
class FrameStreamFixture : public testing::TestWithParam<Kind> {
  protected:
    void SetUp() override {
        std::unique_ptr<ByteStream> stream;
        make_stream(GetParam(), &stream, &peer_);
        ASSERT_TRUE(stream && peer_) << last_error();
        channel_ = std::make_unique<FrameStream>(std::move(stream), limit, "test://peer");
    }

    void feed(const void* data, size_t length) {
        const auto* bytes = static_cast<const std::byte*>(data);
        while (length != 0) {
            const size_t written = peer_->write(bytes, length);
            ASSERT_GT(written, 0u);
            bytes += written;
            length -= written;
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

    void hang_up() { peer_->hang_up(); }

    // Reads what the channel sends until it has `length` bytes or the end comes.
    std::vector<std::byte> drain(size_t length) {
        std::vector<std::byte> bytes(length);
        size_t have = 0;
        while (have < length) {
            const size_t count = peer_->read(bytes.data() + have, length - have);
            if (count == 0) break;
            have += count;
        }
        bytes.resize(have);
        return bytes;
    }

    Status next(int32_t timeout_ms = 5000) { return channel_->next(&info_, Deadline(timeout_ms)); }

    std::unique_ptr<RawPeer> peer_;
    std::unique_ptr<FrameStream> channel_;
    FrameInfo info_{};
};

inline std::string kind_name(const testing::TestParamInfo<Kind>& instance) {
    constexpr const char* names[] = {"socket", "fifo", "pipe", "message_pipe"};
    return names[static_cast<size_t>(instance.param)];
}

} // namespace ipc::test
