#include "transports/com/server_win32.hpp"

#include "calls/call_listener.hpp"
#include "core/detached_thread.hpp"
#include "transports/com/apartment_win32.hpp"
#include "transports/com/dispatch_win32.hpp"
#include "transports/com/lasting_interfaces_win32.hpp"
#include "win32/error_text.hpp"
#include "win32/name_claim.hpp"
#include "win32/peer_process.hpp"
#include "win32/user.hpp"

#include <array>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace ipc::com {
namespace {

using win32::Handle;

constexpr std::array<const wchar_t*, 2> listener_methods{L"Process", L"Connect"};
constexpr std::array<const wchar_t*, 2> session_methods{L"Exchange", L"Close"};

bool is_single_threaded(const Address& address) {
    return address.option("apartment") == "sta";
}

// One client's object: what the client calls, and where its answers go.
class Session final : public Dispatch {
  public:
    explicit Session(std::shared_ptr<CallSession> session) : Dispatch(session_methods), session_(std::move(session)) {}

  private:
    struct Answer final : ReplySink {
        SAFEARRAY* array = nullptr;
        ~Answer() override {
            if (array != nullptr) SafeArrayDestroy(array);
        }
        void put(FrameKind kind, uint32_t id, const void* bytes, size_t length) override {
            array = frame_array(kind, id, bytes, length);
        }
    };

    HRESULT call(DISPID number, std::span<const VARIANT* const> arguments, VARIANT* result) override {
        if (number == 2) {
            session_->client_gone();
            return S_OK;
        }
        if (arguments.size() != 1) return DISP_E_BADPARAMCOUNT;
        FrameInfo frame{};
        const std::byte* payload = nullptr;
        if (!read_frame(*arguments[0], &frame, &payload)) return to_result(IPC_NOT_OUR_PROTOCOL);
        Answer answer;
        if (const Status s = session_->answer(frame.kind, frame.id, payload, frame.length, answer); s != IPC_OK)
            return to_result(s);
        if (frame.kind == FrameKind::request && answer.array == nullptr) return E_OUTOFMEMORY;
        if (answer.array != nullptr) {
            result->vt = VT_ARRAY | VT_UI1;
            result->parray = std::exchange(answer.array, nullptr);
        }
        return S_OK;
    }

    const std::shared_ptr<CallSession> session_;
};

// A session lives on a thread of its own. One for single threads is called there, so that a request that waits to be answered
// holds no other client up; the other keeps its apartment. It watches the client and ends with the session.
void run_session(bool single_threaded, std::shared_ptr<CallSession> session, win32::PeerProcess client,
                 std::shared_ptr<Handle> closed, std::promise<IStream*> opened) {
    const InApartment apartment(single_threaded);
    Reference<Session> object(new Session(session));
    IStream* stream = nullptr;
    if (FAILED(apartment.entered()) ||
        FAILED(CoMarshalInterThreadInterfaceInStream(IID_IDispatch, object.get(), &stream)))
        stream = nullptr;
    opened.set_value(stream);
    if (stream == nullptr) return;
    if (wait_in_apartment(single_threaded, closed->get(), client.handle()) == 1) {
        session->client_gone();
        wait_in_apartment(single_threaded, closed->get(), nullptr);
    }
    if (single_threaded) serve_while_held(*object.get(), client.handle());
    CoDisconnectObject(object.get(), 0);
}

class Listener;

// What the running object table has. It outlives the listener as long as somebody calls it.
class Door final : public Dispatch {
  public:
    Door(Listener* listener, const Address& address)
        : Dispatch(listener_methods), listener_(listener), address_(address) {}
    // No call is carried out from here on.
    void shut() {
        const std::lock_guard lock(mutex_);
        listener_ = nullptr;
    }

  private:
    HRESULT call(DISPID number, std::span<const VARIANT* const> arguments, VARIANT* result) override;
    HRESULT connect(LONG process, VARIANT* result);

    std::mutex mutex_;
    Listener* listener_;
    const Address address_;
};

class Listener final : public CallListener {
  public:
    explicit Listener(const Address& address) : CallListener(address.text()), address_(address) {}
    ~Listener() override { close(); }
    Status open();

  private:
    void run(std::promise<HRESULT>* opened);
    void stop_listening() override;

    const Address address_;
    win32::NameClaim claim_;
    Handle closing_;
    std::thread thread_;
};

// The caller, as far as the system tells (Wine does not): a stranger is refused even if it names a process of this user's.
bool caller_is_foreign() {
    if (FAILED(CoImpersonateClient())) return false;
    HANDLE token = nullptr;
    bool foreign = false;
    if (OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token)) {
        const Handle owned(token);
        win32::User self;
        win32::User other;
        foreign = win32::this_user(&self) == IPC_OK && win32::user_of_token(token, &other) && !(self == other);
    }
    CoRevertToSelf();
    return foreign;
}

HRESULT Door::call(DISPID number, std::span<const VARIANT* const> arguments, VARIANT* result) {
    if (number == 1) {
        result->vt = VT_I4;
        result->lVal = static_cast<LONG>(GetCurrentProcessId());
        return S_OK;
    }
    if (arguments.size() != 2) return DISP_E_BADPARAMCOUNT;
    if (arguments[0]->vt != VT_I4 || arguments[1]->vt != VT_I4) return DISP_E_TYPEMISMATCH;
    if (arguments[0]->lVal != version) return to_result(IPC_NOT_OUR_PROTOCOL);
    if (caller_is_foreign()) return to_result(IPC_NO_PERMISSION);
    return connect(arguments[1]->lVal, result);
}

HRESULT Door::connect(LONG process, VARIANT* result) {
    win32::PeerProcess client;
    if (Status s = win32::PeerProcess::open(static_cast<DWORD>(process), address_.text(), &client); s != IPC_OK)
        return to_result(s);
    const auto closed = std::make_shared<Handle>(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!*closed) return E_OUTOFMEMORY;
    auto session = std::make_shared<CallSession>(address_.limit(), address_.text());
    session->when_closed([closed] { SetEvent(closed->get()); });
    std::promise<IStream*> opened;
    std::future<IStream*> ready = opened.get_future();
    // It ends soon after the session is closed, and nobody waits for it.
    start_detached([single_threaded = is_single_threaded(address_), session, closed, client = std::move(client),
                    opened = std::move(opened)]() mutable {
        run_session(single_threaded, std::move(session), std::move(client), std::move(closed), std::move(opened));
    });
    IStream* stream = ready.get();
    if (stream == nullptr) return E_OUTOFMEMORY;
    IDispatch* object = nullptr;
    HRESULT status = CoGetInterfaceAndReleaseStream(stream, IID_IDispatch, reinterpret_cast<void**>(&object));
    if (SUCCEEDED(status)) {
        const std::lock_guard lock(mutex_);
        if (listener_ == nullptr || listener_->admit(session) != IPC_OK) status = to_result(IPC_PEER_CLOSED);
    }
    if (FAILED(status)) {
        if (object != nullptr) object->Release();
        session->close();
        return status;
    }
    result->vt = VT_DISPATCH;
    result->pdispVal = object;
    return S_OK;
}

Status Listener::open() {
    if (Status s = claim_.take(address_); s != IPC_OK) return s;
    closing_.reset(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    if (!closing_) return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot make an event");
    std::promise<HRESULT> opened;
    std::future<HRESULT> ready = opened.get_future();
    thread_ = std::thread([this, &opened] { run(&opened); });
    if (const HRESULT failed = ready.get(); FAILED(failed))
        return win32::fail_windows(IPC_SYSTEM, static_cast<DWORD>(failed), "cannot listen at %s", address());
    return IPC_OK;
}

void Listener::run(std::promise<HRESULT>* opened) {
    const bool single_threaded = is_single_threaded(address_);
    const InApartment apartment(single_threaded);
    Reference<Door> door(new Door(this, address_));
    Reference<IMoniker> moniker;
    Reference<IRunningObjectTable> table;
    DWORD registration = 0;
    HRESULT status = apartment.entered();
    if (SUCCEEDED(status)) status = make_moniker(address_.name(), &moniker);
    if (SUCCEEDED(status)) status = GetRunningObjectTable(0, table.receive());
    if (SUCCEEDED(status))
        status = table->Register(ROTFLAGS_REGISTRATIONKEEPSALIVE, door.get(), moniker.get(), &registration);
    opened->set_value(status);
    if (FAILED(status)) return;
    wait_in_apartment(single_threaded, closing_.get(), nullptr);
    table->Revoke(registration);
    door->shut();
    CoDisconnectObject(door.get(), 0);
}

void Listener::stop_listening() {
    if (thread_.joinable()) {
        SetEvent(closing_.get());
        thread_.join();
    }
    claim_.release();
}

} // namespace

Status listen(const Address& address, FrameListener** listener) {
    keep_interfaces();
    auto made = std::make_unique<Listener>(address);
    if (Status s = made->open(); s != IPC_OK) return s;
    *listener = made.release();
    return IPC_OK;
}

} // namespace ipc::com
