#include "control.hpp"

#include "core/wait_for_change.hpp"
#include "failure.hpp"
#include "usage.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace ipc::peer {

using nlohmann::json;
using nlohmann::ordered_json;

Control::Control() = default;

Control::~Control() {
    if (reader_.joinable()) {
        input_.stop();
        reader_.join();
    }
}

std::string Control::read_first_line() {
    std::string line;
    if (!read_line(&line))
        throw Failure("INVALID_ARGUMENT",
                      "standard input ended before a cell came: start this peer with `ipc run`, or see --help");
    return line;
}

void Control::start() {
    reader_ = std::thread(&Control::read_commands, this);
}

void Control::emit(const ordered_json& event) {
    // A reason may quote bytes of any kind; whatever is not UTF-8 in it is shown as the replacement character.
    const std::string line = event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    std::lock_guard lock(output_mutex_);
    write_output(line);
}

void Control::wait_for_go() {
    std::unique_lock lock(mutex_);
    while (!go_ && !ended_) wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
    go_ = false;
    throw_if_ended();
}

bool Control::wait_for_go_or_warm() {
    std::unique_lock lock(mutex_);
    while (!go_ && !warm_ && !ended_) wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
    throw_if_ended();
    const bool go = go_;
    go_ = warm_ = false;
    return go;
}

void Control::wait_for_end() {
    std::unique_lock lock(mutex_);
    while (!ended_) wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
}

void Control::throw_if_ended() const {
    if (ended_.load(std::memory_order_relaxed)) // only tells to stop: nothing is read because of it
        throw Failure("CLOSED", ended_too_early);
}

bool Control::read_line(std::string* line) {
    while (true) {
        if (const size_t end = unread_.find('\n'); end != std::string::npos) {
            line->assign(unread_, 0, end);
            unread_.erase(0, end + 1);
            return true;
        }
        char bytes[4096];
        const size_t count = input_.read(bytes, sizeof bytes);
        if (count == 0) return false;
        unread_.append(bytes, count);
    }
}

void Control::obey(const std::string& line) {
    const json object = json::parse(line, nullptr, false);
    const auto command = object.is_object() ? object.value("command", json()) : json();
    if (command == "go" || command == "warm") {
        std::lock_guard lock(mutex_);
        (command == "go" ? go_ : warm_) = true;
        changed_.notify_all();
    } else if (command == "usage") {
        Usage usage = read_counters();
        usage.memory_bytes = read_memory();
        ordered_json event{{"event", "usage"}};
        event.update(to_json(usage));
        emit(event);
    } else {
        write_error("ipc-peer: the line " + line +
                    " is no command; use go, warm or usage, see docs/peer-protocol.md\n");
    }
}

void Control::read_commands() {
    for (std::string line; read_line(&line);) obey(line);
    std::lock_guard lock(mutex_);
    ended_ = true;
    if (interrupt_) interrupt_();
    changed_.notify_all();
}

Control::Interruptible::Interruptible(Control& control, std::function<void()> interrupt) : control_(control) {
    std::lock_guard lock(control_.mutex_);
    control_.interrupt_ = std::move(interrupt);
    if (control_.ended_) control_.interrupt_();
}

Control::Interruptible::~Interruptible() {
    std::lock_guard lock(control_.mutex_);
    control_.interrupt_ = nullptr;
}

} // namespace ipc::peer
