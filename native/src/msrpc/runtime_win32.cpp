#include "msrpc/runtime_win32.hpp"

#include "msrpc/interface_win32.hpp"
#include "msrpc/listener_win32.hpp"
#include "win32/error_text.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"

#include <algorithm>

namespace ipc::msrpc {

Runtime& Runtime::instance() {
    static auto* runtime = new Runtime;
    return *runtime;
}

Status Runtime::register_interface() {
    if (registered_) return IPC_OK;
    const RPC_STATUS status = RpcServerRegisterIf2(server_interface(), nullptr, nullptr,
                                                   RPC_IF_AUTOLISTEN | RPC_IF_ALLOW_CALLBACKS_WITH_NO_AUTH,
                                                   RPC_C_LISTEN_MAX_CALLS_DEFAULT, largest_call, security_callback);
    if (status == RPC_S_TYPE_ALREADY_REGISTERED)
        return fail(IPC_NOT_AVAILABLE,
                    "another copy of ipc, native or .NET, serves MS-RPC in this process already: use only one of them");
    if (status != RPC_S_OK)
        return win32::fail_windows(IPC_SYSTEM, static_cast<DWORD>(status), "cannot register the interface with rpcrt4");
    registered_ = true;
    return IPC_OK;
}

Status Runtime::endpoint(Sequence sequence, std::wstring* endpoint) {
    const std::lock_guard lock(mutex_);
    if (Status s = register_interface()) return s;
    auto found = endpoints_.find(sequence);
    if (found == endpoints_.end()) {
        std::wstring made;
        if (Status s = make_endpoint(sequence, &made)) return s;
        found = endpoints_.emplace(sequence, made).first;
    }
    *endpoint = found->second;
    return IPC_OK;
}

namespace {

// The endpoint that the system chose for a dynamic one.
RPC_STATUS find_dynamic_endpoint(const std::wstring& sequence, std::wstring* endpoint) {
    RPC_BINDING_VECTOR* bindings = nullptr;
    RPC_STATUS status = RpcServerInqBindings(&bindings);
    if (status != RPC_S_OK) return status;
    for (unsigned i = 0; i < bindings->Count && endpoint->empty(); ++i) {
        RPC_WSTR text = nullptr;
        if (bindings->BindingH[i] == nullptr || RpcBindingToStringBindingW(bindings->BindingH[i], &text) != RPC_S_OK)
            continue;
        RPC_WSTR its_sequence = nullptr;
        RPC_WSTR its_endpoint = nullptr;
        if (RpcStringBindingParseW(text, nullptr, &its_sequence, nullptr, &its_endpoint, nullptr) == RPC_S_OK) {
            if (sequence == reinterpret_cast<const wchar_t*>(its_sequence))
                *endpoint = reinterpret_cast<const wchar_t*>(its_endpoint);
            RpcStringFreeW(&its_sequence);
            RpcStringFreeW(&its_endpoint);
        }
        RpcStringFreeW(&text);
    }
    RpcBindingVectorFree(&bindings);
    return endpoint->empty() ? RPC_S_NO_BINDINGS : RPC_S_OK;
}

} // namespace

Status Runtime::make_endpoint(Sequence sequence, std::wstring* endpoint) {
    std::wstring name = protocol_sequence(sequence);
    win32::OnlyThisUser owner;
    if (Status s = owner.open()) return s;
    RPC_STATUS status = RPC_S_OK;
    if (sequence == Sequence::tcp) {
        status = RpcServerUseProtseqW(reinterpret_cast<RPC_WSTR>(name.data()), RPC_C_PROTSEQ_MAX_REQS_DEFAULT, nullptr);
        if (status == RPC_S_OK) status = find_dynamic_endpoint(name, endpoint);
    } else {
        uint64_t random = 0;
        if (Status s = fill_randomly(&random, sizeof random)) return s;
        wchar_t text[64];
        swprintf_s(text, L"%lsipc-rpc-%lu-%016llx", sequence == Sequence::named_pipe ? L"\\pipe\\" : L"",
                   GetCurrentProcessId(), static_cast<unsigned long long>(random));
        *endpoint = text;
        status = RpcServerUseProtseqEpW(reinterpret_cast<RPC_WSTR>(name.data()), RPC_C_PROTSEQ_MAX_REQS_DEFAULT,
                                        reinterpret_cast<RPC_WSTR>(endpoint->data()),
                                        owner.attributes()->lpSecurityDescriptor);
    }
    if (status == RPC_S_OK) return IPC_OK;
    return win32::fail_windows(IPC_SYSTEM, static_cast<DWORD>(status), "cannot make an endpoint of %s",
                               win32::to_utf8(name).c_str());
}

bool Runtime::listens_on_tcp() {
    const std::lock_guard lock(mutex_);
    return endpoints_.contains(Sequence::tcp);
}

void Runtime::add(RpcListener* listener) {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(listener);
}

void Runtime::remove(RpcListener* listener) {
    const std::lock_guard lock(mutex_);
    listeners_.remove(listener);
}

Status Runtime::open(const unsigned char* proof, unsigned char* answer, unsigned char* token,
                     std::unique_ptr<Client>* client) {
    auto made = std::make_unique<Client>();
    if (Status s = fill_randomly(made->token.data(), made->token.size())) return s;
    const std::lock_guard lock(mutex_);
    const auto shown = [proof](const RpcListener* listener) {
        return std::equal(proof, proof + sizeof(Secret), listener->handshake().proof.begin());
    };
    const auto found = std::ranges::find_if(listeners_, shown);
    if (found == listeners_.end()) return IPC_NO_SERVER;
    if (Status s = (*found)->welcome(&made->session)) return s == IPC_CLOSED ? IPC_NO_SERVER : s;
    sessions_.emplace(made->token, made->session);
    std::ranges::copy((*found)->handshake().answer, answer);
    std::ranges::copy(made->token, token);
    *client = std::move(made);
    return IPC_OK;
}

std::shared_ptr<CallSession> Runtime::find(const unsigned char* token) {
    Token key;
    std::copy_n(token, key.size(), key.begin());
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(key);
    return found == sessions_.end() ? nullptr : found->second;
}

void Runtime::end(std::unique_ptr<Client> client) {
    client->session->client_gone();
    const std::lock_guard lock(mutex_);
    sessions_.erase(client->token);
}

Status check_caller(RPC_BINDING_HANDLE call) {
    win32::User self;
    if (Status s = win32::this_user(&self)) return s;
    if (RpcImpersonateClient(call) != RPC_S_OK) return IPC_NOT_AVAILABLE;
    win32::User caller;
    const bool known = win32::user_of_thread(&caller);
    RpcRevertToSelfEx(call);
    return known && caller == self ? IPC_OK : IPC_NO_PERMISSION;
}

} // namespace ipc::msrpc
