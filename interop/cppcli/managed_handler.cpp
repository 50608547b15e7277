// Compiled with /clr by Visual C++ only; README's platform table says what has been built and run.
#define IPC_CPPCLI_BUILDING
#include "managed_handler.hpp"

#include <cstring>
#include <string>
#include <vcclr.h>

using namespace System;
using namespace System::Reflection;
using namespace System::Text;

namespace {

delegate array<Byte>^ Handler(array<Byte>^ request);

// Not a thread_local object: those cannot be constructed in code compiled with /clr.
__declspec(thread) wchar_t failure[512];

// The native callback's `user`.
struct Served {
    gcroot<Handler^> handler;
};

ipc_status IPC_CALL answer(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
    try {
        if (length > static_cast<size_t>(Int32::MaxValue)) {
            ipc_reply_fail(writer, "the request does not fit a .NET array: give the address a smaller max=");
            return IPC_MESSAGE_TOO_LARGE;
        }
        array<Byte>^ bytes = gcnew array<Byte>(static_cast<int>(length));
        if (length > 0)
            System::Runtime::InteropServices::Marshal::Copy(IntPtr(const_cast<void*>(request)), bytes, 0, bytes->Length);
        array<Byte>^ reply = static_cast<Served*>(user)->handler->Invoke(bytes);
        if (reply == nullptr || reply->Length == 0) return IPC_OK; // an empty reply
        void* room = nullptr;
        if (ipc_status status = ipc_reply_reserve(writer, static_cast<size_t>(reply->Length), &room)) return status;
        System::Runtime::InteropServices::Marshal::Copy(reply, 0, IntPtr(room), reply->Length);
        return IPC_OK;
    } catch (Exception^ e) {
        // No exception crosses the ABI.
        array<Byte>^ text = Encoding::UTF8->GetBytes(e->Message + "\0");
        pin_ptr<Byte> pinned = &text[0];
        ipc_reply_fail(writer, reinterpret_cast<const char*>(static_cast<Byte*>(pinned)));
        return IPC_HANDLER_FAILED;
    }
}

Handler^ find(const wchar_t* assembly, const wchar_t* type, const wchar_t* method) {
    Type^ owner = Assembly::LoadFrom(gcnew String(assembly))->GetType(gcnew String(type), true);
    MethodInfo^ found = owner->GetMethod(gcnew String(method), BindingFlags::Public | BindingFlags::Static, nullptr,
                                         gcnew array<Type^>{array<Byte>::typeid}, nullptr);
    if (found == nullptr)
        throw gcnew MissingMethodException(gcnew String(type), gcnew String(method));
    return safe_cast<Handler^>(found->CreateDelegate(Handler::typeid));
}

} // namespace

ipc_status ipc_cppcli_serve(ipc_channel* channel, const wchar_t* assembly, const wchar_t* type, const wchar_t* method) {
    failure[0] = L'\0';
    if (assembly == nullptr || type == nullptr || method == nullptr) return IPC_INVALID_ARGUMENT;
    try {
        Served served;
        served.handler = find(assembly, type, method);
        return ipc_serve(channel, answer, &served);
    } catch (Exception^ e) {
        pin_ptr<const wchar_t> text = PtrToStringChars(e->Message);
        wcsncpy_s(failure, text, _TRUNCATE);
        return IPC_NOT_AVAILABLE;
    }
}

const wchar_t* ipc_cppcli_last_error(void) {
    return failure;
}
