#pragma once

#include "standard_streams.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <thread>

namespace ipc::peer {

// The line to the runner: JSON lines in on standard input, out on standard output. Once started, a thread of its own
// answers commands, so that the thread that serves or measures is not disturbed. All functions may be called by any
// thread.
class Control {
  public:
    Control();
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // The cell; to be read once, before start. Throws a Failure when standard input ends before it.
    std::string read_first_line();
    void start();

    // Writes one line at once. A runner that no longer reads is noticed by the end of standard input, not here.
    void emit(const nlohmann::ordered_json& event);

    static constexpr const char* ended_too_early =
        "standard input ended before the cell was done: keep it open until the peer has answered";

    // Throws a Failure when standard input ends instead.
    void wait_for_go();
    bool wait_for_go_or_warm(); // false: warm up further
    void wait_for_end();
    void throw_if_ended() const;

    // While it lives, the end of standard input calls `interrupt`, which must make a blocked library call return. One
    // at a time.
    class Interruptible {
      public:
        Interruptible(Control& control, std::function<void()> interrupt);
        ~Interruptible();
        Interruptible(const Interruptible&) = delete;
        Interruptible& operator=(const Interruptible&) = delete;

      private:
        Control& control_;
    };

  private:
    // The next line without its end, or false at the end of standard input (or of this object).
    bool read_line(std::string* line);
    void obey(const std::string& line);
    void read_commands();

    StandardInput input_;
    std::string unread_;
    std::thread reader_;

    std::mutex output_mutex_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool go_ = false;
    bool warm_ = false;
    std::atomic<bool> ended_ = false;
    std::function<void()> interrupt_;
};

} // namespace ipc::peer
