#include "bad_clients_posix.hpp"

#include "core/address.hpp"
#include "core/registry.hpp"
#include "posix/names.hpp"
#include "transports/fifo/fifo_names_posix.hpp"

#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>

namespace ipc::test {
namespace {

using posix::Descriptor;

std::string path_of(const Address& address) {
    const std::string transport = address.transport().id;
    if (transport == "pipe") {
        const char* folder = std::getenv("TMPDIR");
        return (folder != nullptr && *folder != '\0' ? std::string(folder) : "/tmp") + "/CoreFxPipe_" + address.name();
    }
    posix::LocalName name;
    if (posix::private_name(address, transport == "shm-event" ? "event-" : transport + "-", &name) != IPC_OK) return {};
    return name.path;
}

Descriptor connect_socket(const Address& address) {
    sockaddr_storage where{};
    socklen_t length = 0;
    if (address.transport().id == std::string("tcp")) {
        auto& in = reinterpret_cast<sockaddr_in&>(where);
        in.sin_family = AF_INET;
        in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        in.sin_port = htons(static_cast<uint16_t>(std::stoi(address.name().substr(address.name().rfind(':') + 1))));
        length = sizeof in;
    } else {
        auto& un = reinterpret_cast<sockaddr_un&>(where);
        un.sun_family = AF_UNIX;
        const std::string path = path_of(address);
        std::memcpy(un.sun_path, path.c_str(), std::min(path.size(), sizeof un.sun_path - 1));
        length = sizeof un;
    }
    Descriptor made(socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made && connect(made.get(), reinterpret_cast<const sockaddr*>(&where), length) != 0) made.reset();
    return made;
}

std::string random_token() {
    static std::mt19937_64 random(std::random_device{}());
    std::string token;
    while (token.size() < fifo_token_size) token += "0123456789abcdef"[random() % 16];
    return token;
}

} // namespace

bool BadClient::come(const std::string& text, Badness badness) {
    Address address;
    if (Address::parse(text, &address) != IPC_OK) return false;
    if (address.transport().id == std::string("fifo")) return come_by_fifo(path_of(address), badness);
    Descriptor connection = connect_socket(address);
    if (!connection) return false;
    if (badness == Badness::leaves) return true;
    const std::string nonsense(64, '\xEE');
    if (badness == Badness::lies &&
        send(connection.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL | MSG_DONTWAIT) <= 0)
        return false;
    held_.push_back(std::move(connection));
    return true;
}

bool BadClient::come_by_fifo(const std::string& path, Badness badness) {
    // Waits for room in the FIFO, as a client does.
    Descriptor handshake_fifo(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!handshake_fifo) return false;
    const std::string nonsense(fifo_record_size, '\xEE');
    if (badness == Badness::lies)
        return write(handshake_fifo.get(), nonsense.data(), nonsense.size()) == static_cast<ssize_t>(nonsense.size());
    const std::string token = random_token();
    auto pair = std::make_unique<FifoPair>(path, token);
    Descriptor down;
    if (pair->make(Deadline(1000), &down) != IPC_OK) return false;
    const FifoRecord record = make_fifo_record(token);
    if (write(handshake_fifo.get(), record.data(), record.size()) != static_cast<ssize_t>(record.size())) return false;
    if (badness == Badness::leaves) return true;
    pair_ = std::move(pair); // the server takes the names away, unless it ends first
    held_.push_back(std::move(down));
    return true;
}

} // namespace ipc::test
