// Linux answers for a single socket over netlink: sock_diag(7).
#include "posix/backoff.hpp"
#include "posix/descriptor.hpp"
#include "transports/tcp/proc_tcp_table.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/time.h>

namespace ipc {
namespace {

struct Request {
    nlmsghdr header;
    inet_diag_req_v2 question;
};

bool is_v4(const TcpEnd& end) {
    static constexpr std::array<uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(mapped.begin(), mapped.end(), end.address.begin());
}

void put(const TcpEnd& end, bool v4, __be32 (&address)[4], __be16* port) {
    std::memcpy(address, end.address.data() + (v4 ? 12 : 0), v4 ? 4 : 16);
    *port = htons(end.port);
}

Request ask_for(const TcpEnd& local, const TcpEnd& remote, uint32_t number) {
    const bool v4 = is_v4(local);
    Request request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.header.nlmsg_seq = number;
    request.question.sdiag_family = v4 ? AF_INET : AF_INET6;
    request.question.sdiag_protocol = IPPROTO_TCP;
    request.question.idiag_states = ~0u;
    put(local, v4, request.question.id.idiag_src, &request.question.id.idiag_sport);
    put(remote, v4, request.question.id.idiag_dst, &request.question.id.idiag_dport);
    request.question.id.idiag_cookie[0] = request.question.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return request;
}

} // namespace

struct SocketQuery::System {
    posix::Descriptor netlink;
    int shortage = 0;
    std::mutex mutex; // one question at a time
    uint32_t number = 0;
    std::atomic<bool> has_found{false};
    std::atomic<bool> answers{true};

    Answer unknown() {
        answers = false;
        return Answer::unknown;
    }

    // 0 and the answer, or the errno.
    int exchange(const TcpEnd& local, const TcpEnd& remote, inet_diag_msg* answer) {
        const std::lock_guard lock(mutex);
        const Request request = ask_for(local, remote, ++number);
        if (send(netlink.get(), &request, sizeof request, 0) != static_cast<ssize_t>(sizeof request)) return errno;
        while (true) {
            alignas(nlmsghdr) char bytes[1024];
            const ssize_t count = recv(netlink.get(), bytes, sizeof bytes, 0);
            if (count < 0 && errno == EINTR) continue;
            if (count < static_cast<ssize_t>(sizeof(nlmsghdr))) return count < 0 ? errno : EPROTO;
            nlmsghdr header;
            std::memcpy(&header, bytes, sizeof header);
            if (header.nlmsg_seq != number) continue; // the late answer to a question that was given up
            const size_t length = static_cast<size_t>(count) - NLMSG_HDRLEN;
            if (header.nlmsg_type == NLMSG_ERROR && length >= sizeof(nlmsgerr)) {
                nlmsgerr error;
                std::memcpy(&error, bytes + NLMSG_HDRLEN, sizeof error);
                return error.error == 0 ? EPROTO : -error.error;
            }
            if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < sizeof *answer) return EPROTO;
            std::memcpy(answer, bytes + NLMSG_HDRLEN, sizeof *answer);
            return 0;
        }
    }
};

SocketQuery::SocketQuery() : system_(new System) {
    system_->netlink.reset(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!system_->netlink && posix::is_shortage(errno)) system_->shortage = errno;
    // The system answers within the call that asks; should it ever not, the whole table is looked through.
    const timeval patience{0, 100'000};
    if (system_->netlink) setsockopt(system_->netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

SocketQuery::~SocketQuery() = default;

Answer SocketQuery::ask(const TcpEnd& local, const TcpEnd& remote, TcpRow* row) {
    inet_diag_msg answer{};
    if (!system_->netlink) return system_->unknown();
    switch (system_->exchange(local, remote, &answer)) {
    case 0:
        break;
    case ENOENT:
        // What it also says if it has no part for TCP. Who asks first asks about a connection whose other end is there to be found.
        if (system_->has_found || remote.port == 0 || system_->exchange(remote, local, &answer) == 0)
            return Answer::absent;
        return system_->unknown();
    default:
        return system_->unknown();
    }
    system_->has_found = true;
    row->local = local;
    row->remote = remote;
    row->state = tcp_state_of_linux(answer.idiag_state);
    row->owner = answer.idiag_uid;
    row->owned = answer.idiag_inode != 0; // 0: no process has it, or not yet
    row->timed = answer.idiag_timer != 0;
    return Answer::found;
}

bool SocketQuery::answers() const {
    return system_->answers;
}

int SocketQuery::shortage() const {
    return system_->shortage;
}

} // namespace ipc
