#include "transports/com/client_win32.hpp"

#include "core/detached_thread.hpp"
#include "transports/com/apartment_win32.hpp"
#include "transports/com/dispatch_win32.hpp"
#include "win32/peer_process.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace ipc::com {
namespace {

constexpr int64_t slice_ns = 50'000'000;
// The table has no such object.
constexpr auto not_running = static_cast<HRESULT>(0x800401E3); // MK_E_UNAVAILABLE

// The thread that makes a channel's calls, and what it shares with the channel. A call to another process cannot be broken off
// everywhere, so whoever gives one up leaves this thread in it; and the caller's own apartment does not matter to it.
class Caller {
  public:
    Caller(const Address& address, bool single_threaded)
        : name_(address.name()), address_(address.text()), single_threaded_(single_threaded) {}

    static void run(std::shared_ptr<Caller> self);

    std::mutex mutex;
    std::condition_variable changed;
    // --- guarded by it
    bool connected = false;       // the first answer is there
    bool stopped = false;         // the channel is closed
    DWORD process = 0;            // the server's
    SAFEARRAY* request = nullptr; // to be sent; the thread takes it
    bool busy = true;             // a request is there, or under way; at first: connecting
    bool given_up = false;        // nobody waits for the answer
    HRESULT result = S_OK;        // of the last call
    Value reply;                  // and what it gave

  private:
    HRESULT connect(Reference<IDispatch>* session, DWORD* server);

    const std::string name_;
    const std::string address_;
    const bool single_threaded_;
};

HRESULT Caller::connect(Reference<IDispatch>* session, DWORD* server) {
    Reference<IMoniker> moniker;
    Reference<IRunningObjectTable> table;
    Reference<IUnknown> found;
    Reference<IDispatch> door;
    HRESULT status = make_moniker(name_, &moniker);
    if (SUCCEEDED(status)) status = GetRunningObjectTable(0, table.receive());
    if (FAILED(status)) return status;
    status = table->GetObject(moniker.get(), found.receive());
    if (SUCCEEDED(status)) status = found->QueryInterface(IID_IDispatch, reinterpret_cast<void**>(door.receive()));
    Value told;
    if (SUCCEEDED(status)) status = call_method(door.get(), L"Process", {}, &told);
    if (status == S_FALSE) return not_running;
    // What the table still has of a process that died is no server.
    if (FAILED(status)) return to_status(status, address_) == IPC_PEER_CLOSED ? not_running : status;
    if (told.vt != VT_I4) return to_result(IPC_NOT_OUR_PROTOCOL);
    *server = static_cast<DWORD>(told.lVal);
    Value own[2];
    own[0].vt = own[1].vt = VT_I4;
    own[0].lVal = version;
    own[1].lVal = static_cast<LONG>(GetCurrentProcessId());
    Value made;
    VARIANT given[2] = {own[0], own[1]};
    status = call_method(door.get(), L"Connect", given, &made);
    if (FAILED(status)) return status;
    if (made.vt != VT_DISPATCH || made.pdispVal == nullptr) return to_result(IPC_NOT_OUR_PROTOCOL);
    session->reset(made.pdispVal);
    made.vt = VT_EMPTY;
    return S_OK;
}

void Caller::run(std::shared_ptr<Caller> self) {
    const InApartment apartment(self->single_threaded_);
    Reference<IDispatch> session;
    DWORD server = 0;
    const HRESULT status = FAILED(apartment.entered()) ? apartment.entered() : self->connect(&session, &server);
    std::unique_lock lock(self->mutex);
    self->result = status;
    self->process = server;
    self->connected = true;
    self->busy = false;
    self->changed.notify_all();
    while (SUCCEEDED(status)) {
        self->changed.wait(lock, [&] { return self->request != nullptr || self->stopped; });
        if (self->stopped) break;
        Value request;
        request.vt = VT_ARRAY | VT_UI1;
        request.parray = std::exchange(self->request, nullptr);
        lock.unlock();
        Value reply;
        VARIANT given[1] = {request};
        const HRESULT result = call_method(session.get(), L"Exchange", given, &reply);
        lock.lock();
        self->result = result;
        VariantClear(&self->reply);
        if (!self->given_up) std::swap(static_cast<VARIANT&>(self->reply), static_cast<VARIANT&>(reply));
        self->busy = false;
        self->changed.notify_all();
    }
    const bool left = SUCCEEDED(status);
    lock.unlock();
    if (left) {
        Value nothing;
        call_method(session.get(), L"Close", {}, &nothing);
    }
}

class ComClient final : public CallClient {
  public:
    explicit ComClient(const Address& address)
        : address_(address.text()), caller_(std::make_shared<Caller>(address, address.option("apartment") == "sta")) {}
    ~ComClient() override { ComClient::close(); }

    Status open(const Deadline& deadline);
    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply) override;
    void drop_reply() override {
        const std::lock_guard lock(caller_->mutex);
        if (!caller_->busy) VariantClear(&caller_->reply);
    }
    void close() override {
        const std::lock_guard lock(caller_->mutex);
        caller_->stopped = true;
        caller_->changed.notify_all();
    }

  private:
    Status wait_until_idle(std::unique_lock<std::mutex>& lock, const Deadline& deadline, const char* what);

    const std::string address_;
    const std::shared_ptr<Caller> caller_;
    win32::PeerProcess server_;
};

// Until the thread has done with its call.
Status ComClient::wait_until_idle(std::unique_lock<std::mutex>& lock, const Deadline& deadline, const char* what) {
    while (caller_->busy) {
        if (caller_->stopped) return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str());
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "the server at %s %s within the time-out", address_.c_str(), what);
        if (server_.handle() != nullptr && server_.ended())
            return fail(IPC_PEER_CLOSED, "the server at %s has died: reconnect", address_.c_str());
        caller_->changed.wait_for(lock, std::chrono::nanoseconds(std::min(deadline.left_ns(), slice_ns)));
    }
    return caller_->stopped ? fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str()) : IPC_OK;
}

Status ComClient::open(const Deadline& deadline) {
    start_detached([caller = caller_] { Caller::run(caller); });
    DWORD process = 0;
    {
        std::unique_lock lock(caller_->mutex);
        // Who may not wait may still look: the table is asked in any case.
        const Deadline least(2000);
        const bool at_once = deadline.expired();
        if (Status s = wait_until_idle(lock, at_once ? least : deadline, "did not answer"); s != IPC_OK) return s;
        if (caller_->result == not_running)
            return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address_.c_str());
        if (FAILED(caller_->result)) return to_status(caller_->result, address_);
        process = caller_->process;
    }
    return win32::PeerProcess::open(process, address_, &server_);
}

Status ComClient::exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                           CallReply* reply) {
    SAFEARRAY* request = frame_array(kind, id, bytes, length);
    if (request == nullptr)
        return fail(IPC_OUT_OF_MEMORY, "out of memory for a message of %zu bytes: send smaller ones", length);
    std::unique_lock lock(caller_->mutex);
    // A call that was given up must have ended first; its answer was dropped.
    Status status = wait_until_idle(lock, deadline, "still answers an earlier call and took no other");
    if (status != IPC_OK) {
        SafeArrayDestroy(request);
        return status;
    }
    caller_->request = request;
    caller_->busy = true;
    caller_->given_up = false;
    caller_->changed.notify_all();
    status = wait_until_idle(lock, deadline, "did not answer");
    if (status != IPC_OK) {
        caller_->given_up = true;
        return status;
    }
    if (FAILED(caller_->result)) return to_status(caller_->result, address_);
    if (reply == nullptr) return IPC_OK;
    FrameInfo frame{};
    const std::byte* payload = nullptr;
    if (!read_frame(caller_->reply, &frame, &payload))
        return fail(IPC_NOT_OUR_PROTOCOL, "what %s answered is not a reply: reconnect", address_.c_str());
    *reply = {frame.kind, frame.id, payload, frame.length};
    return IPC_OK;
}

} // namespace

Status connect(const Address& address, const Deadline& deadline, std::unique_ptr<CallClient>* client) {
    auto made = std::make_unique<ComClient>(address);
    if (Status s = made->open(deadline); s != IPC_OK) return s;
    *client = std::move(made);
    return IPC_OK;
}

} // namespace ipc::com
