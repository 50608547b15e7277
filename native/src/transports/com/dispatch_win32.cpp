#include "transports/com/dispatch_win32.hpp"

#include "core/frame_header.hpp"
#include "win32/error_text.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"

#include <cstring>
#include <cwchar>
#include <limits>
#include <vector>

namespace ipc::com {
namespace {

constexpr IID none{};

// What a caller gave by reference, as scripting clients do.
const VARIANT* resolved(const VARIANT* value) {
    while (value->vt == (VT_BYREF | VT_VARIANT)) value = value->pvarVal;
    return value;
}

void serve_messages() {
    MSG message;
    while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) DispatchMessageW(&message);
}

} // namespace

HRESULT Dispatch::QueryInterface(REFIID wanted, void** object) {
    if (object == nullptr) return E_POINTER;
    if (IsEqualIID(wanted, IID_IUnknown) || IsEqualIID(wanted, IID_IDispatch)) {
        *object = static_cast<IDispatch*>(this);
        AddRef();
        return S_OK;
    }
    *object = nullptr;
    return E_NOINTERFACE;
}

ULONG Dispatch::Release() {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
}

HRESULT Dispatch::GetTypeInfoCount(UINT* count) {
    if (count == nullptr) return E_POINTER;
    *count = 0;
    return S_OK;
}

HRESULT Dispatch::GetIDsOfNames(REFIID, LPOLESTR* names, UINT count, LCID, DISPID* numbers) {
    if (names == nullptr || numbers == nullptr || count == 0) return E_INVALIDARG;
    for (UINT i = 0; i < count; ++i) numbers[i] = DISPID_UNKNOWN;
    for (size_t i = 0; i < names_.size(); ++i)
        if (std::wcscmp(names_[i], names[0]) == 0) numbers[0] = static_cast<DISPID>(i + 1);
    return numbers[0] != DISPID_UNKNOWN && count == 1 ? S_OK : DISP_E_UNKNOWNNAME;
}

HRESULT Dispatch::Invoke(DISPID number, REFIID, LCID, WORD flags, DISPPARAMS* arguments, VARIANT* result, EXCEPINFO*,
                         UINT*) {
    if (number < 1 || static_cast<size_t>(number) > names_.size() || (flags & DISPATCH_METHOD) == 0)
        return DISP_E_MEMBERNOTFOUND;
    if (arguments == nullptr || arguments->cNamedArgs != 0 || arguments->cArgs > 4) return DISP_E_BADPARAMCOUNT;
    try {
        std::vector<const VARIANT*> in_order;
        for (UINT i = arguments->cArgs; i-- > 0;) in_order.push_back(resolved(&arguments->rgvarg[i]));
        Value unwanted;
        return call(number, in_order, result != nullptr ? result : &unwanted);
    } catch (...) {
        return E_OUTOFMEMORY; // the only thing that anything here throws
    }
}

HRESULT call_method(IDispatch* object, const wchar_t* name, std::span<VARIANT> arguments, VARIANT* result) {
    DISPID number = DISPID_UNKNOWN;
    auto* text = const_cast<LPOLESTR>(name);
    if (const HRESULT failed = object->GetIDsOfNames(none, &text, 1, LOCALE_USER_DEFAULT, &number); FAILED(failed))
        return failed;
    std::vector<VARIANT> reversed(arguments.rbegin(), arguments.rend());
    DISPPARAMS given{reversed.data(), nullptr, static_cast<UINT>(reversed.size()), 0};
    return object->Invoke(number, none, LOCALE_USER_DEFAULT, DISPATCH_METHOD, &given, result, nullptr, nullptr);
}

SAFEARRAY* frame_array(FrameKind kind, uint32_t id, const void* payload, size_t length) {
    const size_t total = frame_header_size + length;
    if (total > static_cast<size_t>(std::numeric_limits<LONG>::max())) return nullptr;
    SAFEARRAY* array = SafeArrayCreateVector(VT_UI1, 0, static_cast<ULONG>(total));
    if (array == nullptr) return nullptr;
    auto* bytes = static_cast<std::byte*>(array->pvData);
    write_frame_header(bytes, kind, id, length);
    if (length != 0) std::memcpy(bytes + frame_header_size, payload, length);
    return array;
}

bool read_frame(const VARIANT& value, FrameInfo* frame, const std::byte** payload) {
    if (value.vt != (VT_ARRAY | VT_UI1) || value.parray == nullptr) return false;
    const SAFEARRAY& array = *value.parray;
    if (array.cDims != 1 || array.cbElements != 1 || array.rgsabound[0].cElements < frame_header_size) return false;
    const auto* bytes = static_cast<const std::byte*>(array.pvData);
    *payload = bytes + frame_header_size;
    return read_frame_header(bytes, frame) && frame->length == array.rgsabound[0].cElements - frame_header_size;
}

Status to_status(HRESULT result, const std::string& address) {
    const auto code = static_cast<unsigned>(result);
    switch (code) {
    case 0x8007000E: // E_OUTOFMEMORY
        return fail(IPC_OUT_OF_MEMORY, "out of memory for a message to or from %s: send smaller ones", address.c_str());
    case 0x80020003: // DISP_E_MEMBERNOTFOUND
    case 0x80020006: // DISP_E_UNKNOWNNAME
    case 0x80020005: // DISP_E_TYPEMISMATCH
    case 0x8002000E: // DISP_E_BADPARAMCOUNT
    case 0x80040200 + IPC_NOT_OUR_PROTOCOL:
        return fail(IPC_NOT_OUR_PROTOCOL,
                    "the object behind %s does not take our calls: it is another's, or of another version",
                    address.c_str());
    case 0x80070005: // E_ACCESSDENIED
    case 0x80040200 + IPC_NO_PERMISSION:
        return fail(IPC_NO_PERMISSION, "the object behind %s belongs to another user: run both as the same",
                    address.c_str());
    case 0x80010007: // RPC_E_SERVER_DIED
    case 0x80010012: // RPC_E_SERVER_DIED_DNE
    case 0x80010108: // RPC_E_DISCONNECTED
    case 0x800401FD: // CO_E_OBJNOTCONNECTED
    case 0x800706BA: // RPC_S_SERVER_UNAVAILABLE
    case 0x800706BE: // RPC_S_CALL_FAILED
    case 0x800706BF: // RPC_S_CALL_FAILED_DNE
        return fail(IPC_PEER_CLOSED, "the server at %s has closed or died: reconnect", address.c_str());
    default:
        break;
    }
    if (code > 0x80040200 && code < 0x80040300)
        return fail(IPC_PEER_CLOSED, "the server at %s has ended the session: reconnect", address.c_str());
    return win32::fail_windows(IPC_SYSTEM, static_cast<DWORD>(result), "a COM call to %s failed (0x%08x)",
                               address.c_str(), code);
}

HRESULT make_moniker(const std::string& name, Reference<IMoniker>* moniker) {
    win32::User user;
    if (win32::this_user(&user) != IPC_OK) return E_FAIL;
    const std::wstring item = L"ipc." + user.text() + L"." + win32::to_wide(name);
    return CreateItemMoniker(L"!", item.c_str(), moniker->receive());
}

int wait_in_apartment(bool single_threaded, HANDLE first, HANDLE second) {
    const HANDLE handles[2] = {first, second};
    const DWORD count = second != nullptr ? 2 : 1;
    if (!single_threaded) return WaitForMultipleObjects(count, handles, FALSE, INFINITE) == WAIT_OBJECT_0 + 1 ? 1 : 0;
    while (true) {
        const DWORD woken = MsgWaitForMultipleObjectsEx(count, handles, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
        if (woken == WAIT_OBJECT_0 || woken == WAIT_FAILED) return 0;
        if (woken == WAIT_OBJECT_0 + 1 && count == 2) return 1;
        serve_messages();
    }
}

void serve_while_held(const Dispatch& object, HANDLE client) {
    while (object.is_held_elsewhere() &&
           MsgWaitForMultipleObjectsEx(1, &client, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE) == WAIT_OBJECT_0 + 1)
        serve_messages();
}

} // namespace ipc::com
