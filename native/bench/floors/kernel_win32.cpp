#include "ping_pong.hpp"

#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>
#include <windows.h>

// What the lab calls pipe and unix on Linux: here a pair of anonymous pipes and one duplex named pipe.
namespace floors {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(static_cast<int>(GetLastError()), std::system_category(), what);
}

class End {
  public:
    explicit End(HANDLE handle = INVALID_HANDLE_VALUE) : handle_(handle) {}
    ~End() { close(); }
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    HANDLE get() const { return handle_; }
    HANDLE* put() { return &handle_; }
    void close() {
        if (handle_ != INVALID_HANDLE_VALUE) CloseHandle(handle_);
        handle_ = INVALID_HANDLE_VALUE;
    }

  private:
    HANDLE handle_;
};

void write_all(HANDLE to, const char* data, size_t size) {
    while (size != 0) {
        DWORD done = 0;
        if (!WriteFile(to, data, static_cast<DWORD>(size), &done, nullptr)) fail("WriteFile");
        data += done;
        size -= done;
    }
}

// False at the end of the stream.
bool read_all(HANDLE from, char* data, size_t size) {
    while (size != 0) {
        DWORD done = 0;
        if (!ReadFile(from, data, static_cast<DWORD>(size), &done, nullptr)) {
            if (GetLastError() == ERROR_BROKEN_PIPE) return false;
            fail("ReadFile");
        }
        if (done == 0) return false;
        data += done;
        size -= done;
    }
    return true;
}

// A message of no bytes still has to be one on a stream: one byte stands for it.
size_t at_least_one(size_t size) {
    return size == 0 ? 1 : size;
}

// `hang_up` ends the client's half, which ends serve.
double streams_rtt_ns(const Setup& setup, Sizes sizes, HANDLE server_in, HANDLE server_out, HANDLE client_in,
                      HANDLE client_out, const std::function<void()>& hang_up) {
    std::vector<char> request(at_least_one(sizes.request), 'q'), answer(at_least_one(sizes.reply), 'r');
    std::vector<char> received(request.size()), reply(answer.size());
    auto serve = [&] {
        while (read_all(server_in, received.data(), received.size()))
            write_all(server_out, answer.data(), answer.size());
    };
    auto exchange = [&] {
        write_all(client_out, request.data(), request.size());
        if (!read_all(client_in, reply.data(), reply.size()))
            throw std::runtime_error("the answering side of a floor ended");
    };
    return median_rtt_ns(setup, serve, exchange, hang_up);
}

constexpr DWORD buffer_bytes = 64 * 1024;

} // namespace

double pipe_rtt_ns(const Setup& setup, Sizes sizes) {
    End server_in, client_out, client_in, server_out;
    if (!CreatePipe(server_in.put(), client_out.put(), nullptr, buffer_bytes) ||
        !CreatePipe(client_in.put(), server_out.put(), nullptr, buffer_bytes))
        fail("CreatePipe");
    return streams_rtt_ns(setup, sizes, server_in.get(), server_out.get(), client_in.get(), client_out.get(),
                          [&] { client_out.close(); });
}

double unix_rtt_ns(const Setup& setup, Sizes sizes) {
    static int count = 0;
    const std::wstring name =
        L"\\\\.\\pipe\\ipc-floors-" + std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(++count);
    End server(CreateNamedPipeW(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1,
                                buffer_bytes, buffer_bytes, 0, nullptr));
    if (server.get() == INVALID_HANDLE_VALUE) fail("CreateNamedPipe");
    End client(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING, 0, nullptr));
    if (client.get() == INVALID_HANDLE_VALUE) fail("CreateFile");
    if (!ConnectNamedPipe(server.get(), nullptr) && GetLastError() != ERROR_PIPE_CONNECTED) fail("ConnectNamedPipe");
    return streams_rtt_ns(setup, sizes, server.get(), server.get(), client.get(), client.get(),
                          [&] { client.close(); });
}

} // namespace floors
