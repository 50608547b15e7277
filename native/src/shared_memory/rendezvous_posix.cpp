#include "posix/frame_listener.hpp"
#include "posix/local_socket.hpp"
#include "shared_memory/rendezvous.hpp"

#include <sys/socket.h>

namespace ipc::shared_memory {
namespace {

// Clients of ours send nothing over the socket, so there is no need to make memory for one that does.
bool has_spoken(int connection) {
    char byte;
    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

} // namespace

Status listen(const Form& form, const Address& address, FrameListener** listener) {
    posix::LocalName name;
    if (Status s = posix::private_name(address, form.name_prefix, &name)) return s;
    const auto welcome = [&form](const Address& of, posix::Descriptor connection, FrameChannel** channel) -> Status {
        if (has_spoken(connection.get())) return IPC_NOT_OUR_PROTOCOL;
        Link* link = nullptr;
        if (Status s = Link::offer(connection.release(), form.layout, form.slot_count(of), form.data_bytes(of),
                                   wait_policy(of), &link, form.memory_options(of)))
            return s;
        link->set_address(of.text());
        *channel = form.make_channel(std::unique_ptr<Link>(link), of.limit());
        return IPC_OK;
    };
    return posix::listen_local(address, name, welcome, listener);
}

Status connect(const Form& form, const Address& address, const Deadline& deadline, FrameChannel** channel) {
    posix::LocalName name;
    posix::Descriptor connection;
    if (Status s = posix::private_name(address, form.name_prefix, &name)) return s;
    if (Status s = posix::connect_local(name, deadline, &connection)) return s;
    Link* link = nullptr;
    if (Status s = Link::take_up(connection.release(), form.layout, wait_policy(address), name.path, deadline, &link,
                                 form.memory_options(address)))
        return s;
    link->set_address(address.text());
    *channel = form.make_channel(std::unique_ptr<Link>(link), address.limit());
    return IPC_OK;
}

} // namespace ipc::shared_memory
