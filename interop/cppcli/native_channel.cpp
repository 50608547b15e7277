// From managed code to a native transport: a managed class over a channel of the C library, compiled with /clr. The same is
// offered by Ipc.Native through P/Invoke; this is for programs that already have C++/CLI and want no second assembly.
// Built by Visual C++ only; README's platform table says what has been built and run.
#include "ipc/ipc.h"

#include <string>
#include <vcclr.h>

using namespace System;
using namespace System::Text;

namespace Ipc {
namespace CppCli {

// A failure of the library. Status is an ipc_status (ipc.h), the message the library's own error message.
public
ref class ChannelException sealed : public Exception {
  public:
    ChannelException(int status, String ^ error_message) : Exception(error_message), status_(status) {}
    property int Status {
        int get() {
            return status_;
        }
    }

  private:
    int status_;
};

namespace {

std::string utf8(String ^ text) {
    array<Byte> ^ bytes = Encoding::UTF8->GetBytes(text);
    std::string result;
    if (bytes->Length > 0) {
        pin_ptr<Byte> pinned = &bytes[0];
        result.assign(reinterpret_cast<const char*>(static_cast<Byte*>(pinned)), static_cast<size_t>(bytes->Length));
    }
    return result;
}

void check(ipc_status status) {
    if (status == IPC_OK) return;
    // Read at once: the thread's next failing call replaces it.
    const char* error_message = ipc_last_error();
    throw gcnew ChannelException(
        status, gcnew String(error_message, 0, static_cast<int>(std::strlen(error_message)), Encoding::UTF8));
}

} // namespace

// A client's channel. Threads as in ipc.h: one sender and one receiver at a time, Close from any thread at any time. Dispose
// must come when no other thread is inside a call.
public
ref class NativeChannel sealed {
  public:
    // Milliseconds; -1 waits without end.
    static NativeChannel ^
        Connect(String ^ address, int timeoutMilliseconds) {
            if (address == nullptr) throw gcnew ArgumentNullException("address");
            ipc_channel* channel = nullptr;
            check(ipc_connect(utf8(address).c_str(), timeoutMilliseconds, &channel));
            return gcnew NativeChannel(channel);
        }

        // Sends a request and gives its reply.
        array<Byte> ^
        Call(array<Byte> ^ request, int timeoutMilliseconds) {
            if (request == nullptr) throw gcnew ArgumentNullException("request");
            const void* reply = nullptr;
            size_t length = 0;
            {
                // An empty array has no first element to pin.
                pin_ptr<Byte> pinned = request->Length > 0 ? &request[0] : nullptr;
                check(ipc_call_peek(Opened(), pinned, static_cast<size_t>(request->Length), &reply, &length,
                                    timeoutMilliseconds));
            }
            array<Byte> ^ result = Copy(reply, length);
            check(ipc_release(Opened()));
            return result;
        }

        void Send(array<Byte> ^ message, int timeoutMilliseconds) {
        if (message == nullptr) throw gcnew ArgumentNullException("message");
        pin_ptr<Byte> pinned = message->Length > 0 ? &message[0] : nullptr;
        check(ipc_send(Opened(), pinned, static_cast<size_t>(message->Length), timeoutMilliseconds));
    }

    array<Byte> ^
        Receive(int timeoutMilliseconds) {
            const void* message = nullptr;
            size_t length = 0;
            check(ipc_peek(Opened(), &message, &length, timeoutMilliseconds));
            array<Byte> ^ result = Copy(message, length);
            check(ipc_release(Opened()));
            return result;
        }

        // Ends the connection; a call that is blocked here comes back with IPC_CLOSED.
        void Close() {
        ipc_channel_close(Opened());
    }

    ~NativeChannel() { this->!NativeChannel(); }
    !NativeChannel() {
        ipc_channel_free(channel_);
        channel_ = nullptr;
    }

  private:
    explicit NativeChannel(ipc_channel* channel) : channel_(channel) {}

    ipc_channel* Opened() {
        if (channel_ == nullptr) throw gcnew ObjectDisposedException("NativeChannel");
        return channel_;
    }

    // The peer chose the length; arrays are no longer than an int tells.
    static array<Byte> ^
        Copy(const void* from, size_t length) {
            if (length > static_cast<size_t>(Int32::MaxValue))
                throw gcnew ChannelException(IPC_MESSAGE_TOO_LARGE,
                                             "the message does not fit an array: give the address a smaller max=");
            array<Byte> ^ to = gcnew array<Byte>(static_cast<int>(length));
            if (length > 0)
                System::Runtime::InteropServices::Marshal::Copy(IntPtr(const_cast<void*>(from)), to, 0, to->Length);
            return to;
        }

        ipc_channel* channel_;
};

} // namespace CppCli
} // namespace Ipc
