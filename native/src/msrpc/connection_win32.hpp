#pragma once

#include "calls/call_client.hpp"
#include "msrpc/call_win32.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace ipc::msrpc {

// The connection of one client and the thread that makes its calls, one after another. A synchronous call of rpcrt4 cannot be
// left before its time on every runtime without losing the connection, and with it the server's session; so whoever waits
// leaves, and the thread waits on: a late reply is dropped there. The thread ends when the client closes and no call is under way.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(Handshake handshake, std::string address)
        : handshake_(std::move(handshake)), address_(std::move(address)) {}
    ~Connection();

    // Starts the thread and opens the session.
    Status open(const Deadline& deadline);
    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply);
    // The last request's reply is done with; from the thread that exchanges.
    void drop_reply() { reply_dropped_ = true; }
    void close();

  private:
    enum class Phase { idle, asked, copying, calling, done };
    using Lock = std::unique_lock<std::mutex>;
    struct Job {
        FrameKind kind; // 0: open
        uint32_t id;
        const void* bytes;
        size_t length;
        uint64_t number = 0; // in the order of asking
    };

    Status ask(const Job& job, const Deadline& deadline);
    bool wait_until_not(Phase phase, Lock& lock, const Deadline& deadline);
    Status timed_out(const char* what) const;
    void run();
    bool answer(const Job& job);
    bool start(const Job& job);
    void enter(Phase phase);
    void open_session();
    void exchange_frame(const Job& job, Call& call);
    void set(Status status, std::string error_message);
    void set_rpc_failure(RPC_STATUS status);

    const Handshake handshake_;
    const std::string address_; // for error messages

    std::mutex mutex_;
    std::condition_variable changed_;
    Phase phase_ = Phase::idle;
    Job job_{};
    uint64_t last_number_ = 0;
    bool abandoned_ = false; // nobody waits for the job under way
    bool closed_ = false;
    Status status_ = IPC_OK; // of the job that is done
    std::string error_message_;
    CallReply reply_{};
    std::atomic<bool> reply_dropped_{false};

    // the thread's own
    RPC_BINDING_HANDLE binding_ = nullptr;
    bool session_open_ = false;
    Token token_{};
    ContextHandle context_{};
    std::optional<Call> last_request_; // holds the reply's memory, and on Wine a connection, until the reply is dropped
};

} // namespace ipc::msrpc
