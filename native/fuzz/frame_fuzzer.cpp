// The frame reader against any bytes, arriving in any fragments and interrupted by time-outs at any point: it must tell
// exactly what a plain reading of docs/wire-formats.md tells, and never touch what it was not given.
#include "core/frame_header.hpp"
#include "core/frame_stream.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace {

constexpr size_t limit = 150'000; // over the receive buffer's 64 KiB, so that both ways of receiving are used

void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// Decisions taken from the input's first bytes, the same at every run.
class Dice {
  public:
    explicit Dice(uint64_t seed) : state_(seed * 2 + 1) {}
    size_t below(size_t end) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<size_t>(state_ >> 33) % end;
    }

  private:
    uint64_t state_;
};

// Gives the bytes in fragments of any size, with time-outs between them.
class Fragments final : public ipc::ByteStream {
  public:
    Fragments(std::vector<std::byte> bytes, Dice dice) : bytes_(std::move(bytes)), dice_(dice) {}

    ipc::Status read(void* buffer, size_t capacity, Fill, const ipc::Deadline&, size_t* count) override {
        *count = 0;
        if (dice_.below(4) == 0) return IPC_TIMED_OUT;
        const size_t most = dice_.below(3) == 0 ? 1 + dice_.below(20) : 1 + dice_.below(100'000);
        *count = std::min({capacity, bytes_.size() - position_, most});
        if (*count != 0) std::memcpy(buffer, bytes_.data() + position_, *count);
        position_ += *count;
        return IPC_OK;
    }
    ipc::Status write(ipc::Chunk, ipc::Chunk, const ipc::Deadline&, size_t*) override { return IPC_PEER_CLOSED; }
    void interrupt() override {}

  private:
    std::vector<std::byte> bytes_;
    size_t position_ = 0;
    Dice dice_;
};

// The document read plainly: the next frame at `rest`, or how the channel must end there.
ipc::Status expected_frame(std::span<const std::byte> rest, ipc::FrameInfo* info) {
    if (rest.empty()) return IPC_PEER_CLOSED;
    // Whoever speaks something else is told so by the first four bytes.
    if (rest.size() >= 4 && std::memcmp(rest.data(), "IPC1", 4) != 0) return IPC_NOT_OUR_PROTOCOL;
    if (rest.size() < 16) return IPC_TRUNCATED;
    const auto number = [rest](size_t at) {
        return std::to_integer<uint32_t>(rest[at]) | std::to_integer<uint32_t>(rest[at + 1]) << 8 |
               std::to_integer<uint32_t>(rest[at + 2]) << 16 | std::to_integer<uint32_t>(rest[at + 3]) << 24;
    };
    const uint32_t kind = number(8);
    if (kind == 0 || kind > 4) return IPC_NOT_OUR_PROTOCOL;
    *info = {static_cast<ipc::FrameKind>(kind), number(12), number(4)};
    return info->length > limit ? IPC_PEER_TOO_LARGE : IPC_OK;
}

// Repeats what timed out, which must have lost nothing.
template <class Step>
ipc::Status insist(Step step) {
    ipc::Status status;
    do status = step();
    while (status == IPC_TIMED_OUT);
    return status;
}

// Gets the payload of the frame in one of the ways there are.
ipc::Status get_payload(ipc::FrameStream& channel, size_t length, Dice& dice, std::vector<std::byte>* payload) {
    const ipc::Deadline at_once(0);
    payload->resize(length);
    if (dice.below(2) == 0)
        return insist([&] {
            // Another buffer at every try, so that nothing can be left behind in the last one.
            std::vector<std::byte> fresh(length);
            const ipc::Status status = channel.take(fresh.data(), at_once);
            if (status == IPC_OK) *payload = fresh;
            return status;
        });
    const void* data = nullptr;
    const ipc::Status status = insist([&] { return channel.view(&data, at_once); });
    if (status == IPC_OK && length != 0) std::memcpy(payload->data(), data, length);
    return status == IPC_OK ? channel.release() : status;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 3) return 0;
    Dice dice(static_cast<uint64_t>(data[0]) << 8 | data[1]);
    // A tail of plain bytes makes long payloads possible with short inputs.
    const size_t tail = data[2] * size_t{1000};
    std::vector<std::byte> bytes(size - 3 + tail);
    std::transform(data + 3, data + size, bytes.begin(), [](uint8_t byte) { return std::byte{byte}; });
    ipc::FrameStream channel(std::make_unique<Fragments>(bytes, dice), limit, "fuzz://peer");

    std::span<const std::byte> rest = bytes;
    while (true) {
        ipc::FrameInfo expected{};
        ipc::FrameInfo info{};
        const ipc::Status wanted = expected_frame(rest, &expected);
        const ipc::Status status = insist([&] { return channel.next(&info, ipc::Deadline(0)); });
        require(status == wanted, "next() tells another status than the document");
        if (status != IPC_OK) {
            require(channel.next(&info, ipc::Deadline(0)) == status, "a broken channel does not repeat its failure");
            return 0;
        }
        require(info.kind == expected.kind && info.id == expected.id && info.length == expected.length,
                "another header");
        rest = rest.subspan(16);
        const bool whole = rest.size() >= info.length;
        if (whole && dice.below(4) == 0) {
            require(channel.release() == IPC_OK, "a frame cannot be dropped unseen");
        } else {
            std::vector<std::byte> payload;
            const ipc::Status got = get_payload(channel, info.length, dice, &payload);
            require(got == (whole ? IPC_OK : IPC_TRUNCATED), "another status for the payload");
            if (!whole) return 0;
            require(std::equal(payload.begin(), payload.end(), rest.begin()), "another payload");
        }
        rest = rest.subspan(info.length);
    }
}
