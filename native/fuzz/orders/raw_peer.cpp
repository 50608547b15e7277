#include "raw_peer.hpp"

#include "content.hpp"
#include "finding.hpp"
#include "worker.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace fuzz {

void RawPeer::attach(Session& session, unsigned side) {
    session_ = &session;
    side_ = side;
}

void RawPeer::begin(Kind kind, uint32_t request, size_t length) {
    frame_ = {};
    frame_.kind = kind;
    frame_.sequence = session_->wire[side_].next_sequence();
    frame_.request = request;
    frame_.length = length;
    payload_.assign(content(side_, frame_.sequence), content(side_, frame_.sequence) + length);
    if (kind == Kind::fault) {
        const std::string text = fault_text(frame_.sequence);
        frame_.length = text.size();
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        payload_.assign(bytes, bytes + text.size());
    }
    id_ = kind == Kind::message ? 0 : request;
    done_ = 0;
    under_way_ = true;
    all_out_ = false;
    session_->wire[side_].begin(frame_);
}

bool RawPeer::put(size_t portion, bool wake) {
    if (!under_way_) return true;
    put_some(portion, wake);
    if (!all_out_) return false;
    under_way_ = false;
    session_->wire[side_].end(frame_.sequence, Way::sent);
    return true;
}

void RawPeer::got(Kind kind, const void* bytes, size_t length) {
    session_->wire[side_ ^ 1].take(kind, any_request, bytes, length);
}

// ---- handshake the library

namespace {

sockaddr_un address_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) finding("the path %s is too long for a socket", path.c_str());
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

const char* prefix_of(const std::string& transport) {
    return transport == "shm" ? "shm-" : transport == "shm-event" ? "event-" : "unix-";
}

} // namespace

int listen_at(const std::string& path) {
    const sockaddr_un address = address_at(path);
    unlink(path.c_str());
    const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(listening, 8) != 0)
        finding("cannot listen at %s: %s", path.c_str(), std::strerror(errno));
    remove_at_exit(path);
    return listening;
}

void remove_at_exit(const std::string& path) {
    struct Names {
        ~Names() {
            for (const std::string& name : all) unlink(name.c_str());
        }
        std::vector<std::string> all;
    };
    static Names names;
    names.all.push_back(path);
}

int connect_to(const std::string& path) {
    const sockaddr_un address = address_at(path);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        finding("cannot connect to %s: %s", path.c_str(), std::strerror(errno));
    return made;
}

// The private folder is where a listener of the library puts its socket.
std::string socket_path(const std::string& transport, const std::string& name) {
    static std::string folder;
    if (folder.empty()) {
        const std::string probe = "fuzz-probe-" + std::to_string(getpid());
        ipc_listener* listener = nullptr;
        if (ipc_listen(("shm://" + probe).c_str(), &listener) != IPC_OK) finding("cannot listen: %s", ipc_last_error());
        const std::string user = std::to_string(getuid());
        const char* runtime = std::getenv("XDG_RUNTIME_DIR");
        for (const std::string& one : {runtime == nullptr ? std::string() : std::string(runtime) + "/ipc",
                                       "/run/user/" + user + "/ipc", "/tmp/ipc-" + user})
            if (access((one + "/shm-" + probe).c_str(), F_OK) == 0) folder = one;
        ipc_listener_free(listener);
        if (folder.empty()) finding("the private folder is not where docs/wire-formats.md says");
    }
    return folder + "/" + prefix_of(transport) + name;
}

long send_with(int socket, const void* bytes, size_t length, const int* descriptors, size_t count) {
    iovec piece{const_cast<void*>(bytes), length};
    alignas(cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (count != 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

long receive_with(int socket, void* bytes, size_t length, int* descriptor) {
    iovec piece{bytes, length};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    *descriptor = -1;
    const long got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const cmsghdr* rights = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (rights != nullptr) std::memcpy(descriptor, CMSG_DATA(rights), sizeof(int));
    return got;
}

int make_handover_memory(uint32_t layout, uint32_t slots, uint64_t data_bytes, size_t* bytes) {
    *bytes = 4096 + ((size_t{2} * slots * 64 + 4095) & ~size_t{4095}) + 2 * data_bytes;
    const int memory = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const uint32_t header[6] = {0x4D435049,
                                version_of(layout),
                                layout,
                                slots,
                                static_cast<uint32_t>(data_bytes),
                                static_cast<uint32_t>(data_bytes >> 32)};
    if (ftruncate(memory, static_cast<off_t>(*bytes)) != 0 ||
        pwrite(memory, header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        finding("cannot make shared memory: %s", std::strerror(errno));
    return memory;
}

namespace {

std::unique_ptr<RawPeer> take_up(const std::string& transport, int socket, size_t limit, unsigned side) {
    if (transport == "unix") return make_stream_peer(socket);
    const bool rings = transport == "shm";
    const uint32_t layout = rings ? 1 : 2;
    uint32_t greeting[4] = {0x53435049, version_of(layout), layout, 0};
    int memory = -1;
    size_t bytes = 0;
    if (side == 1) {
        memory = rings ? make_handover_memory(layout, 64, 65536, &bytes)
                       : make_handover_memory(layout, 0, (limit + 4095) & ~size_t{4095}, &bytes);
        if (send_with(socket, greeting, sizeof greeting, &memory, 1) != static_cast<long>(sizeof greeting))
            finding("cannot hand the memory over: %s", std::strerror(errno));
    } else {
        uint32_t got[4] = {};
        if (receive_with(socket, got, sizeof got, &memory) != static_cast<long>(sizeof got) || memory < 0 ||
            std::memcmp(got, greeting, sizeof got) != 0)
            finding("what %s hands over is not what docs/wire-formats.md says", transport.c_str());
        struct stat about {};
        fstat(memory, &about);
        bytes = static_cast<size_t>(about.st_size);
    }
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    ::close(memory);
    if (mapped == MAP_FAILED) finding("cannot map %zu bytes: %s", bytes, std::strerror(errno));
    auto* start = static_cast<std::byte*>(mapped);
    return rings ? make_ring_peer(socket, start, bytes, side) : make_block_peer(socket, start, bytes, side);
}

struct ListenerOfLibrary {
    explicit ListenerOfLibrary(const std::string& address) {
        if (ipc_listen(address.c_str(), &listener) != IPC_OK) finding("cannot listen: %s", ipc_last_error());
    }
    ~ListenerOfLibrary() { ipc_listener_free(listener); }
    ipc_listener* listener = nullptr;
};

} // namespace

RawConnection connect_raw(const std::string& transport, const std::string& options, size_t limit,
                          unsigned library_side) {
    static std::map<std::string, std::unique_ptr<ListenerOfLibrary>> listeners;
    static std::map<std::string, int> raw_listeners;
    const std::string name = "fuzz-raw-" + std::to_string(getpid()) + (library_side == 0 ? "-r" : "-l");
    const std::string path = socket_path(transport, name);
    const std::string address = transport + "://" + name + "?" + options;
    RawConnection made;
    if (library_side == 1) {
        // One name for all options, so a listener goes when others are wanted.
        std::unique_ptr<ListenerOfLibrary>& listener = listeners[transport];
        static std::map<std::string, std::string> latest;
        if (listener == nullptr || latest[transport] != options) {
            listener.reset();
            listener = std::make_unique<ListenerOfLibrary>(address);
            latest[transport] = options;
        }
        const int socket = connect_to(path);
        if (ipc_accept(listener->listener, 5000, &made.library) != IPC_OK)
            finding("%s does not accept: %s", address.c_str(), ipc_last_error());
        made.peer = take_up(transport, socket, limit, 0);
        return made;
    }
    static Worker* connector = new Worker;
    if (!raw_listeners.contains(transport)) raw_listeners[transport] = listen_at(path);
    connector->give([&] {
        if (ipc_connect(address.c_str(), 5000, &made.library) != IPC_OK)
            finding("cannot connect to a raw listener: %s", ipc_last_error());
    });
    const int socket = accept4(raw_listeners[transport], nullptr, nullptr, SOCK_CLOEXEC);
    std::unique_ptr<RawPeer> peer = take_up(transport, socket, limit, 1);
    connector->wait_idle();
    made.peer = std::move(peer);
    return made;
}

} // namespace fuzz
