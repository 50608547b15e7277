#include "channels.hpp"
#include "raw_peer.hpp"
#include "win32/pipe_stream.hpp"
#include "win32/socket_stream.hpp" // before windows.h

#include <psapi.h>

namespace ipc::test {
namespace {

using win32::Handle;
using win32::PipeMode;

class PipePeer final : public RawPeer {
  public:
    explicit PipePeer(Handle pipe) : pipe_(std::move(pipe)) {}
    size_t write(const std::byte* data, size_t length) override {
        OVERLAPPED operation{};
        operation.hEvent = written_.get();
        WriteFile(pipe_.get(), data, static_cast<DWORD>(length), nullptr, &operation);
        return finish(&operation);
    }
    size_t read(std::byte* buffer, size_t capacity) override {
        OVERLAPPED operation{};
        operation.hEvent = read_.get();
        ReadFile(pipe_.get(), buffer, static_cast<DWORD>(capacity), nullptr, &operation);
        return finish(&operation);
    }
    void hang_up() override { pipe_.reset(); }

  private:
    size_t finish(OVERLAPPED* operation) {
        DWORD count = 0;
        if (GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_NO_DATA) return 0;
        GetOverlappedResult(pipe_.get(), operation, &count, TRUE);
        return count;
    }

    Handle pipe_;
    Handle read_{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
    Handle written_{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
};

class SocketPeer final : public RawPeer {
  public:
    explicit SocketPeer(win32::Socket socket) : socket_(std::move(socket)) {}
    size_t write(const std::byte* data, size_t length) override {
        const int count = ::send(socket_.get(), reinterpret_cast<const char*>(data), static_cast<int>(length), 0);
        return count > 0 ? static_cast<size_t>(count) : 0;
    }
    size_t read(std::byte* buffer, size_t capacity) override {
        const int count = ::recv(socket_.get(), reinterpret_cast<char*>(buffer), static_cast<int>(capacity), 0);
        return count > 0 ? static_cast<size_t>(count) : 0;
    }
    void hang_up() override { socket_.reset(); }

  private:
    win32::Socket socket_;
};

void make_socket_stream(std::unique_ptr<ByteStream>* stream, std::unique_ptr<RawPeer>* peer) {
    if (win32::start_sockets() != IPC_OK) return;
    const win32::Socket listening(::socket(AF_INET, SOCK_STREAM, 0));
    win32::Socket client(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&place);
    int length = sizeof place;
    if (bind(listening.get(), generic, length) != 0 || ::listen(listening.get(), 1) != 0 ||
        getsockname(listening.get(), generic, &length) != 0 || ::connect(client.get(), generic, length) != 0)
        return;
    win32::Socket server(::accept(listening.get(), nullptr, nullptr));
    auto made = std::make_unique<win32::SocketStream>(std::move(client));
    if (!server || made->open() != IPC_OK) return;
    *stream = std::move(made);
    *peer = std::make_unique<SocketPeer>(std::move(server));
}

} // namespace

std::vector<Kind> stream_kinds() {
    return {Kind::socket, Kind::pipe, Kind::message_pipe};
}

void make_stream(Kind kind, std::unique_ptr<ByteStream>* stream, std::unique_ptr<RawPeer>* peer) {
    if (kind == Kind::socket) {
        make_socket_stream(stream, peer);
        return;
    }
    const PipeMode mode = kind == Kind::pipe ? PipeMode::byte : PipeMode::message;
    Address address;
    win32::PipeName name;
    std::unique_ptr<win32::LocalPipeListener> listener;
    Handle client;
    Handle server;
    if (Address::parse("pipe://" + unique_name(), &address) != IPC_OK ||
        win32::private_pipe_name(address, "test-", &name) != IPC_OK ||
        win32::LocalPipeListener::open(name, mode, &listener) != IPC_OK ||
        win32::connect_local_pipe(name, mode, Deadline(5000), &client) != IPC_OK ||
        listener->accept(Deadline(5000), &server) != IPC_OK)
        return;
    auto made = std::make_unique<win32::PipeStream>(std::move(client), mode);
    if (made->open() != IPC_OK) return;
    *stream = std::move(made);
    *peer = std::make_unique<PipePeer>(std::move(server));
}

size_t bytes_in_use() {
    PROCESS_MEMORY_COUNTERS_EX counters{};
    GetProcessMemoryInfo(GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters), sizeof counters);
    return counters.PrivateUsage;
}

} // namespace ipc::test
