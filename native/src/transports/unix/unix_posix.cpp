// `unix`: frames over a Unix socket in the private folder, or at an absolute path.
#include "posix/local_stream.hpp"

namespace ipc {
namespace {

Status find_socket_name(const Address& address, posix::LocalName* name) {
    if (!address.name().starts_with('/')) return posix::private_name(address, "unix-", name);
    if (address.name().ends_with('/'))
        return fail(IPC_BAD_ADDRESS, "'%.200s' ends with '/': give the socket in that folder a name",
                    address.text().c_str());
    // Its lock guards this name as well.
    posix::Descriptor folder;
    if (Status status = posix::open_folder_of_user(posix::private_folder(), &folder); status != IPC_OK) return status;
    *name = {address.text(), address.name()};
    return IPC_OK;
}

} // namespace

extern constinit const Transport transport_unix = posix::local_stream_transport<find_socket_name>();

} // namespace ipc
