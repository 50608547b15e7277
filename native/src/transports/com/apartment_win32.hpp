#pragma once

#include <windows.h>
// After windows.h, which leaves it out.
#include <combaseapi.h>

namespace ipc::com {

// A thread is in an apartment for as long as this lives.
class InApartment {
  public:
    explicit InApartment(bool single_threaded)
        : entered_(enter(single_threaded ? COINIT_APARTMENTTHREADED : COINIT_MULTITHREADED)) {}
    ~InApartment() {
        if (SUCCEEDED(entered_)) CoUninitialize();
    }
    InApartment(const InApartment&) = delete;
    InApartment& operator=(const InApartment&) = delete;
    HRESULT entered() const { return entered_; }

  private:
    // The process' multi-threaded apartment stays once it is made, as it does in every .NET process. Else it would go with the last
    // thread of a listener or channel and be made anew by the next, and with it go the ends of what is still being released.
    static HRESULT enter(DWORD kind) {
        static CO_MTA_USAGE_COOKIE kept = nullptr;
        static const HRESULT made = CoIncrementMTAUsage(&kept);
        return FAILED(made) ? made : CoInitializeEx(nullptr, kind);
    }

    const HRESULT entered_;
};

} // namespace ipc::com
