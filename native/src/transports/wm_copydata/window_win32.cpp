#include "transports/wm_copydata/window_win32.hpp"

#include "core/detached_thread.hpp"
#include "win32/error_text.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace ipc::wm_copydata {

Status make_window(const wchar_t* window_class, WNDPROC procedure, const std::wstring& title, void* self,
                   HWND* window) {
    // A window is there until its thread ends, and whatever is sent to it until then runs the library's code.
    const HINSTANCE module = stay_loaded();
    WNDCLASSEXW description{};
    description.cbSize = sizeof description;
    description.lpfnWndProc = procedure;
    description.hInstance = module;
    description.lpszClassName = window_class;
    if (RegisterClassExW(&description) == 0 && GetLastError() != ERROR_CLASS_ALREADY_EXISTS)
        return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot register a window class");
    *window = CreateWindowExW(0, window_class, title.c_str(), 0, 0, 0, 0, 0, HWND_MESSAGE, nullptr, module, nullptr);
    if (*window == nullptr) return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot make a message-only window");
    SetWindowLongPtrW(*window, GWLP_USERDATA, reinterpret_cast<LONG_PTR>(self));
    return IPC_OK;
}

void* window_self(HWND window) {
    return reinterpret_cast<void*>(GetWindowLongPtrW(window, GWLP_USERDATA));
}

void destroy_window(HWND window) {
    SetWindowLongPtrW(window, GWLP_USERDATA, 0);
    DestroyWindow(window);
}

bool read_fragment(LPARAM copied, Fragment* fragment) {
    const auto* data = reinterpret_cast<const COPYDATASTRUCT*>(copied);
    if (data == nullptr || data->lpData == nullptr) return false;
    // In one process this is the sender's own memory: copied before it is looked at.
    const COPYDATASTRUCT given = *data;
    Head& head = fragment->head;
    if (given.dwData != magic || given.cbData < sizeof head) return false;
    std::memcpy(&head, given.lpData, sizeof head);
    fragment->bytes = static_cast<const std::byte*>(given.lpData) + sizeof head;
    fragment->length = given.cbData - sizeof head;
    if (head.magic != magic || head.version != version || fragment->length > most_in_fragment) return false;
    return head.offset <= head.length && fragment->length <= head.length - head.offset &&
           (fragment->length != 0 || head.length == 0);
}

Arriving::Outcome Arriving::begin(const Fragment& fragment, size_t limit) {
    length_ = arrived_ = 0;
    if (fragment.head.offset != 0) return Outcome::refused;
    if (fragment.head.length > limit) return Outcome::complete;
    if (capacity_ < fragment.head.length) {
        const size_t room = std::min(limit, std::max<size_t>(fragment.head.length, 2 * capacity_));
        bytes_.reset();
        capacity_ = 0;
        bytes_.reset(new (std::nothrow) std::byte[room]);
        if (!bytes_) return Outcome::refused;
        capacity_ = room;
    }
    length_ = fragment.head.length;
    return append(fragment);
}

Arriving::Outcome Arriving::go_on(const Fragment& fragment) {
    if (fragment.head.offset < arrived_ || arrived_ == length_) return Outcome::repeated;
    return fragment.head.offset == arrived_ && fragment.head.length == length_ ? append(fragment) : Outcome::refused;
}

Arriving::Outcome Arriving::append(const Fragment& fragment) {
    if (fragment.length != 0) std::memcpy(bytes_.get() + arrived_, fragment.bytes, fragment.length);
    arrived_ += fragment.length;
    return arrived_ == length_ ? Outcome::complete : Outcome::more;
}

std::unique_ptr<std::byte[]> Arriving::release(size_t* capacity) {
    *capacity = std::exchange(capacity_, 0);
    return std::move(bytes_);
}

void Arriving::reuse(std::unique_ptr<std::byte[]> bytes, size_t capacity) {
    if (bytes_) return;
    bytes_ = std::move(bytes);
    capacity_ = capacity;
}

Head make_head(Kind kind, uint32_t id, uint32_t number, const Token& token, size_t length) {
    return {magic, version, kind, id, static_cast<uint32_t>(length), number, 0, 0, token};
}

DWORD process_of(HWND window) {
    DWORD process = 0;
    return GetWindowThreadProcessId(window, &process) == 0 ? 0 : process;
}

Status Outgoing::make(Head head, const void* payload) {
    const size_t length = fragment_length(head);
    const size_t total = sizeof head + length;
    if (!memory_) memory_ = std::make_unique<Memory>();
    if (memory_->capacity < total) {
        const size_t room = std::min(sizeof head + most_in_fragment, std::max(total, 2 * memory_->capacity));
        memory_->capacity = 0;
        memory_->bytes.reset(new (std::nothrow) std::byte[room]);
        if (!memory_->bytes)
            return fail(IPC_OUT_OF_MEMORY, "out of memory for a message of %u bytes: send smaller ones", head.length);
        memory_->capacity = room;
    }
    std::memcpy(memory_->bytes.get(), &head, sizeof head);
    if (length != 0)
        std::memcpy(memory_->bytes.get() + sizeof head, static_cast<const std::byte*>(payload) + head.offset, length);
    memory_->copied = {magic, static_cast<DWORD>(total), memory_->bytes.get()};
    return IPC_OK;
}

Sent Outgoing::send(HWND from, HWND to, UINT patience_ms, DWORD_PTR* result) {
    DWORD_PTR returned = 0;
    SetLastError(0);
    const LRESULT sent =
        SendMessageTimeoutW(to, WM_COPYDATA, reinterpret_cast<WPARAM>(from), reinterpret_cast<LPARAM>(&memory_->copied),
                            SMTO_NORMAL, patience_ms, &returned);
    if (sent != 0) {
        if (result != nullptr) *result = returned;
        return returned != 0 ? Sent::taken : Sent::refused;
    }
    const DWORD error = GetLastError();
    const DWORD owner = process_of(to);
    if (owner == 0) return Sent::window_gone;
    if (error != ERROR_TIMEOUT && error != 0) return Sent::window_gone;
    if (owner == GetCurrentProcessId()) {
        // Another try is made of a copy.
        auto again = std::make_unique<Memory>();
        again->bytes.reset(new (std::nothrow) std::byte[memory_->capacity]);
        if (!again->bytes) return Sent::window_gone;
        again->capacity = memory_->capacity;
        std::memcpy(again->bytes.get(), memory_->bytes.get(), memory_->copied.cbData);
        again->copied = {magic, memory_->copied.cbData, again->bytes.get()};
        static_cast<void>(memory_.release());
        memory_ = std::move(again);
    }
    return Sent::timed_out;
}

} // namespace ipc::wm_copydata
