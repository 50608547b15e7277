// Where two processes meet: hostile servers that clients of the library connect to, and hostile clients at listeners of the
// library. Nothing may crash, nothing last longer than its time-out; ipc_accept gives channels and nothing else, and whoever
// connects properly is served, whatever other connections are pending.
//
// An input: a byte that chooses the transport and who is the library, then what the hostile ones do, each in turn.
#include "finding.hpp"
#include "hostile_handover.hpp"
#include "input.hpp"
#include "raw_peer.hpp"
#include "transports.hpp"
#include "watchdog.hpp"
#include "worker.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using fuzz::finding;
using fuzz::Input;

constexpr std::array<const char*, 4> transports{"shm", "shm-event", "fifo", "unix"};
constexpr const char* options = "?max=100k";

std::string path_of(const std::string& transport, const std::string& name) {
    if (transport != "fifo") return fuzz::socket_path(transport, name);
    const std::string unix_path = fuzz::socket_path("unix", name);
    return unix_path.substr(0, unix_path.rfind('/')) + "/fifo-" + name;
}

struct Watch {
    Watch(fuzz::Watched& watched, const char* function, int32_t timeout_ms) : watched_(watched) {
        watched.enter(function, timeout_ms, nullptr);
    }
    ~Watch() { watched_.leave(); }
    fuzz::Watched& watched_;
};

fuzz::Watched& mine() {
    static auto* watched = new fuzz::Watched;
    return *watched;
}

// Whatever a channel is connected to, each function must come back.
void try_channel(ipc_channel* channel) {
    std::array<char, 200> buffer{};
    size_t length = 0;
    const auto use = [&](const char* function, auto body) {
        const Watch watch(mine(), function, 2);
        const ipc_status status = body();
        fuzz::trace("%s -> %s", function, ipc_status_text(status));
        if (status == IPC_SYSTEM || status == IPC_OUT_OF_MEMORY) finding("%s: %s", function, ipc_last_error());
    };
    use("ipc_send", [&] { return ipc_send(channel, "hello", 5, 2); });
    use("ipc_receive", [&] { return ipc_receive(channel, buffer.data(), buffer.size(), &length, 2); });
    use("ipc_call", [&] { return ipc_call(channel, "hello", 5, buffer.data(), buffer.size(), &length, 2); });
    const Watch watch(mine(), "ipc_channel_free", 0);
    ipc_channel_free(channel);
}

// ---- the library connects

void connect_to_hostile_server(const std::string& transport, Input& input) {
    static auto* connector = new fuzz::Worker;
    static auto* watched = new fuzz::Watched;
    static std::map<std::string, int> listeners;
    const std::string name = "fuzz-server-" + std::to_string(getpid());
    const std::string path = path_of(transport, name);
    if (!listeners.contains(transport)) {
        if (transport == "fifo") {
            mkfifo(path.c_str(), 0600);
            fuzz::remove_at_exit(path);
            listeners[transport] = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        } else {
            listeners[transport] = fuzz::listen_at(path);
        }
    }
    constexpr int32_t timeout_ms = 20;
    ipc_channel* channel = nullptr;
    ipc_status status = IPC_OK;
    connector->give([&] {
        const Watch watch(*watched, "ipc_connect", timeout_ms);
        status = ipc_connect((transport + "://" + name + options).c_str(), timeout_ms, &channel);
        fuzz::trace("ipc_connect -> %s: %s", ipc_status_text(status), status == IPC_OK ? "" : ipc_last_error());
    });
    fuzz::Litter litter;
    if (transport == "fifo") {
        fuzz::answer_handshake(path, listeners[transport], input, litter);
    } else {
        const int socket = accept4(listeners[transport], nullptr, nullptr, SOCK_CLOEXEC);
        litter.descriptors.push_back(socket);
        if (transport != "unix") fuzz::greet(socket, transport == "shm" ? 1 : 2, input);
    }
    connector->wait_idle();
    if ((status == IPC_OK) != (channel != nullptr))
        finding("ipc_connect: '%s', and a channel or none", ipc_status_text(status));
    if (channel != nullptr) try_channel(channel);
}

// ---- the library listens

struct Listening {
    explicit Listening(const std::string& transport) : name("fuzz-door-" + std::to_string(getpid())) {
        if (ipc_listen((transport + "://" + name + options).c_str(), &listener) != IPC_OK)
            finding("cannot listen: %s", ipc_last_error());
    }
    ~Listening() { ipc_listener_free(listener); }
    std::string name;
    ipc_listener* listener = nullptr;
};

bool is_from(ipc_channel* channel, const std::string& word) {
    std::array<char, 64> buffer{};
    size_t length = 0;
    const Watch watch(mine(), "ipc_receive", 0);
    return ipc_receive(channel, buffer.data(), buffer.size(), &length, 0) == IPC_OK &&
           word == std::string(buffer.data(), length);
}

void serve_good_client_among_hostile_ones(const std::string& transport, Input& input) {
    static std::map<std::string, std::unique_ptr<Listening>> listening;
    static auto* client = new fuzz::Worker;
    static uint32_t count = 0;
    std::unique_ptr<Listening>& listener = listening[transport];
    if (listener == nullptr) listener = std::make_unique<Listening>(transport);
    const std::string path = path_of(transport, listener->name);
    const std::string word = "good client " + std::to_string(++count);
    constexpr int32_t patience_ms = 3000;

    fuzz::Litter litter;
    const size_t hostile = 1 + input.byte() % 6;
    for (size_t i = 0; i < hostile; ++i) {
        if (transport == "fifo") {
            fuzz::bother_handshake(path, input, litter);
            continue;
        }
        const int socket = fuzz::connect_to(path);
        if (fuzz::bother(socket, input))
            close(socket);
        else
            litter.descriptors.push_back(socket);
    }
    std::atomic<bool> served{false};
    ipc_channel* good = nullptr;
    client->give([&] {
        const ipc_status status =
            ipc_connect((transport + "://" + listener->name + options).c_str(), patience_ms, &good);
        if (status != IPC_OK) finding("a good client of %s is not let in: %s", transport.c_str(), ipc_last_error());
        if (ipc_send(good, word.data(), word.size(), patience_ms) != IPC_OK)
            finding("a good client of %s cannot send: %s", transport.c_str(), ipc_last_error());
        served = true;
    });
    std::array<ipc_channel*, 16> accepted{};
    size_t accepted_count = 0;
    ipc_channel* theirs = nullptr;
    const auto start = std::chrono::steady_clock::now();
    while (theirs == nullptr) {
        ipc_channel* channel = nullptr;
        constexpr int32_t look_ms = 20;
        {
            const Watch watch(mine(), "ipc_accept", look_ms);
            const ipc_status status = ipc_accept(listener->listener, look_ms, &channel);
            fuzz::trace("ipc_accept -> %s: %s", ipc_status_text(status), status == IPC_OK ? "" : ipc_last_error());
            if (status != IPC_OK && status != IPC_TIMED_OUT)
                finding("ipc_accept of %s returns '%s' (%s)", transport.c_str(), ipc_status_text(status),
                        ipc_last_error());
        }
        if (channel != nullptr) {
            if (accepted_count > hostile) finding("%s accepted more than ever connected", transport.c_str());
            accepted[accepted_count++] = channel;
        }
        // Hostile ones that have done nothing wrong yet are let in as well: the good one is who says the word.
        for (size_t one = 0; one < accepted_count && theirs == nullptr; ++one)
            if (served && is_from(accepted[one], word)) theirs = accepted[one];
        if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(2 * patience_ms))
            finding("a good client of %s waits in vain", transport.c_str());
    }
    client->wait_idle();
    for (size_t one = 0; one < accepted_count; ++one)
        if (accepted[one] != theirs) try_channel(accepted[one]);
    ipc_channel_free(good);
    ipc_channel_free(theirs);
}

} // namespace

// libFuzzer calls this by name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 4) return -1;
    Input input(data, size);
    const uint8_t choice = input.byte();
    const std::string transport = transports[choice / 2 % transports.size()];
    fuzz::clear_trace();
    fuzz::trace("---- %s, a hostile %s", transport.c_str(), choice % 2 == 0 ? "server" : "client");
    if (choice % 2 == 0)
        connect_to_hostile_server(transport, input);
    else
        serve_good_client_among_hostile_ones(transport, input);
    return 0;
}
