#include "posix/frame_listener.hpp"
#include "posix/local_socket.hpp"
#include "shared_memory/handshake.hpp"

#include <sys/socket.h>

namespace ipc::shared_memory {
namespace {

// Clients of ours send nothing over the socket, so there is no need to make memory for one that does.
bool has_spoken(int connection) {
    char byte;
    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

} // namespace

Status listen(const TransportTraits& traits, const Address& address, FrameListener** listener) {
    posix::LocalName name;
    if (Status s = posix::private_name(address, traits.name_prefix, &name)) return s;
    const auto welcome = [&traits](const Address& of, posix::Descriptor connection, FrameChannel** channel) -> Status {
        if (has_spoken(connection.get())) return IPC_NOT_OUR_PROTOCOL;
        Segment* segment = nullptr;
        if (Status s = Segment::offer(connection.release(), traits.layout, traits.slot_count(of), traits.data_bytes(of),
                                      wait_policy(of), &segment, traits.memory_options(of)))
            return s;
        segment->set_address(of.text());
        *channel = traits.make_channel(std::unique_ptr<Segment>(segment), of.limit());
        return IPC_OK;
    };
    return posix::listen_local(address, name, welcome, listener);
}

Status connect(const TransportTraits& traits, const Address& address, const Deadline& deadline,
               FrameChannel** channel) {
    posix::LocalName name;
    posix::Descriptor connection;
    if (Status s = posix::private_name(address, traits.name_prefix, &name)) return s;
    if (Status s = posix::connect_local(name, deadline, &connection)) return s;
    Segment* segment = nullptr;
    if (Status s = Segment::take_up(connection.release(), traits.layout, wait_policy(address), name.path, deadline,
                                    &segment, traits.memory_options(address)))
        return s;
    segment->set_address(address.text());
    *channel = traits.make_channel(std::unique_ptr<Segment>(segment), address.limit());
    return IPC_OK;
}

} // namespace ipc::shared_memory
