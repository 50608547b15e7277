#pragma once

#include "core/transport.hpp"
#include "posix/names.hpp"

namespace ipc::posix {

// Frames over Unix sockets: what `pipe` and `unix` have in common, that is all but where the name stands.
Status listen_frames(const Address& address, const LocalName& name, FrameListener** listener);
Status connect_frames(const Address& address, const LocalName& name, const Deadline& deadline, FrameChannel** channel);

// Such a transport; find_name says where the name of an address stands, or why it cannot stand anywhere.
template <Status (*find_name)(const Address& address, LocalName* name)>
constexpr Transport local_stream_transport() {
    Transport transport;
    transport.listen = [](const Address& address, FrameListener** listener) {
        LocalName name;
        if (Status s = find_name(address, &name)) return s;
        return listen_frames(address, name, listener);
    };
    transport.connect = [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        LocalName name;
        if (Status s = find_name(address, &name)) return s;
        return connect_frames(address, name, deadline, channel);
    };
    return transport;
}

} // namespace ipc::posix
