#include "shared_memory/greeting.hpp"
#include "shared_memory/peer.hpp"
#include "shared_memory/sleeping_places_win32.hpp"
#include "shared_memory/waiting.hpp"
#include "win32/error_text.hpp"

#include <cstring>
#include <mutex>

namespace ipc::shared_memory {
namespace {

using win32::fail_windows;
using win32::Handle;

// The four words somebody sleeps on, each of one sleeper, in the order in which their events are handed over.
constexpr unsigned word_count = 4;
const std::atomic<uint32_t>& parking_word(const Header& header, unsigned index) {
    const RingControl& ring = header.ring[index / 2];
    return index % 2 == 0 ? ring.reader_parked : ring.writer_parked;
}

// What the server sends. The handles are the server's own: the client copies them out of the server's process itself, so that
// nobody puts anything into a process but that process, and a client that dies half-way leaves nothing behind.
struct GreetingWithHandles {
    Greeting common;
    uint64_t memory;
    uint64_t events[word_count]; // 64 bits each also in a 32-bit process
};
static_assert(sizeof(GreetingWithHandles) == 56);

uint64_t number_of(const Handle& handle) {
    return reinterpret_cast<uintptr_t>(handle.get());
}

bool is_end_of_pipe(DWORD error) {
    return error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED || error == ERROR_NO_DATA ||
           error == ERROR_HANDLE_EOF || error == ERROR_INVALID_HANDLE;
}

} // namespace

struct Peer::System {
    Handle pipe;
    Handle memory; // the server's, for the client to copy
    Handle events[word_count];
    // Set when the pipe has ended, or has brought what it should not: a read that is under way for as long as the segment stands.
    Handle alarm;
    std::mutex mutex; // guards the pipe, the read, and looking at the alarm
    OVERLAPPED watching{};
    char unwanted = 0;
    bool watched = false;
    bool hung_up = false;
    SleepingPlaces places;

    // Waits for one overlapped step to end; its error, and how much was moved.
    DWORD finish(BOOL begun, OVERLAPPED& step, const Deadline& deadline, DWORD* moved) {
        *moved = 0;
        DWORD error = begun ? ERROR_SUCCESS : GetLastError();
        if (error != ERROR_SUCCESS && error != ERROR_IO_PENDING) return error;
        const int64_t left = (deadline.left_ns() + 999'999) / 1'000'000;
        const DWORD ms = left >= 0x7FFFFFFF ? INFINITE : static_cast<DWORD>(left);
        const bool late = error == ERROR_IO_PENDING && WaitForSingleObject(step.hEvent, ms) != WAIT_OBJECT_0;
        if (late) CancelIoEx(pipe.get(), &step);
        if (GetOverlappedResult(pipe.get(), &step, moved, TRUE)) return ERROR_SUCCESS;
        error = GetLastError();
        return late && error == ERROR_OPERATION_ABORTED ? static_cast<DWORD>(WAIT_TIMEOUT) : error;
    }

    // With the mutex.
    void watch() {
        watching = {};
        watching.hEvent = alarm.get();
        watched = true;
        if (!ReadFile(pipe.get(), &unwanted, 1, nullptr, &watching) && GetLastError() != ERROR_IO_PENDING) {
            watched = false;
            SetEvent(alarm.get());
        }
    }
};

Peer::Peer(Connection connection, std::string) : system_(std::make_unique<System>()) {
    system_->pipe.reset(connection);
    system_->alarm.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
}

Peer::~Peer() {
    hang_up();
}

bool Peer::has_one_processor_with_us() const {
    return only_one_processor();
}

Status Peer::hand_over(Layout layout, MemoryFile memory) {
    GreetingWithHandles greeting{greeting_of(layout), number_of(memory), {}};
    for (unsigned i = 0; i < word_count; ++i) {
        system_->events[i].reset(CreateEventW(nullptr, FALSE, FALSE, nullptr));
        if (!system_->events[i]) return fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
        greeting.events[i] = number_of(system_->events[i]);
    }
    system_->memory = std::move(memory);
    OVERLAPPED step{};
    step.hEvent = system_->alarm.get();
    DWORD sent = 0;
    const BOOL begun = WriteFile(system_->pipe.get(), &greeting, sizeof greeting, nullptr, &step);
    // The pipe's buffer is empty and larger: this does not wait for the client.
    const DWORD error = system_->finish(begun, step, Deadline(1000), &sent);
    if (error != ERROR_SUCCESS || sent != sizeof greeting) {
        if (is_end_of_pipe(error)) return fail(IPC_PEER_CLOSED, "the client left before it took the shared memory");
        return fail_windows(IPC_SYSTEM, error, "cannot hand the shared memory over");
    }
    const std::lock_guard lock(system_->mutex);
    system_->watch();
    return IPC_OK;
}

Status Peer::receive(Layout layout, const Deadline& deadline, MemoryFile* memory) {
    GreetingWithHandles greeting{};
    char* to = reinterpret_cast<char*>(&greeting);
    for (DWORD have = 0; have < sizeof greeting;) {
        OVERLAPPED step{};
        step.hEvent = system_->alarm.get();
        DWORD got = 0;
        const BOOL begun = ReadFile(system_->pipe.get(), to + have, sizeof greeting - have, nullptr, &step);
        const DWORD error = system_->finish(begun, step, deadline, &got);
        have += got;
        if (have >= sizeof greeting.common)
            if (Status s = check(greeting.common, layout)) return s;
        if (error == static_cast<DWORD>(WAIT_TIMEOUT))
            return fail(IPC_TIMED_OUT, "the server did not hand over its shared memory in time");
        if (is_end_of_pipe(error) && have == 0)
            return fail(IPC_PEER_CLOSED,
                        "the server closed or died before it handed over its shared memory: connect again");
        if (error != ERROR_SUCCESS)
            return fail_windows(is_end_of_pipe(error) ? IPC_NOT_OUR_PROTOCOL : IPC_SYSTEM, error,
                                "cannot receive the server's shared memory");
    }
    return copy_handles(greeting.memory, greeting.events, memory);
}

// The server is of our own user (that was checked when the pipe was connected), so this process may copy its handles; numbers
// that mean nothing there, or something else, do no harm: what comes of them is checked before it is used.
Status Peer::copy_handles(uint64_t memory_number, const uint64_t* event_numbers, MemoryFile* memory) {
    ULONG server_number = 0;
    if (!GetNamedPipeServerProcessId(system_->pipe.get(), &server_number))
        return fail_windows(IPC_PEER_CLOSED, GetLastError(), "the server is gone: connect again");
    const Handle server(OpenProcess(PROCESS_DUP_HANDLE, FALSE, server_number));
    if (!server)
        return fail_windows(
            IPC_NO_PERMISSION, GetLastError(),
            "cannot take the shared memory over from process %lu: a server that runs as administrator has "
            "clients that do, too",
            static_cast<unsigned long>(server_number));
    const auto copy = [&](uint64_t number, DWORD access, Handle* copied) {
        HANDLE made = nullptr;
        if (number > UINT32_MAX) return false; // handles have 32 bits on all systems
        if (!DuplicateHandle(server.get(), reinterpret_cast<HANDLE>(static_cast<uintptr_t>(number)),
                             GetCurrentProcess(), &made, access, FALSE, 0))
            return false;
        copied->reset(made);
        return true;
    };
    bool sound = copy(memory_number, FILE_MAP_READ | FILE_MAP_WRITE, memory);
    for (unsigned i = 0; sound && i < word_count; ++i)
        sound = copy(event_numbers[i], EVENT_MODIFY_STATE | SYNCHRONIZE, &system_->events[i]) &&
                WaitForSingleObject(system_->events[i].get(), 0) != WAIT_FAILED;
    // Looked at last: then it was the server's own process that the handles came from, not a later one of its number.
    if (!PeekNamedPipe(system_->pipe.get(), nullptr, 0, nullptr, nullptr, nullptr))
        return fail(IPC_PEER_CLOSED,
                    "the server closed or died before it handed over its shared memory: connect again");
    if (!sound) return fail(IPC_NOT_OUR_PROTOCOL, "what the server handed over is not shared memory with its events");
    const std::lock_guard lock(system_->mutex);
    ResetEvent(system_->alarm.get());
    system_->watch();
    return IPC_OK;
}

void Peer::sleep_on(const Header& header) {
    for (unsigned i = 0; i < word_count; ++i)
        system_->places.add(parking_word(header, i),
                            {.wakeups = system_->events[i].get(), .alarm = system_->alarm.get()});
}

Status Peer::look(const Deadline&) {
    // The alarm, too, with the mutex: another thread that saw it may begin the read anew, which is no end.
    const std::lock_guard lock(system_->mutex);
    if (WaitForSingleObject(system_->alarm.get(), 0) == WAIT_TIMEOUT) return IPC_OK;
    if (system_->hung_up) return IPC_PEER_CLOSED;
    DWORD got = 0;
    if (system_->watched && GetOverlappedResult(system_->pipe.get(), &system_->watching, &got, FALSE)) {
        if (got > 0)
            return fail(IPC_NOT_OUR_PROTOCOL, "the peer sent bytes where shared memory alone should carry them");
    } else if (system_->watched && GetLastError() == ERROR_OPERATION_ABORTED) {
        // The system cancels what a thread began when that thread ends, as the one that accepted may have: begin anew.
        ResetEvent(system_->alarm.get());
        system_->watch();
        return IPC_OK;
    }
    return IPC_PEER_CLOSED;
}

void Peer::hang_up() {
    const std::lock_guard lock(system_->mutex);
    if (system_->hung_up) return;
    system_->hung_up = true;
    if (system_->watched) {
        DWORD got = 0;
        CancelIoEx(system_->pipe.get(), &system_->watching);
        GetOverlappedResult(system_->pipe.get(), &system_->watching, &got, TRUE);
    }
    system_->pipe.reset();
    SetEvent(system_->alarm.get());
}

} // namespace ipc::shared_memory
