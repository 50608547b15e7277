// What comes over the handover socket, and what a client must not map.
#include "core/status.hpp"
#include "segment_pair.hpp"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace ipc::shared_memory;
using ipc::FrameInfo;
using ipc::shm::ShmChannel;

TEST(HostilePeer, BytesOnTheHandoverSocketBreakOnlyItsOwnChannel) {
    int ends[2];
    ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    Segment* server = nullptr;
    ASSERT_EQ(IPC_OK, Segment::offer(ends[0], Layout::slots, 16, 65536, {WaitMode::block, 0}, &server));
    ShmChannel channel(std::unique_ptr<Segment>(server), 1000);
    ASSERT_EQ(4, write(ends[1], "GET ", 4));
    FrameInfo info{};
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, channel.next(&info, ipc::Deadline(2000)));
    close(ends[1]);
}

namespace {

ipc::Status take_up_from(const void* greeting, size_t length, int memory) {
    int ends[2];
    EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    iovec bytes{const_cast<void*>(greeting), length};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (memory >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &memory, sizeof(int));
    }
    EXPECT_EQ(static_cast<ssize_t>(length), sendmsg(ends[0], &message, 0));
    Segment* segment = nullptr;
    ipc::Status s = Segment::take_up(ends[1], Layout::slots, {WaitMode::spin, 0}, {}, ipc::Deadline(1000), &segment);
    delete segment;
    close(ends[0]);
    return s;
}

constexpr uint32_t slots_version = version_of(Layout::slots);
constexpr uint32_t good_greeting[4] = {handover_magic, slots_version, 1, 0};

} // namespace

TEST(HostileServer, GreetsWrongly) {
    const uint32_t wrong_magic[4] = {1, slots_version, 1, 0}, old_version[4] = {handover_magic, 1, 1, 0},
                   new_version[4] = {handover_magic, slots_version + 1, 1, 0},
                   wrong_layout[4] = {handover_magic, slots_version, 2, 0};
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(wrong_magic, 16, 0));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(old_version, 16, 0));
    EXPECT_STREQ("the server speaks version 1 of this transport and this process version 3: use the same release of "
                 "ipc at both ends",
                 ipc_last_error());
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(new_version, 16, 0));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(wrong_layout, 16, 0));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(good_greeting, 16, -1)) << "no descriptor came along";
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(good_greeting, 7, 0)) << "cut short";
}

TEST(HostileServer, HandsOverMemoryItCouldShrink) {
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(0, ftruncate(fd, 4096 * 64));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(good_greeting, 16, fd));
    close(fd);
}

TEST(HostileServer, HandsOverMemoryOfAnotherForm) {
    const uint32_t headers[][6] = {
        {mapping_magic, slots_version, 1, 1u << 31, 0, 0},   // more slots than there may be
        {mapping_magic, slots_version, 1, 16, 65536, 0},     // more data than there is
        {mapping_magic, slots_version - 1, 1, 16, 32768, 0}, // of the version before
    };
    for (const auto& header : headers) {
        int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ASSERT_EQ(0, ftruncate(fd, 4096 * 18));
        ASSERT_EQ(static_cast<ssize_t>(sizeof header), pwrite(fd, header, sizeof header, 0));
        ASSERT_EQ(0, fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
        EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, take_up_from(good_greeting, 16, fd));
        close(fd);
    }
}
