#pragma once

#include "core/frame_channel.hpp"
#include "core/status.hpp"
#include "transports/wm_copydata/wire.hpp"

#include <memory>
#include <string>
#include <windows.h>

namespace ipc::wm_copydata {

// A message-only window; made, used and destroyed by one thread. `self` is what window_self() gives in its procedure.
Status make_window(const wchar_t* window_class, WNDPROC procedure, const std::wstring& title, void* self, HWND* window);
// Null while the window is made and destroyed.
void* window_self(HWND window);
void destroy_window(HWND window);

// What a WM_COPYDATA brought: its head, and the fragment of the payload behind it.
struct Fragment {
    Head head;
    const std::byte* bytes;
    size_t length;
};
// False if it is none of ours: wrong magic, version or lengths. The fragment lies within its payload.
bool read_fragment(LPARAM copied, Fragment* fragment);

// Brings a payload together from its fragments. They come in order; one may come again.
class Arriving {
  public:
    enum class Outcome { more, complete, repeated, refused };

    // The first fragment of a payload, whose length is then known; one over `limit` is complete at once, and not kept.
    Outcome begin(const Fragment& fragment, size_t limit);
    // A further fragment, or one that has come before.
    Outcome go_on(const Fragment& fragment);

    std::byte* data() const { return bytes_.get(); }
    // Gives the memory away and starts with none.
    std::unique_ptr<std::byte[]> release(size_t* capacity);
    void reuse(std::unique_ptr<std::byte[]> bytes, size_t capacity);

  private:
    Outcome append(const Fragment& fragment);

    std::unique_ptr<std::byte[]> bytes_;
    size_t capacity_ = 0;
    size_t length_ = 0;
    size_t arrived_ = 0;
};

// The process a window belongs to; 0 if there is no such window.
DWORD process_of(HWND window);

// What became of a message.
enum class Sent { taken, refused, timed_out, window_gone };

// A message made ready to be sent, perhaps several times. A window of this same process is given this memory, not a copy, and
// may look at it after the sender has given up: such memory is never freed.
class Outgoing {
  public:
    // One fragment: what `head` says, and at most most_in_fragment bytes of the payload from head.offset on. IPC_OUT_OF_MEMORY, with a
    // error message.
    Status make(Head head, const void* payload);
    // Sends it and waits at most so long for the window's thread to take it; meanwhile messages sent to this thread's own
    // windows are carried out. *result is what the window's procedure returned.
    Sent send(HWND from, HWND to, UINT patience_ms, DWORD_PTR* result = nullptr);

  private:
    struct Memory {
        COPYDATASTRUCT copied;
        std::unique_ptr<std::byte[]> bytes;
        size_t capacity = 0;
    };
    std::unique_ptr<Memory> memory_;
};

// A head of ours for a payload of this length, at its beginning.
Head make_head(Kind kind, uint32_t id, uint32_t number, const Token& token, size_t length);

} // namespace ipc::wm_copydata
