// `pipe` on Linux: frames over a Unix socket that stands where .NET puts its named pipes, so that a plain
// NamedPipeClientStream or NamedPipeServerStream can be the other side.
#include "core/plain_name.hpp"
#include "posix/local_stream.hpp"

#include <cstdlib>

namespace ipc {
namespace {

Status find_pipe_name(const Address& address, posix::LocalName* name) {
    if (Status status = check_plain_name(address); status != IPC_OK) return status;
    if (address.option("mode") != "byte")
        return fail(IPC_BAD_OPTION,
                    "%s asks for mode=message, which only Windows' pipes have: omit it; message boundaries are kept "
                    "all the same",
                    address.text().c_str());
    // Its lock guards this name as well: without the folder a listener could not be, so a client shall hear the same.
    posix::Descriptor folder;
    if (Status status = posix::open_folder_of_user(posix::private_folder(), &folder); status != IPC_OK) return status;
    const char* temporary = std::getenv("TMPDIR");
    std::string path = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
    if (!path.ends_with('/')) path += '/';
    *name = {address.text(), path + "CoreFxPipe_" + address.name()};
    return IPC_OK;
}

} // namespace

extern constinit const Transport transport_pipe = posix::local_stream_transport<find_pipe_name>();

} // namespace ipc
