#pragma once

#include "core/address.hpp"
#include "core/deadline.hpp"
#include "win32/handle.hpp"
#include "win32/interrupt.hpp"
#include "win32/user.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace ipc::win32 {

// A pipe's name, docs/wire-formats.md "Names on Windows".
struct PipeName {
    std::string address; // what the user wrote: for error messages
    std::wstring path;   // \\.\pipe\...
    std::wstring claim;  // a second pipe, which exists as long as somebody listens at `path`
};

// \\.\pipe\ipc-<SID>-<prefix><name>, after checking the name: pipes that only this library uses. `prefix` ends with '-'.
Status private_pipe_name(const Address& address, std::string_view prefix, PipeName* name);
// \\.\pipe\<name>: one that others connect to by name.
Status public_pipe_name(const Address& address, PipeName* name);

// What the system keeps together: bytes, or each write as one message.
enum class PipeMode { byte, message };

// A listening named pipe: `pipe`, and the handover of shared memory. Only this user may open it (its DACL, which the
// system enforces), only from this machine, and nobody else can have made the name before.
// accept and close may be called from any thread; destroy it when no thread is inside.
class LocalPipeListener {
  public:
    // Takes the name. IPC_NAME_IN_USE when somebody listens there, or another user's process has it.
    static Status open(const PipeName& name, PipeMode mode, std::unique_ptr<LocalPipeListener>* listener);
    ~LocalPipeListener() { close(); }
    LocalPipeListener(const LocalPipeListener&) = delete;
    LocalPipeListener& operator=(const LocalPipeListener&) = delete;

    // The next client, as an overlapped handle; clients that turn out to be another user's are dropped. A client that
    // has gone again is a connection like any other: what it wrote can be read, then comes the end.
    Status accept(const Deadline& deadline, Handle* connection);
    // Refuses clients that wait and interrupts accept with IPC_CLOSED. Connections taken before go on; they keep `path`
    // in the system, but not the claim, so that the name can be listened at again.
    void close();
    bool closed() const { return interrupt_.raised(); }

  private:
    // An instance of the pipe that waits for a client, or has one that nobody has taken yet. The event stays the same:
    // threads wait on it outside the lock.
    struct Waiting {
        Handle pipe;
        Handle event;
        OVERLAPPED operation{};
        bool pending = false; // the system still writes to `operation`
    };
    // So many clients may come at once without being asked to try again.
    static constexpr size_t backlog = 4;

    LocalPipeListener(const PipeName& name, PipeMode mode) : name_(name), mode_(mode) {}
    Status take_name();
    DWORD make_instance(DWORD first, Handle* pipe);
    Status name_is_taken(DWORD error) const;
    Status wait_for_client(Waiting* waiting, Handle pipe);
    Status take_connected(Handle* connection);

    const PipeName name_;
    const PipeMode mode_;
    OnlyThisUser security_;
    Handle claim_;
    Interrupt interrupt_;
    std::mutex mutex_; // guards waiting_, not while a thread waits
    std::array<Waiting, backlog> waiting_;
};

// Connects as a client that can be identified but not impersonated, and checks that pipe and server belong to this user.
// IPC_NO_SERVER at once when nobody listens; the deadline matters while all instances are taken. `mode`: how this end
// reads; message mode is refused by a server in byte mode. The handle is overlapped.
Status connect_local_pipe(const PipeName& name, PipeMode mode, const Deadline& deadline, Handle* connection);

} // namespace ipc::win32
