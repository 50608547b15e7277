// `mailslot`: frames over two mailslots and their acknowledgements. Clients find the listener through a mailslot of its own.
#include "core/frame_stream.hpp"
#include "core/plain_name.hpp"
#include "core/transport.hpp"
#include "transports/mailslot/handshake_win32.hpp"
#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

namespace ipc {
namespace {

using namespace mailslot;
using win32::fail_windows;

struct Names {
    std::wstring place;
    std::wstring listener;
};

Status names_of(const Address& address, Names* names) {
    if (Status s = check_plain_name(address); s != IPC_OK) return s;
    if (Status s = place_of_names(&names->place); s != IPC_OK) return s;
    names->listener = names->place + win32::to_wide(address.name());
    return IPC_OK;
}

Status make_channel(const Address& address, Slots slots, win32::PeerProcess peer, FrameChannel** channel) {
    auto stream = std::make_unique<MailslotStream>(std::move(slots), std::move(peer));
    if (Status s = stream->open(); s != IPC_OK) return s;
    *channel = new FrameStream(std::move(stream), address.limit(), address.text());
    return IPC_OK;
}

class MailslotListener final : public FrameListener {
  public:
    MailslotListener(const Address& address, Names names) : address_(address), names_(std::move(names)) {}
    ~MailslotListener() override { MailslotListener::close(); }

    Status open();
    Status accept(const Deadline& deadline, FrameChannel** channel) override;
    void close() override;
    const char* address() const override { return address_.text().c_str(); }

  private:
    Status next_hello(std::byte* room, size_t capacity, const Deadline& deadline, size_t* length);

    const Address address_;
    const Names names_;
    win32::Interrupt interrupt_;
    std::timed_mutex reading_; // one thread reads the mailslot at a time, for a slice
    Slot handshake_;
};

Status MailslotListener::open() {
    win32::OnlyThisUser security;
    if (Status s = security.open(); s != IPC_OK) return s;
    if (Status s = interrupt_.open(); s != IPC_OK) return s;
    const DWORD error = handshake_.make(names_.listener, sizeof(Handshake), security.attributes());
    if (error == 0) return IPC_OK;
    if (error == ERROR_ALREADY_EXISTS || error == ERROR_ACCESS_DENIED)
        return fail(IPC_NAME_IN_USE,
                    "cannot listen at %s: another listener has this name; close it or choose another name", address());
    return fail_windows(IPC_SYSTEM, error, "cannot listen at %s", address());
}

// A message that came to the handshake; IPC_TIMED_OUT, without an error message, when none came for a slice.
Status MailslotListener::next_hello(std::byte* room, size_t capacity, const Deadline& deadline, size_t* length) {
    const auto patience = std::chrono::milliseconds(
        deadline.forever() ? slice_ms : std::min(slice_ms, static_cast<DWORD>(deadline.left_ms())));
    const std::unique_lock lock(reading_, patience);
    if (!lock.owns_lock()) return IPC_TIMED_OUT;
    if (interrupt_.raised()) return IPC_CLOSED;
    return handshake_.receive(room, capacity, static_cast<DWORD>(patience.count()), interrupt_, length);
}

Status MailslotListener::accept(const Deadline& deadline, FrameChannel** channel) {
    while (true) {
        std::byte hello[sizeof(Handshake) + 1];
        size_t length = 0;
        Status status = interrupt_.raised() ? IPC_CLOSED : next_hello(hello, sizeof hello, deadline, &length);
        if (status == IPC_OK) {
            Slots slots;
            win32::PeerProcess client;
            status = meet_client(address_, names_.place, hello, length, interrupt_, &slots, &client);
            if (status == IPC_OK) return make_channel(address_, std::move(slots), std::move(client), channel);
            // A client that died, gave up or misbehaves is not the server's failure: wait for the next one.
            if (status != IPC_CLOSED) continue;
        }
        if (status == IPC_CLOSED) return fail(IPC_CLOSED, "the listener at %s was closed here", address());
        if (status != IPC_TIMED_OUT) return status;
        if (deadline.expired()) return fail(IPC_TIMED_OUT, "no client came to %s within the time-out", address());
    }
}

void MailslotListener::close() {
    if (!interrupt_.event() || !interrupt_.raise()) return;
    const std::lock_guard lock(reading_);
    handshake_.reset();
}

Status listen_mailslot(const Address& address, FrameListener** listener) {
    Names names;
    if (Status s = names_of(address, &names); s != IPC_OK) return s;
    auto made = std::make_unique<MailslotListener>(address, std::move(names));
    if (Status s = made->open(); s != IPC_OK) return s;
    *listener = made.release();
    return IPC_OK;
}

Status connect_mailslot(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    Names names;
    if (Status s = names_of(address, &names); s != IPC_OK) return s;
    Slots slots;
    win32::PeerProcess server;
    if (Status s = meet_server(address, names.place, names.listener, deadline, &slots, &server); s != IPC_OK) return s;
    return make_channel(address, std::move(slots), std::move(server), channel);
}

} // namespace

extern const Transport transport_mailslot{listen_mailslot, connect_mailslot};

} // namespace ipc
