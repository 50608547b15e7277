#include "core/transport.hpp"
#include "fragments/handshake.hpp"
#include "transports/iceoryx/iceoryx_carrier.hpp"
#include "transports/iceoryx/runtime_posix.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/random.h>

namespace ipc {
namespace {

using fragments::FragmentCarrier;
using fragments::Greeting;
using fragments::PeerSocket;
using iceoryx::IceoryxCarrier;

constexpr size_t id_length = 32;

bool is_sensible(uint64_t fragment_bytes, uint64_t window) {
    return fragment_bytes >= 64 && fragment_bytes <= (size_t{4} << 20) && window >= 4 && window % 4 == 0 &&
           window <= iox::popo::SubscriberChunkQueueData_t::MAX_CAPACITY;
}

Status check(const Address& address) {
    if (!is_sensible(address.option_size("fragment"), address.option_count("depth")))
        return fail(
            IPC_BAD_OPTION,
            "fragment=%s and depth=%s in '%s': a fragment has 64 bytes to 4M, a queue 4 to 256 of them, in fours",
            address.option("fragment").c_str(), address.option("depth").c_str(), address.text().c_str());
    return iceoryx::attach();
}

Status offer(const Address& address, std::shared_ptr<PeerSocket> peer, Greeting* greeting,
             std::unique_ptr<FragmentCarrier>* carrier) {
    if (Status s = iceoryx::attach()) return s;
    uint64_t number[2];
    if (getrandom(number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        return fail_system(IPC_SYSTEM, errno, "cannot get random bytes for a connection's name");
    std::snprintf(greeting->id, sizeof greeting->id, "%016llx%016llx", static_cast<unsigned long long>(number[0]),
                  static_cast<unsigned long long>(number[1]));
    greeting->fragment_bytes = address.option_size("fragment");
    greeting->depth = address.option_count("depth");
    *carrier = std::make_unique<IceoryxCarrier>(greeting->id, true, greeting->fragment_bytes, greeting->depth,
                                                std::move(peer));
    return IPC_OK;
}

Status take_up(const Address&, std::shared_ptr<PeerSocket> peer, const Greeting& greeting, const Deadline& deadline,
               std::unique_ptr<FragmentCarrier>* carrier) {
    const std::string id = greeting.id;
    if (!is_sensible(greeting.fragment_bytes, greeting.depth) || id.size() != id_length ||
        id.find_first_not_of("0123456789abcdef") != std::string::npos)
        return fail(IPC_NOT_OUR_PROTOCOL, "the server offered a connection that is not of the form expected");
    auto made = std::make_unique<IceoryxCarrier>(id, false, greeting.fragment_bytes, greeting.depth, peer);
    constexpr int64_t slice_ns = 50'000'000;
    while (!made->connect(std::min(deadline.left_ns(), slice_ns))) {
        if (Status s = peer->look()) return s;
        if (peer->gone()) return fail(IPC_PEER_CLOSED, "the server closed or died while this client connected");
        if (deadline.expired()) return fail(IPC_TIMED_OUT, "RouDi did not connect publishers and subscribers in time");
    }
    *carrier = std::move(made);
    return IPC_OK;
}

const fragments::TransportTraits traits{"iceoryx-", 0x58494350 /* "PCIX" */, true, check, [](const Address&) {}, offer,
                                        take_up};

} // namespace

extern const Transport transport_iceoryx{
    [](const Address& address, FrameListener** listener) { return fragments::listen(traits, address, listener); },
    [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        return fragments::connect(traits, address, deadline, channel);
    }};

} // namespace ipc
