#include "core/transport.hpp"
#include "pieces/meeting.hpp"
#include "transports/iceoryx/iceoryx_link.hpp"
#include "transports/iceoryx/runtime_posix.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/random.h>

namespace ipc {
namespace {

using iceoryx::IceoryxLink;
using pieces::Greeting;
using pieces::PeerSocket;
using pieces::PieceLink;

constexpr size_t id_length = 32;

bool is_sensible(uint64_t piece_bytes, uint64_t window) {
    return piece_bytes >= 64 && piece_bytes <= (size_t{4} << 20) && window >= 4 && window % 4 == 0 &&
           window <= iox::popo::SubscriberChunkQueueData_t::MAX_CAPACITY;
}

Status check(const Address& address) {
    if (!is_sensible(address.option_size("piece"), address.option_count("depth")))
        return fail(IPC_BAD_OPTION,
                    "piece=%s and depth=%s in '%s': a piece has 64 bytes to 4M, a queue 4 to 256 of them, in fours",
                    address.option("piece").c_str(), address.option("depth").c_str(), address.text().c_str());
    return iceoryx::attach();
}

Status offer(const Address& address, std::shared_ptr<PeerSocket> peer, Greeting* greeting,
             std::unique_ptr<PieceLink>* link) {
    if (Status s = iceoryx::attach()) return s;
    uint64_t number[2];
    if (getrandom(number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        return fail_system(IPC_SYSTEM, errno, "cannot get random bytes for a connection's name");
    std::snprintf(greeting->id, sizeof greeting->id, "%016llx%016llx", static_cast<unsigned long long>(number[0]),
                  static_cast<unsigned long long>(number[1]));
    greeting->piece_bytes = address.option_size("piece");
    greeting->depth = address.option_count("depth");
    *link = std::make_unique<IceoryxLink>(greeting->id, true, greeting->piece_bytes, greeting->depth, std::move(peer));
    return IPC_OK;
}

Status take_up(const Address&, std::shared_ptr<PeerSocket> peer, const Greeting& greeting, const Deadline& deadline,
               std::unique_ptr<PieceLink>* link) {
    const std::string id = greeting.id;
    if (!is_sensible(greeting.piece_bytes, greeting.depth) || id.size() != id_length ||
        id.find_first_not_of("0123456789abcdef") != std::string::npos)
        return fail(IPC_NOT_OUR_PROTOCOL, "the server offered a connection that is not of the form expected");
    auto made = std::make_unique<IceoryxLink>(id, false, greeting.piece_bytes, greeting.depth, peer);
    constexpr int64_t slice_ns = 50'000'000;
    while (!made->connect(std::min(deadline.left_ns(), slice_ns))) {
        if (Status s = peer->look()) return s;
        if (peer->gone()) return fail(IPC_PEER_CLOSED, "the server closed or died while this client connected");
        if (deadline.expired()) return fail(IPC_TIMED_OUT, "RouDi did not connect publishers and subscribers in time");
    }
    *link = std::move(made);
    return IPC_OK;
}

const pieces::Form form{"iceoryx-", 0x58494350 /* "PCIX" */, true, check, [](const Address&) {}, offer, take_up};

} // namespace

extern const Transport transport_iceoryx{
    [](const Address& address, FrameListener** listener) { return pieces::listen(form, address, listener); },
    [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        return pieces::connect(form, address, deadline, channel);
    }};

} // namespace ipc
