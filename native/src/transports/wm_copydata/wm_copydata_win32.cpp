// `wm-copydata`: calls by WM_COPYDATA between message-only windows. Clients find the listener's window by its class and title.
#include "calls/call_listener.hpp"
#include "core/plain_name.hpp"
#include "core/transport.hpp"
#include "transports/wm_copydata/client_win32.hpp"
#include "transports/wm_copydata/session_win32.hpp"
#include "transports/wm_copydata/window_win32.hpp"
#include "win32/name_claim.hpp"
#include "win32/utf.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace ipc {
namespace {

using namespace wm_copydata;

class WindowListener final : public CallListener {
  public:
    explicit WindowListener(const Address& address) : CallListener(address.text()), address_(address) {}
    ~WindowListener() override { close(); }

    Status open();

  private:
    static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM from, LPARAM copied);
    HWND welcome(HWND from, LPARAM copied);
    void pump();
    void stop_listening() override;

    const Address address_;
    win32::NameClaim claim_;
    HWND window_ = nullptr;
    std::atomic<bool> closing_{false};
    std::thread thread_;
};

Status WindowListener::open() {
    // A window's title can be taken several times.
    if (Status s = claim_.take(address_); s != IPC_OK) return s;
    std::promise<Status> opened;
    std::future<Status> ready = opened.get_future();
    std::string error_message;
    thread_ = std::thread([&, title = win32::to_wide(address_.name())] {
        const Status status = make_window(listener_class, procedure, title, this, &window_);
        if (status != IPC_OK) error_message = last_error();
        opened.set_value(status);
        if (status != IPC_OK) return;
        pump();
    });
    if (Status s = ready.get(); s != IPC_OK) return fail(s, "%s", error_message.c_str());
    return IPC_OK;
}

LRESULT CALLBACK WindowListener::procedure(HWND window, UINT message, WPARAM from, LPARAM copied) {
    auto* self = static_cast<WindowListener*>(window_self(window));
    // Its making and unmaking; in between nothing that others send or post may change or end it.
    if (self == nullptr) return DefWindowProcW(window, message, from, copied);
    return message == WM_COPYDATA ? reinterpret_cast<LRESULT>(self->welcome(reinterpret_cast<HWND>(from), copied)) : 0;
}

void WindowListener::pump() {
    MSG message;
    while (!closing_) {
        GetMessageW(&message, nullptr, 0, 0);
        if (!closing_) DispatchMessageW(&message);
    }
    destroy_window(window_);
}

// The window of a new session; null for whoever is no client of this user's.
HWND WindowListener::welcome(HWND from, LPARAM copied) {
    Fragment fragment{};
    if (!read_fragment(copied, &fragment) || fragment.head.kind != Kind::hello || fragment.head.length != 0)
        return nullptr;
    const DWORD process = process_of(from);
    win32::PeerProcess client;
    if (process == 0 || win32::PeerProcess::open(process, address(), &client) != IPC_OK) return nullptr;
    std::shared_ptr<CallSession> session;
    HWND window = nullptr;
    if (start_session(address_, fragment.head.token, std::move(client), process, &session, &window) != IPC_OK)
        return nullptr;
    if (admit(session) == IPC_OK) return window;
    session->close();
    return nullptr;
}

void WindowListener::stop_listening() {
    closing_ = true;
    if (window_ != nullptr) PostMessageW(window_, WM_NULL, 0, 0);
    if (thread_.joinable()) thread_.join();
    claim_.release();
}

Status listen_window(const Address& address, FrameListener** listener) {
    if (Status s = check_plain_name(address); s != IPC_OK) return s;
    auto made = std::make_unique<WindowListener>(address);
    if (Status s = made->open(); s != IPC_OK) return s;
    *listener = made.release();
    return IPC_OK;
}

Status connect_to_window(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    if (Status s = check_plain_name(address); s != IPC_OK) return s;
    std::unique_ptr<CallClient> client;
    if (Status s = connect_window(address, win32::to_wide(address.name()), deadline, &client); s != IPC_OK) return s;
    *channel = make_call_channel(std::move(client), address.limit(), address.text()).release();
    return IPC_OK;
}

} // namespace

extern const Transport transport_wm_copydata{listen_window, connect_to_window};

} // namespace ipc
