#pragma once

#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#if defined(_WIN32)
#    include <cerrno>
#    include <process.h>
#    include <windows.h>
#endif

namespace ipc {

#if defined(_WIN32)
// The library or program that this code is part of. It stays loaded from now on, for what runs in it without a known end.
inline HMODULE stay_loaded() {
    HMODULE self = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<const wchar_t*>(&stay_loaded), &self);
    return self;
}

template <class Body>
unsigned __stdcall run_detached(void* body) {
    const std::unique_ptr<Body> owned(static_cast<Body*>(body));
    (*owned)();
    return 0;
}
#endif

// Runs `body` once on a thread of its own, for which nobody waits. Nothing may be thrown out of `body`. Throws std::system_error
// when the system has no thread to give.
//
// On Windows this is not std::thread's detach(): in mingw-w64's winpthreads 10 that races with the end of a short thread, after
// which a later thread starts without its body or never (docs/windows.md, "Threads that nobody waits for").
template <class Body>
void start_detached(Body body) {
#if defined(_WIN32)
    stay_loaded();
    auto owned = std::make_unique<Body>(std::move(body));
    const uintptr_t thread = _beginthreadex(nullptr, 0, run_detached<Body>, owned.get(), 0, nullptr);
    if (thread == 0) throw std::system_error(errno, std::generic_category(), "cannot start a thread");
    static_cast<void>(owned.release()); // the thread's now
    CloseHandle(reinterpret_cast<HANDLE>(thread));
#else
    std::thread(std::move(body)).detach();
#endif
}

} // namespace ipc
