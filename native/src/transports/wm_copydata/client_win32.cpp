#include "transports/wm_copydata/client_win32.hpp"

#include "transports/wm_copydata/window_win32.hpp"
#include "win32/error_text.hpp"
#include "win32/interrupt.hpp"
#include "win32/peer_process.hpp"

#include <algorithm>
#include <bcrypt.h>
#include <cstring>

namespace ipc::wm_copydata {
namespace {

// Waits are cut into slices, between which closing, the server's window and its process are looked at.
constexpr UINT slice_ms = 50;

UINT slice(const Deadline& deadline) {
    return deadline.forever() ? slice_ms : std::clamp<UINT>(static_cast<UINT>(deadline.left_ms()), 1, slice_ms);
}

// An exchange whose answer its thread waits for. A thread may have several: its other windows may make calls of their own while
// it waits.
struct Waiting {
    Token token;
    uint32_t number;
    size_t limit;
    Arriving* room;
    Waiting* outer = nullptr;
    bool begun = false;
    bool answered = false;
    Head answer{};
};
thread_local Waiting* innermost = nullptr;
// This thread's window, at which answers arrive while it waits for them. It goes with the thread.
thread_local HWND own_window = nullptr;

LRESULT CALLBACK client_procedure(HWND window, UINT message, WPARAM from, LPARAM copied) {
    // Its making; after that nothing that others send or post may change or end it.
    if (own_window == nullptr) return DefWindowProcW(window, message, from, copied);
    if (message != WM_COPYDATA) return 0;
    Fragment fragment{};
    if (!read_fragment(copied, &fragment)) return 0;
    Waiting* waiting = innermost;
    while (waiting != nullptr && !(waiting->token == fragment.head.token && waiting->number == fragment.head.number))
        waiting = waiting->outer;
    // Else the late answer to an exchange that was given up.
    if (waiting == nullptr || waiting->answered) return 1;
    // One that is too long is told of, and not kept.
    const auto outcome =
        waiting->begun ? waiting->room->go_on(fragment) : waiting->room->begin(fragment, waiting->limit);
    if (outcome == Arriving::Outcome::refused) return 0;
    waiting->begun = true;
    if (outcome == Arriving::Outcome::complete) {
        waiting->answer = fragment.head;
        waiting->answered = true;
    }
    return 1;
}

Status window_of_this_thread(HWND* window) {
    if (own_window == nullptr) {
        HWND made = nullptr;
        if (Status s = make_window(client_class, client_procedure, L"", nullptr, &made); s != IPC_OK) return s;
        own_window = made;
    }
    *window = own_window;
    return IPC_OK;
}

class WindowClient final : public CallClient {
  public:
    WindowClient(const Address& address) : address_(address.text()), limit_(address.limit()) {}

    Status open(const Address& address, const std::wstring& title, const Deadline& deadline);
    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply) override;
    void close() override {
        if (!closing_.raise()) return;
        // Sent, not posted: a server that waits for us takes it too.
        SendNotifyMessageW(server_, WM_APP, token_.words[0], static_cast<LPARAM>(token_.words[1]));
    }

  private:
    Status find_listener(const std::wstring& title, HWND* listener, DWORD* owner);
    Status deliver(HWND own, Head head, const void* payload, const Deadline& deadline, const Waiting& waiting);
    Status look_around(const Deadline& deadline, const char* what) const;
    Status server_gone() const {
        return fail(IPC_PEER_CLOSED, "the server at %s has closed or died: reconnect", address_.c_str());
    }

    const std::string address_;
    const size_t limit_;
    win32::Interrupt closing_;
    win32::PeerProcess process_;
    HWND server_ = nullptr; // the window of our session
    Token token_{};
    uint32_t number_ = 0;
    Outgoing outgoing_;
    Arriving reply_;
};

// A window of this title whose process is this user's: others' are passed over, so that nobody can squat the name.
Status WindowClient::find_listener(const std::wstring& title, HWND* listener, DWORD* owner) {
    Status refused = IPC_OK;
    std::string error_message;
    for (HWND found = nullptr;;) {
        found = FindWindowExW(HWND_MESSAGE, found, listener_class, title.c_str());
        if (found == nullptr) break;
        const DWORD process = process_of(found);
        if (process == 0) continue;
        const Status status = win32::PeerProcess::open(process, address_, &process_);
        if (status == IPC_OK) {
            *listener = found;
            *owner = process;
            return IPC_OK;
        }
        if (status != IPC_PEER_CLOSED) {
            refused = status;
            error_message = last_error();
        }
    }
    if (refused != IPC_OK) return fail(refused, "%s", error_message.c_str());
    return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address_.c_str());
}

Status WindowClient::open(const Address&, const std::wstring& title, const Deadline& deadline) {
    if (Status s = closing_.open(); s != IPC_OK) return s;
    HWND own = nullptr;
    HWND listener = nullptr;
    DWORD owner = 0;
    if (Status s = find_listener(title, &listener, &owner); s != IPC_OK) return s;
    if (Status s = window_of_this_thread(&own); s != IPC_OK) return s;
    if (BCryptGenRandom(nullptr, reinterpret_cast<UCHAR*>(&token_), sizeof token_, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0)
        return fail(IPC_SYSTEM, "cannot get random bytes from the system");
    if (Status s = outgoing_.make(make_head(Kind::hello, 0, 0, token_, 0), nullptr); s != IPC_OK) return s;
    // The listener's thread does nothing but this. It is asked once: a second hello would be a second connection.
    const UINT patience = deadline.forever() ? INFINITE : std::max<UINT>(static_cast<UINT>(deadline.left_ms()), 1);
    DWORD_PTR session = 0;
    switch (outgoing_.send(own, listener, patience, &session)) {
    case Sent::taken:
        break;
    case Sent::refused:
        return fail(IPC_PEER_CLOSED, "the server at %s takes no more clients, or is closing: try again",
                    address_.c_str());
    case Sent::timed_out:
        return fail(IPC_TIMED_OUT, "the server at %s is there but does not answer within the time-out",
                    address_.c_str());
    case Sent::window_gone:
        return fail(IPC_NO_SERVER, "nobody listens at %s any more: start the server first", address_.c_str());
    }
    server_ = reinterpret_cast<HWND>(session);
    // Not the listener's window: it may have gone already, with a server that wants one client only.
    if (process_of(server_) != owner) return server_gone();
    return IPC_OK;
}

// Why not to wait on, if there is a reason.
Status WindowClient::look_around(const Deadline& deadline, const char* what) const {
    if (closing_.raised()) return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
    if (process_.ended() || process_of(server_) == 0) return server_gone();
    if (deadline.expired())
        return fail(IPC_TIMED_OUT, "the server at %s %s within the time-out", address_.c_str(), what);
    return IPC_OK;
}

// Until the server's thread has taken all of it. What was not taken in time is sent again: taken once, it is not taken twice.
Status WindowClient::deliver(HWND own, Head head, const void* payload, const Deadline& deadline,
                             const Waiting& waiting) {
    do {
        if (Status s = outgoing_.make(head, payload); s != IPC_OK) return s;
        for (bool taken = false; !taken;) {
            const Sent sent = outgoing_.send(own, server_, slice(deadline));
            if (waiting.answered) return IPC_OK;
            if (sent == Sent::window_gone) return server_gone();
            if (sent == Sent::refused)
                return fail(IPC_NOT_OUR_PROTOCOL, "the window behind %s does not take our messages: reconnect",
                            address_.c_str());
            taken = sent == Sent::taken;
            if (taken) continue;
            if (Status s = look_around(deadline, "did not take the message"); s != IPC_OK) return s;
        }
        head.offset += static_cast<uint32_t>(fragment_length(head));
    } while (head.offset < head.length);
    return IPC_OK;
}

Status WindowClient::exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                              CallReply* reply) {
    HWND own = nullptr;
    if (Status s = window_of_this_thread(&own); s != IPC_OK) return s;
    Waiting waiting{token_, ++number_, limit_, &reply_, innermost};
    const Head head = make_head(static_cast<Kind>(kind), id, waiting.number, token_, length);
    innermost = &waiting;
    Status status = deliver(own, head, bytes, deadline, waiting);
    while (status == IPC_OK && !waiting.answered) {
        const HANDLE ends[2] = {closing_.event(), process_.handle()};
        MsgWaitForMultipleObjectsEx(2, ends, slice(deadline), QS_SENDMESSAGE, MWMO_INPUTAVAILABLE);
        // Carries out what was sent to this thread's windows, and takes nothing that was posted.
        MSG message;
        PeekMessageW(&message, own, 0, 0, PM_NOREMOVE | PM_QS_SENDMESSAGE);
        if (!waiting.answered) status = look_around(deadline, "did not answer");
    }
    innermost = waiting.outer;
    if (status == IPC_TIMED_OUT)
        SendNotifyMessageW(server_, WM_APP + 1, token_.words[0], static_cast<LPARAM>(waiting.number));
    if (status != IPC_OK) return status;
    if (waiting.answer.kind == Kind::ended) return server_gone();
    const bool is_taken = waiting.answer.kind == Kind::taken;
    if (is_taken != (reply == nullptr))
        return fail(IPC_NOT_OUR_PROTOCOL, "what %s answered is not an answer to what it was sent: reconnect",
                    address_.c_str());
    if (reply != nullptr)
        *reply = {static_cast<FrameKind>(waiting.answer.kind), waiting.answer.id, reply_.data(), waiting.answer.length};
    return IPC_OK;
}

} // namespace

Status connect_window(const Address& address, const std::wstring& title, const Deadline& deadline,
                      std::unique_ptr<CallClient>* client) {
    auto made = std::make_unique<WindowClient>(address);
    if (Status s = made->open(address, title, deadline); s != IPC_OK) return s;
    *client = std::move(made);
    return IPC_OK;
}

} // namespace ipc::wm_copydata
