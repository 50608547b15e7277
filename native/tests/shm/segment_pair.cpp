#include "segment_pair.hpp"

#include "core/status.hpp"

#include <gtest/gtest.h>

using namespace ipc::shared_memory;

SegmentPair make_segment_pair(const LinkForm& form) {
    Connection ends[2];
    connect_pair(ends);
    const WaitPolicy policy{form.wait, 20'000};
    Segment *server = nullptr, *client = nullptr;
    EXPECT_EQ(IPC_OK, Segment::offer(ends[0], form.layout, form.slots, form.data_bytes, policy, &server))
        << ipc::last_error();
    EXPECT_EQ(IPC_OK, Segment::take_up(ends[1], form.layout, policy, {}, forever, &client)) << ipc::last_error();
    return {std::unique_ptr<Segment>(server), std::unique_ptr<Segment>(client)};
}

ChannelPair make_channel_pair(const LinkForm& form, size_t limit) {
    SegmentPair segments = make_segment_pair(form);
    return {std::make_unique<ipc::shm::ShmChannel>(std::move(segments.server), limit),
            std::make_unique<ipc::shm::ShmChannel>(std::move(segments.client), limit)};
}

std::vector<std::byte> pattern(size_t length, unsigned seed) {
    std::vector<std::byte> bytes(length);
    unsigned state = seed * 2654435761u + 1;
    for (auto& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
    return bytes;
}
