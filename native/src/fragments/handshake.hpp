#pragma once

#include "core/address.hpp"
#include "core/frame_channel.hpp"
#include "fragments/fragment_carrier.hpp"
#include "fragments/peer_socket.hpp"

#include <cstdint>
#include <memory>

namespace ipc::fragments {

// What the server tells its client over the socket: how to find the library's objects of this connection.
struct Greeting {
    uint32_t magic;
    uint32_t version;
    uint64_t fragment_bytes;
    uint64_t depth;
    char id[232]; // ends with a zero byte
};
static_assert(sizeof(Greeting) == 256);

// What differs between the transports that meet over a Unix socket and then talk through a foreign library.
struct TransportTraits {
    const char* name_prefix; // of the socket in the private folder
    uint32_t magic;
    bool tokens; // whether the carrier lets tokens pass over the socket
    // Whether the library can work here at all and the options make sense; before anything is made.
    Status (*check)(const Address& address);
    // Removes what killed servers of this name left behind; the listener has the name.
    void (*sweep)(const Address& address);
    // The server's end: makes the connection's objects and fills in fragment_bytes, depth and id.
    Status (*offer)(const Address& address, std::shared_ptr<PeerSocket> peer, Greeting* greeting,
                    std::unique_ptr<FragmentCarrier>* carrier);
    // The client's end: the greeting comes from the peer and is to be checked.
    Status (*take_up)(const Address& address, std::shared_ptr<PeerSocket> peer, const Greeting& greeting,
                      const Deadline& deadline, std::unique_ptr<FragmentCarrier>* carrier);
};

// The two functions of such a transport. The system-dependent half is handshake_posix.cpp.
Status listen(const TransportTraits& traits, const Address& address, FrameListener** listener);
Status connect(const TransportTraits& traits, const Address& address, const Deadline& deadline, FrameChannel** channel);

} // namespace ipc::fragments
