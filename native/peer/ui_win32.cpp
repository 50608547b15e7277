// Scenarios `ui-idle`, `ui-busy` and `ui-blocked`: raw calls as a program with windows makes them (docs/measurement.md, "A client
// that pumps messages"). This thread is the one with the window.
#include "call_raw.hpp"
#include "failure.hpp"
#include "scenarios.hpp"

#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <windows.h>

namespace ipc::peer {
namespace {

[[noreturn]] void fail_system(const char* what) {
    throw Failure("SYSTEM",
                  std::string(what) + ": " + std::system_category().message(static_cast<int>(GetLastError())));
}

// A message-only window of the thread that makes it, and that thread's message loop.
class Pump {
  public:
    Pump();
    ~Pump() { DestroyWindow(window_); }
    Pump(const Pump&) = delete;
    Pump& operator=(const Pump&) = delete;

    // From now on the queue always holds one message more, whose work takes work_ns.
    void keep_busy() { post(busy); }
    // From any thread: ends one run().
    void tell() { post(told); }
    // Pumps until told.
    void run();

  private:
    static constexpr UINT told = WM_APP;
    static constexpr UINT busy = WM_APP + 1;
    static constexpr int64_t work_ns = 1'000'000;

    static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM first, LPARAM second);
    void post(UINT message) {
        if (!PostMessageW(window_, message, 0, 0)) fail_system("cannot post a message");
    }

    HWND window_ = nullptr;
};

Pump::Pump() {
    WNDCLASSW description{};
    description.lpfnWndProc = procedure;
    description.hInstance = GetModuleHandleW(nullptr);
    description.lpszClassName = L"ipc-peer.ui";
    RegisterClassW(&description);
    window_ = CreateWindowExW(0, description.lpszClassName, L"", 0, 0, 0, 0, 0, HWND_MESSAGE, nullptr,
                              description.hInstance, nullptr);
    if (window_ == nullptr) fail_system("cannot make a message-only window");
}

LRESULT CALLBACK Pump::procedure(HWND window, UINT message, WPARAM first, LPARAM second) {
    if (message != busy) return DefWindowProcW(window, message, first, second);
    for (const int64_t end = now_ns() + work_ns; now_ns() < end;) {
    }
    PostMessageW(window, busy, 0, 0);
    return 0;
}

void Pump::run() {
    MSG message;
    while (GetMessageW(&message, nullptr, 0, 0) > 0) {
        if (message.hwnd == window_ && message.message == told) return;
        DispatchMessageW(&message);
    }
    throw Failure("SYSTEM", "the message loop was told to end");
}

// Makes calls for the thread with the window, one at a time.
class Caller {
  public:
    Caller(std::function<void()> call, Pump& pump)
        : call_(std::move(call)), pump_(pump), asked_(CreateEventW(nullptr, FALSE, FALSE, nullptr)) {
        if (asked_ == nullptr) fail_system("cannot make an event");
        thread_ = std::thread([this] { work(); });
    }
    ~Caller() {
        stopped_ = true;
        SetEvent(asked_);
        thread_.join();
        CloseHandle(asked_);
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    void ask() { SetEvent(asked_); }
    // After the pump was told: throws what the call threw.
    void check() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void work() {
        while (WaitForSingleObject(asked_, INFINITE) == WAIT_OBJECT_0 && !stopped_) {
            try {
                call_();
            } catch (...) {
                failure_ = std::current_exception();
            }
            pump_.tell();
        }
    }

    const std::function<void()> call_;
    Pump& pump_;
    const HANDLE asked_;
    // Written before the event or the message that tells the other thread to look.
    bool stopped_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

class CallFromWindow final : public Operation {
  public:
    CallFromWindow(const Cell& cell, Control& control)
        : is_blocked_(cell.scenario == "ui-blocked"), exchange_(cell), connection_(Connection::connect(cell, control)),
          caller_([this] { exchange_.call(connection_.channel()); }, pump_) {
        if (cell.scenario == "ui-busy") pump_.keep_busy();
    }

    Timing once() override {
        exchange_.prepare();
        const int64_t begin_ns = now_ns();
        if (is_blocked_) {
            exchange_.call(connection_.channel());
        } else {
            caller_.ask();
            pump_.run();
        }
        const int64_t end_ns = now_ns();
        caller_.check();
        return {end_ns, end_ns - begin_ns, exchange_.check_reply()};
    }

  private:
    const bool is_blocked_;
    Pump pump_;
    RawExchange exchange_;
    Connection connection_;
    Caller caller_; // last: its thread uses the others
};

} // namespace

void ui_client(const Cell& cell, Control& control) {
    if (cell.codec != "raw")
        fail_bad_cell("scenario '" + cell.scenario + "' is played with codec raw, not " + cell.codec);
    const int64_t begin_ns = now_ns();
    CallFromWindow call(cell, control);
    run_client(cell, control, call, begin_ns);
}

} // namespace ipc::peer
