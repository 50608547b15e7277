#include "failure.hpp"
#include "standard_streams.hpp"

#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace ipc::peer {
namespace {

void write_all(int to, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(to, text.data(), text.size());
        if (written > 0)
            text.remove_prefix(static_cast<size_t>(written));
        else if (errno != EINTR)
            return;
    }
}

} // namespace

StandardInput::StandardInput() : stop_event_(eventfd(0, EFD_CLOEXEC)) {
    if (stop_event_ < 0)
        throw Failure("SYSTEM", "the system gives no eventfd: raise the limit on open files (ulimit -n)");
}

StandardInput::~StandardInput() {
    close(stop_event_);
}

size_t StandardInput::read(char* bytes, size_t capacity) {
    while (true) {
        pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {stop_event_, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return 0;
        }
        if (ready[1].revents) return 0;
        const ssize_t count = ::read(STDIN_FILENO, bytes, capacity);
        if (count >= 0) return static_cast<size_t>(count);
        if (errno != EINTR) return 0;
    }
}

void StandardInput::stop() {
    const uint64_t one = 1;
    while (write(stop_event_, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void write_output(std::string_view text) {
    write_all(STDOUT_FILENO, text);
}

void write_error(std::string_view text) {
    write_all(STDERR_FILENO, text);
}

} // namespace ipc::peer
