#include "win32/local_pipe.hpp"

#include "core/plain_name.hpp"
#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <algorithm>

namespace ipc::win32 {
namespace {

constexpr DWORD buffer_size = 64 * 1024;
// A name whose instances are all taken although nobody claims to listen: connections that outlived their listener, or a
// server that is not of this library and may come back from a client.
constexpr int unclaimed_patience_ms = 200;
constexpr DWORD wait_slice_ms = 50;

Status names_of(const Address& address, std::string_view prefix, std::wstring* own, std::wstring* claim) {
    if (Status status = check_plain_name(address); status != IPC_OK) return status;
    User user;
    if (Status status = this_user(&user); status != IPC_OK) return status;
    const std::wstring ours = L"\\\\.\\pipe\\ipc-" + user.text() + L"-";
    const std::wstring name = to_wide(std::string(prefix) + address.name());
    *own = ours + name;
    *claim = ours + L"listening-" + name;
    return IPC_OK;
}

// Without connecting to it.
bool exists(const std::wstring& pipe) {
    return WaitNamedPipeW(pipe.c_str(), 1) || GetLastError() != ERROR_FILE_NOT_FOUND;
}

Status check_owner(const PipeName& name, HANDLE pipe) {
    User self;
    User owner;
    if (Status status = this_user(&self); status != IPC_OK) return status;
    if (!owner_of(pipe, &owner))
        return fail_windows(IPC_NO_PERMISSION, GetLastError(), "cannot ask who owns the pipe of %s",
                            name.address.c_str());
    if (owner == self) return IPC_OK;
    return fail(IPC_NO_PERMISSION, "the pipe of %s belongs to %s, not to this user: choose another name",
                name.address.c_str(), to_utf8(owner.text()).c_str());
}

// Whether a process is known to be another user's. Who cannot be asked has passed the pipe's DACL or owner check, which
// are the system's own; this one catches a handle passed on to somebody else's process.
bool is_foreign(DWORD process) {
    User self;
    User other;
    return this_user(&self) == IPC_OK && user_of_process(process, &other) && !(other == self);
}

} // namespace

Status private_pipe_name(const Address& address, std::string_view prefix, PipeName* name) {
    name->address = address.text();
    return names_of(address, prefix, &name->path, &name->claim);
}

Status public_pipe_name(const Address& address, PipeName* name) {
    std::wstring unused;
    if (Status status = names_of(address, "pipe-", &unused, &name->claim); status != IPC_OK) return status;
    name->address = address.text();
    name->path = L"\\\\.\\pipe\\" + to_wide(address.name());
    return IPC_OK;
}

Status LocalPipeListener::open(const PipeName& name, PipeMode mode, std::unique_ptr<LocalPipeListener>* listener) {
    std::unique_ptr<LocalPipeListener> made(new LocalPipeListener(name, mode));
    if (Status status = made->interrupt_.open(); status != IPC_OK) return status;
    if (Status status = made->security_.open(); status != IPC_OK) return status;
    if (Status status = made->take_name(); status != IPC_OK) return status;
    *listener = std::move(made);
    return IPC_OK;
}

Status LocalPipeListener::name_is_taken(DWORD error) const {
    if (error == ERROR_ACCESS_DENIED || error == ERROR_PIPE_BUSY)
        return fail(IPC_NAME_IN_USE,
                    "cannot listen at %s: another listener has this name; close it or choose another name",
                    name_.address.c_str());
    return fail_windows(IPC_SYSTEM, error, "cannot listen at %s", name_.address.c_str());
}

Status LocalPipeListener::take_name() {
    claim_.reset(CreateNamedPipeW(name_.claim.c_str(), PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                  PIPE_TYPE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0, 0, 0,
                                  security_.attributes()));
    if (!claim_) return name_is_taken(GetLastError());
    for (Waiting& waiting : waiting_) {
        waiting.event.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
        if (!waiting.event) return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    }
    // Said before the system says it: some (Wine) let a second first instance be made.
    if (WaitNamedPipeW(name_.path.c_str(), 1)) return name_is_taken(ERROR_PIPE_BUSY);
    Handle pipe;
    DWORD error = make_instance(FILE_FLAG_FIRST_PIPE_INSTANCE, &pipe);
    // Not the first: connections that outlived their listener are no obstacle, if they are this user's.
    if (error == ERROR_ACCESS_DENIED) error = make_instance(0, &pipe);
    if (error == 0)
        if (Status status = check_owner(name_, pipe.get()); status != IPC_OK) return status;
    for (Waiting& waiting : waiting_) {
        if (error == 0 && !pipe) error = make_instance(0, &pipe);
        if (error != 0) return name_is_taken(error);
        if (Status status = wait_for_client(&waiting, std::move(pipe)); status != IPC_OK) return status;
    }
    return IPC_OK;
}

// Returns what GetLastError() said, 0 for success. `first`: 0, or that there must be no other instance.
DWORD LocalPipeListener::make_instance(DWORD first, Handle* pipe) {
    const DWORD type =
        mode_ == PipeMode::message ? PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE : PIPE_TYPE_BYTE | PIPE_READMODE_BYTE;
    pipe->reset(CreateNamedPipeW(name_.path.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first,
                                 type | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, PIPE_UNLIMITED_INSTANCES, buffer_size,
                                 buffer_size, 0, security_.attributes()));
    return *pipe ? 0 : GetLastError();
}

// Call with mutex_ held, or before anybody else knows the listener.
Status LocalPipeListener::wait_for_client(Waiting* waiting, Handle pipe) {
    waiting->pipe = std::move(pipe);
    waiting->operation = {};
    waiting->operation.hEvent = waiting->event.get();
    ResetEvent(waiting->event.get());
    const BOOL connected = ConnectNamedPipe(waiting->pipe.get(), &waiting->operation);
    const DWORD error = connected ? ERROR_PIPE_CONNECTED : GetLastError();
    waiting->pending = error == ERROR_IO_PENDING;
    if (waiting->pending) return IPC_OK;
    SetEvent(waiting->event.get());
    // ERROR_NO_DATA: a client has been here and gone; what it wrote can be read.
    if (error == ERROR_PIPE_CONNECTED || error == ERROR_NO_DATA) return IPC_OK;
    waiting->pipe.reset();
    return fail_windows(IPC_SYSTEM, error, "cannot wait for clients at %s", name_.address.c_str());
}

// A client that has come, its place given to a new instance; null if there is none.
Status LocalPipeListener::take_connected(Handle* connection) {
    const std::lock_guard lock(mutex_);
    if (closed()) return IPC_CLOSED;
    for (Waiting& waiting : waiting_) {
        if (WaitForSingleObject(waiting.event.get(), 0) != WAIT_OBJECT_0) continue;
        DWORD none = 0;
        if (waiting.pending && !GetOverlappedResult(waiting.pipe.get(), &waiting.operation, &none, FALSE)) {
            // The system ends what a thread has begun when that thread ends: begin again, unless a client came meanwhile.
            if (Status status = wait_for_client(&waiting, std::move(waiting.pipe)); status != IPC_OK) return status;
            if (waiting.pending) continue;
        }
        waiting.pending = false;
        Handle taken = std::move(waiting.pipe);
        Handle next;
        if (const DWORD error = make_instance(0, &next); error != 0)
            return fail_windows(IPC_SYSTEM, error, "cannot wait for more clients at %s", name_.address.c_str());
        if (Status status = wait_for_client(&waiting, std::move(next)); status != IPC_OK) return status;
        if (!taken) continue;
        *connection = std::move(taken);
        return IPC_OK;
    }
    return IPC_OK;
}

Status LocalPipeListener::accept(const Deadline& deadline, Handle* connection) {
    std::array<HANDLE, backlog + 1> events{interrupt_.event()};
    std::transform(waiting_.begin(), waiting_.end(), events.begin() + 1,
                   [](const Waiting& waiting) { return waiting.event.get(); });
    while (true) {
        Handle client;
        Status status = take_connected(&client);
        if (status == IPC_CLOSED) return fail(IPC_CLOSED, "the listener at %s was closed here", name_.address.c_str());
        if (status != IPC_OK) return status;
        ULONG process = 0;
        if (client && (!GetNamedPipeClientProcessId(client.get(), &process) || !is_foreign(process))) {
            *connection = std::move(client);
            return IPC_OK;
        }
        if (client) continue;
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", name_.address.c_str());
        const DWORD limit = deadline.forever() ? INFINITE : static_cast<DWORD>(deadline.left_ms());
        if (WaitForMultipleObjects(static_cast<DWORD>(events.size()), events.data(), FALSE, limit) == WAIT_FAILED)
            return fail_windows(IPC_SYSTEM, GetLastError(), "cannot wait for clients at %s", name_.address.c_str());
    }
}

void LocalPipeListener::close() {
    if (!interrupt_.event() || !interrupt_.raise()) return;
    const std::lock_guard lock(mutex_);
    claim_.reset();
    for (Waiting& waiting : waiting_) {
        DWORD none = 0;
        // The system must have done with `operation` before it goes.
        if (waiting.pending && CancelIoEx(waiting.pipe.get(), &waiting.operation))
            GetOverlappedResult(waiting.pipe.get(), &waiting.operation, &none, TRUE);
        waiting.pending = false;
        waiting.pipe.reset();
    }
}

namespace {

Status check_server(const PipeName& name, HANDLE pipe) {
    if (Status status = check_owner(name, pipe); status != IPC_OK) return status;
    ULONG process = 0;
    if (GetNamedPipeServerProcessId(pipe, &process) && is_foreign(process))
        return fail(IPC_NO_PERMISSION, "the server at %s (process %lu) belongs to another user: run both as the same",
                    name.address.c_str(), process);
    return IPC_OK;
}

Status connect_failed(const PipeName& name, DWORD error) {
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND)
        return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", name.address.c_str());
    if (error == ERROR_ACCESS_DENIED)
        return fail_windows(IPC_NO_PERMISSION, error, "may not connect to %s, which is another user's",
                            name.address.c_str());
    return fail_windows(IPC_SYSTEM, error, "cannot connect to %s", name.address.c_str());
}

// All instances are taken. Waits a moment for one; says why it is no use to go on.
Status wait_for_instance(const PipeName& name, const Deadline& deadline, const Deadline& unclaimed) {
    if (!exists(name.claim) && unclaimed.expired())
        return fail(IPC_NO_SERVER, "nobody listens at %s any more, though connections are left: start the server first",
                    name.address.c_str());
    if (deadline.expired())
        return fail(IPC_TIMED_OUT, "the server at %s is there but accepts no client within the time-out",
                    name.address.c_str());
    const DWORD slice =
        deadline.forever() ? wait_slice_ms : std::min(wait_slice_ms, static_cast<DWORD>(deadline.left_ms()));
    WaitNamedPipeW(name.path.c_str(), std::max<DWORD>(slice, 1));
    return IPC_OK;
}

Status set_read_mode(const PipeName& name, PipeMode mode, HANDLE pipe) {
    DWORD read_mode = PIPE_READMODE_MESSAGE | PIPE_WAIT;
    if (mode == PipeMode::byte || SetNamedPipeHandleState(pipe, &read_mode, nullptr, nullptr)) return IPC_OK;
    return fail(IPC_NOT_OUR_PROTOCOL, "the server at %s keeps no messages apart: use mode=byte, or change the server",
                name.address.c_str());
}

} // namespace

Status connect_local_pipe(const PipeName& name, PipeMode mode, const Deadline& deadline, Handle* connection) {
    const Deadline unclaimed(unclaimed_patience_ms);
    while (true) {
        Handle pipe(CreateFileW(name.path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                                FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr));
        if (pipe) {
            if (Status status = check_server(name, pipe.get()); status != IPC_OK) return status;
            if (Status status = set_read_mode(name, mode, pipe.get()); status != IPC_OK) return status;
            *connection = std::move(pipe);
            return IPC_OK;
        }
        if (GetLastError() != ERROR_PIPE_BUSY) return connect_failed(name, GetLastError());
        if (Status status = wait_for_instance(name, deadline, unclaimed); status != IPC_OK) return status;
    }
}

} // namespace ipc::win32
