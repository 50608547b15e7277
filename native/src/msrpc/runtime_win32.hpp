#pragma once

#include "calls/call_session.hpp"
#include "msrpc/call_win32.hpp"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ipc::msrpc {

class RpcListener;

// What rpcrt4 has once in a process: the interface, an endpoint of each sequence, which cannot be taken back and which all
// listeners share, and the sessions of all clients. Never destroyed: calls may come until the process ends.
class Runtime {
  public:
    static Runtime& instance();

    // The endpoint of a sequence, made when it is first asked for; registers the interface before.
    Status endpoint(Sequence sequence, std::wstring* endpoint);
    void add(RpcListener* listener);
    void remove(RpcListener* listener);

    // ---- on rpcrt4's threads
    // A session for a client that shows the proof of a listener: IPC_NO_SERVER if there is none.
    struct Client {
        std::shared_ptr<CallSession> session;
        Token token;
    };
    Status open(const unsigned char* proof, unsigned char* answer, unsigned char* token,
                std::unique_ptr<Client>* client);
    std::shared_ptr<CallSession> find(const unsigned char* token);
    void end(std::unique_ptr<Client> client);
    bool listens_on_tcp();

  private:
    Status register_interface();
    Status make_endpoint(Sequence sequence, std::wstring* endpoint);

    std::mutex mutex_;
    bool registered_ = false;
    std::map<Sequence, std::wstring> endpoints_;
    std::list<RpcListener*> listeners_;
    std::map<Token, std::shared_ptr<CallSession>> sessions_;
};

// Whether the call under way on this thread comes from this user, as far as the sequence can tell: IPC_NO_PERMISSION if it
// comes from another, IPC_NOT_AVAILABLE if the sequence knows no user (tcp without authentication).
Status check_caller(RPC_BINDING_HANDLE call);

} // namespace ipc::msrpc
