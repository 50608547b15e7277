#pragma once

#include "core/frame_channel.hpp"
#include "core/status.hpp"

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <windows.h>
// After windows.h, which leaves them out.
#include <oleauto.h>

namespace ipc::com {

// docs/wire-formats.md "COM".
constexpr LONG version = 1;

// A pointer to an object that this owns one reference to.
template <class T>
class Reference {
  public:
    Reference() = default;
    explicit Reference(T* object) : object_(object) {}
    Reference(Reference&& other) noexcept : object_(other.release()) {}
    Reference& operator=(Reference&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~Reference() { reset(); }
    T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    T* release() {
        T* object = object_;
        object_ = nullptr;
        return object;
    }
    void reset(T* object = nullptr) {
        if (object_ != nullptr) object_->Release();
        object_ = object;
    }
    // For functions that give a reference.
    T** receive() {
        reset();
        return &object_;
    }

  private:
    T* object_ = nullptr;
};

// A VARIANT that is cleared.
struct Value : VARIANT {
    Value() { VariantInit(this); }
    ~Value() { VariantClear(this); }
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
};

#if defined(__GNUC__)
// COM's interfaces have no virtual destructor; objects delete themselves.
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif
// An object that is called late bound. Its methods have the numbers 1, 2, 3 ... in the order of their names.
class Dispatch : public IDispatch {
  public:
    explicit Dispatch(std::span<const wchar_t* const> names) : names_(names) {}
    Dispatch(const Dispatch&) = delete;
    Dispatch& operator=(const Dispatch&) = delete;

    // Whether others than its maker, who has one reference, have references.
    bool is_held_elsewhere() const { return references_ > 1; }

    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID wanted, void** object) override;
    ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
    ULONG STDMETHODCALLTYPE Release() override;
    HRESULT STDMETHODCALLTYPE GetTypeInfoCount(UINT* count) override;
    HRESULT STDMETHODCALLTYPE GetTypeInfo(UINT, LCID, ITypeInfo**) override { return E_NOTIMPL; }
    HRESULT STDMETHODCALLTYPE GetIDsOfNames(REFIID, LPOLESTR* names, UINT count, LCID, DISPID* numbers) override;
    HRESULT STDMETHODCALLTYPE Invoke(DISPID number, REFIID, LCID, WORD flags, DISPPARAMS* arguments, VARIANT* result,
                                     EXCEPINFO*, UINT*) override;

  protected:
    virtual ~Dispatch() = default;
    // Arguments in the order written, references resolved. `result` is never null.
    virtual HRESULT call(DISPID number, std::span<const VARIANT* const> arguments, VARIANT* result) = 0;

  private:
    const std::span<const wchar_t* const> names_;
    std::atomic<ULONG> references_{1};
};
#if defined(__GNUC__)
#    pragma GCC diagnostic pop
#endif

// Calls a method by its name; `arguments` in the order written.
HRESULT call_method(IDispatch* object, const wchar_t* name, std::span<VARIANT> arguments, VARIANT* result);

// Frames as arrays of bytes: the header of frames on streams, then the payload. Null: no memory.
SAFEARRAY* frame_array(FrameKind kind, uint32_t id, const void* payload, size_t length);
// False if the value is no such array. The payload lies in the array, which must stay.
bool read_frame(const VARIANT& value, FrameInfo* frame, const std::byte** payload);

// How the server tells a status: a failure of FACILITY_ITF.
inline HRESULT to_result(Status status) {
    return static_cast<HRESULT>(0x80040200u + static_cast<unsigned>(status));
}
// What a failed call means to a client. Sets the error message; `address` is for it.
Status to_status(HRESULT result, const std::string& address);

// The moniker of an address's name.
HRESULT make_moniker(const std::string& name, Reference<IMoniker>* moniker);

// Waits for the first of two handles in a thread's apartment: one for single threads serves the calls that come meanwhile.
// 0 or 1; the second may be null.
int wait_in_apartment(bool single_threaded, HANDLE first, HANDLE second);
// In an apartment for single threads: serves the calls that come until nobody else holds the object, or its client's process has ended.
// A call is a message to this thread. One that is posted while the thread leaves the apartment is answered by nobody under Wine, and
// its caller waits for ever; who has given all references back makes no more.
void serve_while_held(const Dispatch& object, HANDLE client);

} // namespace ipc::com
