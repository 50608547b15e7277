#include "standard_streams.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <windows.h>

namespace ipc::peer {

// A read of an anonymous pipe can neither be waited for together with something else nor be relied upon to be cancelled. So a
// thread of its own reads, is left to itself when nobody needs it any more, and ends with the process.
struct StandardInput::Reader {
    std::mutex mutex;
    std::condition_variable changed;
    std::string bytes;
    bool ended = false;
    bool stopped = false;
    std::thread thread;

    void read_all() {
        char some[4096];
        DWORD count = 0;
        while (ReadFile(GetStdHandle(STD_INPUT_HANDLE), some, sizeof some, &count, nullptr) && count != 0) {
            std::lock_guard lock(mutex);
            bytes.append(some, count);
            changed.notify_all();
        }
        std::lock_guard lock(mutex);
        ended = true;
        changed.notify_all();
    }
};

namespace {

void write_all(DWORD to, std::string_view text) {
    while (!text.empty()) {
        DWORD written = 0;
        if (!WriteFile(GetStdHandle(to), text.data(), static_cast<DWORD>(text.size()), &written, nullptr)) return;
        text.remove_prefix(written);
    }
}

} // namespace

// Given away on purpose, the thread too: it may run until the process ends. (Why it is not detached: docs/windows.md, "Threads
// that nobody waits for".)
StandardInput::StandardInput() : reader_(new Reader) {
    reader_->thread = std::thread([reader = reader_] { reader->read_all(); });
}

StandardInput::~StandardInput() = default;

size_t StandardInput::read(char* bytes, size_t capacity) {
    std::unique_lock lock(reader_->mutex);
    reader_->changed.wait(lock, [this] { return reader_->stopped || reader_->ended || !reader_->bytes.empty(); });
    if (reader_->stopped) return 0;
    const size_t count = std::min(capacity, reader_->bytes.size());
    std::copy_n(reader_->bytes.data(), count, bytes);
    reader_->bytes.erase(0, count);
    return count;
}

void StandardInput::stop() {
    std::lock_guard lock(reader_->mutex);
    reader_->stopped = true;
    reader_->changed.notify_all();
}

void write_output(std::string_view text) {
    write_all(STD_OUTPUT_HANDLE, text);
}

void write_error(std::string_view text) {
    write_all(STD_ERROR_HANDLE, text);
}

} // namespace ipc::peer
