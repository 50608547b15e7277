#include "shared_memory/handover.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace ipc::shared_memory {
namespace {

constexpr size_t most_sent = 2;
constexpr size_t most_received = 8; // a hostile peer may send more than it should; the kernel closes what finds no room

} // namespace

int send_with_descriptors(int socket, const void* bytes, size_t length, const int* descriptors, size_t count) {
    iovec vector{const_cast<void*>(bytes), length};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_sent)] = {};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (count != 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
        std::memcpy(CMSG_DATA(rights), descriptors, sizeof(int) * count);
    }
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(length)) return 0;
    return sent < 0 ? errno : EPIPE;
}

long receive_with_descriptors(int socket, void* bytes, size_t length, posix::Descriptor* descriptors, size_t most,
                              size_t* count) {
    iovec vector{bytes, length};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_received)] = {};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    *count = 0;
    if (got < 0) return -errno;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        for (size_t i = 0; i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
            int descriptor;
            std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
            posix::Descriptor received(descriptor);
            if (*count < most) descriptors[*count] = std::move(received);
            ++*count;
        }
    }
    // Cut off although there was room: for what is missing there was no descriptor.
    if ((message.msg_flags & MSG_CTRUNC) == 0 || *count >= most_received) return got;
    std::for_each(descriptors, descriptors + std::min(most, *count), [](posix::Descriptor& one) { one.reset(); });
    *count = 0;
    return -EMFILE;
}

} // namespace ipc::shared_memory
