#pragma once

#include <windows.h>
// After windows.h, which leaves it out.
#include <combaseapi.h>

namespace ipc::com {

// A thread is in an apartment for as long as this lives.
class InApartment {
  public:
    explicit InApartment(bool single_threaded)
        : entered_(CoInitializeEx(nullptr, single_threaded ? COINIT_APARTMENTTHREADED : COINIT_MULTITHREADED)) {}
    ~InApartment() {
        if (SUCCEEDED(entered_)) CoUninitialize();
    }
    InApartment(const InApartment&) = delete;
    InApartment& operator=(const InApartment&) = delete;
    HRESULT entered() const { return entered_; }

  private:
    const HRESULT entered_;
};

} // namespace ipc::com
