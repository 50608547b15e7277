// hosting.hpp - .NET code inside a C++ process: handlers for channels and servers, and functions. Over ipc/hosting.h, which says where .NET
// and assemblies are looked for; a program that includes this links ipc-hosting besides ipc. Not a part of ipc.hpp.
#ifndef IPC_HOSTING_HPP
#define IPC_HOSTING_HPP

#include "ipc/hosting.h"
#include "ipc/ipc.hpp"

namespace ipc {

// As check() in result.hpp, with the error message of ipc-hosting.
inline void check_hosting(ipc_status status) {
    if (status == IPC_OK) return;
#if IPC_HAS_EXCEPTIONS
    throw Error(status, ipc_hosting_last_error());
#else
    std::fprintf(stderr, "ipc: %s\n", ipc_hosting_last_error());
    std::abort();
#endif
}

// A static [UnmanagedCallersOnly] method of .NET as a pointer to a function of type Function. A wrong type is undefined behaviour.
template <class Function>
Function* hosted_function(const std::string& assembly, const std::string& type, const std::string& method) {
    void* function = nullptr;
    check_hosting(ipc_hosting_function(assembly.c_str(), type.c_str(), method.c_str(), &function));
    return reinterpret_cast<Function*>(function);
}

// A handler written in .NET (ipc_hosting_handler), to be given to Server or to Channel::serve, or to serve a channel by itself. Copies are
// the same handler, which is let go of with the last of them.
class HostedHandler {
  public:
    // Throws Error with the reason when there is no such handler.
    static HostedHandler load(const std::string& assembly, const std::string& type, const std::string& method) {
        Result<HostedHandler> loaded = try_load(assembly, type, method);
        check_hosting(loaded.status());
        return *std::move(loaded);
    }
    // The reason is ipc_hosting_last_error().
    static Result<HostedHandler> try_load(const std::string& assembly, const std::string& type,
                                          const std::string& method) noexcept {
        HostedHandler loaded;
        void* handler = nullptr;
        const ipc_status status =
            ipc_hosting_handler(assembly.c_str(), type.c_str(), method.c_str(), &loaded.answer_, &handler);
        if (status == IPC_OK) loaded.handler_ = std::shared_ptr<void>(handler, ipc_hosting_free);
        return Result<HostedHandler>(status, std::move(loaded));
    }

    // Answers the calls of a channel until the peer closes, as Channel::serve does.
    void serve(Channel& channel) const { value_of(try_serve(channel)); }
    Result<void> try_serve(Channel& channel) const noexcept {
        return Result<void>(ipc_serve(channel.handle(), function(), user()));
    }
    // The same as the two arguments of ipc_serve; good as long as this object is.
    static ipc_handler function() noexcept { return answer; }
    void* user() const noexcept { return const_cast<HostedHandler*>(this); }

#if IPC_HAS_EXCEPTIONS
    // One request. Throws what the handler's failure says.
    void operator()(Bytes request, ReplyWriter& reply) const {
        static const ipc_hosted_writer functions{sizeof(ipc_hosted_writer), Reply::reserve, Reply::fail,
                                                 ipc_last_error};
        Reply to{&reply, {}};
        const ipc_status status = answer_(handler_.get(), request.data, request.size, &to, &functions);
        if (status != IPC_OK) throw Error(status, to.failure.empty() ? ipc_status_text(status) : to.failure);
    }
#endif

  private:
    // A C++ reply as .NET writes it.
    struct Reply {
        ReplyWriter* writer;
        std::string failure;

        static ipc_status IPC_CALL reserve(void* reply, size_t length, void** room) noexcept {
            const Result<std::byte*> reserved = static_cast<Reply*>(reply)->writer->try_reserve(length);
            *room = *reserved;
            return reserved.status();
        }
        static ipc_status IPC_CALL fail(void* reply, const char* text) noexcept {
            static_cast<Reply*>(reply)->failure = text;
            return IPC_OK;
        }
    };

    HostedHandler() = default;
    static ipc_status IPC_CALL answer(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
        static const ipc_hosted_writer functions{sizeof(ipc_hosted_writer), reserve, fail, ipc_last_error};
        const auto* handler = static_cast<const HostedHandler*>(user);
        return handler->answer_(handler->handler_.get(), request, length, writer, &functions);
    }
    static ipc_status IPC_CALL reserve(void* writer, size_t length, void** reply) {
        return ipc_reply_reserve(static_cast<ipc_reply_writer*>(writer), length, reply);
    }
    static ipc_status IPC_CALL fail(void* writer, const char* text) {
        return ipc_reply_fail(static_cast<ipc_reply_writer*>(writer), text);
    }

    ipc_hosted_answer answer_ = nullptr;
    std::shared_ptr<void> handler_;
};

} // namespace ipc

#endif
