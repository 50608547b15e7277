#include "transports/wm_copydata/session_win32.hpp"

#include "core/detached_thread.hpp"
#include "transports/wm_copydata/window_win32.hpp"
#include "win32/error_text.hpp"
#include "win32/handle.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <utility>

namespace ipc::wm_copydata {
namespace {

using win32::Handle;

// How long an answer is offered to a client's window before a look around; then twice as long, up to the second.
constexpr UINT first_patience_ms = 1000;
constexpr UINT most_patience_ms = 16000;

// What the session's thread has; it goes with the thread.
class SessionWindow final : public ReplySink {
  public:
    SessionWindow(std::shared_ptr<CallSession> session, const Token& token, win32::PeerProcess client, DWORD process,
                  std::shared_ptr<Handle> closed)
        : session_(std::move(session)), token_(token), client_(std::move(client)), client_process_(process),
          closed_(std::move(closed)) {}

    Status open() { return make_window(session_class, procedure, L"", this, &window_); }
    HWND window() const { return window_; }
    void run();

    void put(FrameKind kind, uint32_t id, const void* bytes, size_t length) override {
        answer(static_cast<Kind>(kind), id, bytes, length);
    }

  private:
    static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM first, LPARAM second);
    LRESULT take(HWND from, LPARAM copied);
    void exchange();
    void answer(Kind kind, uint32_t id, const void* bytes, size_t length);
    bool given_up() const;

    const std::shared_ptr<CallSession> session_;
    const Token token_;
    const win32::PeerProcess client_;
    const DWORD client_process_;
    const std::shared_ptr<Handle> closed_; // an event
    HWND window_ = nullptr;
    bool client_left_ = false;

    // The exchange that waits to be carried out, outside the window's procedure: a client that gave an earlier one up may
    // send the next while that one's answer is on its way. Only the newest counts.
    bool pending_ = false;
    Head head_{};
    HWND from_ = nullptr;
    Arriving arriving_;
    uint32_t newest_ = 0; // number
    uint32_t abandoned_ = 0;

    // The exchange that is being carried out.
    uint32_t number_ = 0;
    HWND answer_to_ = nullptr;
    Outgoing outgoing_;
};

LRESULT CALLBACK SessionWindow::procedure(HWND window, UINT message, WPARAM first, LPARAM second) {
    auto* self = static_cast<SessionWindow*>(window_self(window));
    // Its making and unmaking; in between nothing that others send or post may change or end it.
    if (self == nullptr) return DefWindowProcW(window, message, first, second);
    if (message == WM_COPYDATA) return self->take(reinterpret_cast<HWND>(first), second);
    const bool by_client = first == self->token_.words[0];
    if (message == WM_APP && by_client && static_cast<uint32_t>(second) == self->token_.words[1])
        self->client_left_ = true;
    if (message == WM_APP + 1 && by_client) self->abandoned_ = static_cast<uint32_t>(second);
    return 0;
}

// Takes in what may be anything and anybody's. 0: refused.
LRESULT SessionWindow::take(HWND from, LPARAM copied) {
    Fragment fragment{};
    if (!read_fragment(copied, &fragment)) return 0;
    const Head& head = fragment.head;
    if (!(head.token == token_) || process_of(from) != client_process_) return 0;
    if (head.kind != Kind::message && head.kind != Kind::request) return 0;
    const auto newer = static_cast<int32_t>(head.number - newest_);
    if (newer < 0) return 1; // of an exchange that was given up
    const auto outcome = newer == 0 ? arriving_.go_on(fragment) : arriving_.begin(fragment, session_->limit());
    if (outcome == Arriving::Outcome::refused) return 0;
    if (outcome == Arriving::Outcome::repeated) return 1;
    newest_ = head.number;
    head_ = head;
    from_ = from;
    pending_ = outcome == Arriving::Outcome::complete;
    return 1;
}

void SessionWindow::run() {
    bool told_gone = false;
    while (true) {
        const HANDLE ends[2] = {closed_->get(), client_.handle()};
        // A client that has ended would wake us for ever.
        const DWORD woken =
            MsgWaitForMultipleObjectsEx(told_gone ? 1 : 2, ends, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
        if (woken == WAIT_OBJECT_0 || woken == WAIT_FAILED) break;
        MSG message;
        while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) DispatchMessageW(&message);
        while (pending_) exchange();
        if (!told_gone && (client_left_ || client_.ended())) {
            session_->client_gone();
            told_gone = true;
        }
    }
    destroy_window(window_);
}

void SessionWindow::exchange() {
    pending_ = false;
    number_ = head_.number;
    answer_to_ = from_;
    const FrameKind kind = static_cast<FrameKind>(head_.kind);
    // The next one may come in while this one's answer is on its way out.
    size_t capacity = 0;
    std::unique_ptr<std::byte[]> payload = arriving_.release(&capacity);
    const Status status = session_->answer(kind, head_.id, payload.get(), head_.length, *this);
    if (status != IPC_OK)
        answer(Kind::ended, 0, nullptr, 0);
    else if (kind == FrameKind::message)
        answer(Kind::taken, 0, nullptr, 0);
    arriving_.reuse(std::move(payload), capacity);
}

// Nobody waits for the answer any more.
bool SessionWindow::given_up() const {
    return pending_ || client_left_ || abandoned_ == number_ || client_.ended() ||
           WaitForSingleObject(closed_->get(), 0) == WAIT_OBJECT_0;
}

void SessionWindow::answer(Kind kind, uint32_t id, const void* bytes, size_t length) {
    Head head = make_head(kind, id, number_, token_, length);
    do {
        if (outgoing_.make(head, bytes) != IPC_OK) {
            head = make_head(Kind::ended, 0, number_, token_, 0);
            if (outgoing_.make(head, nullptr) != IPC_OK) return;
        }
        for (UINT patience = first_patience_ms;; patience = std::min(2 * patience, most_patience_ms)) {
            const Sent sent = outgoing_.send(window_, answer_to_, patience);
            if (sent == Sent::taken) break;
            if (sent != Sent::timed_out || given_up()) return;
        }
        head.offset += static_cast<uint32_t>(fragment_length(head));
    } while (head.offset < head.length);
}

} // namespace

Status start_session(const Address& address, const Token& token, win32::PeerProcess client, DWORD client_process,
                     std::shared_ptr<CallSession>* session, HWND* window) {
    const auto closed = std::make_shared<Handle>(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!*closed) return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    auto made = std::make_shared<CallSession>(address.limit(), address.text());
    made->when_closed([closed] { SetEvent(closed->get()); });
    std::promise<HWND> opened;
    std::future<HWND> ready = opened.get_future();
    // The thread ends soon after the session is closed; nobody waits for it, since it may be answering a client that hangs.
    start_detached(
        [made, token, closed, client_process, client = std::move(client), opened = std::move(opened)]() mutable {
            SessionWindow own(made, token, std::move(client), client_process, closed);
            made.reset();
            const Status status = own.open();
            opened.set_value(status == IPC_OK ? own.window() : nullptr);
            if (status == IPC_OK) own.run();
        });
    *window = ready.get();
    if (*window == nullptr) return fail(IPC_SYSTEM, "cannot make a window for a client of %s", address.text().c_str());
    *session = std::move(made);
    return IPC_OK;
}

} // namespace ipc::wm_copydata
