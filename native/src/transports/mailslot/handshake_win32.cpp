#include "transports/mailslot/handshake_win32.hpp"

#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <algorithm>
#include <array>
#include <bcrypt.h>
#include <cstring>

namespace ipc::mailslot {
namespace {

using win32::fail_windows;
using win32::PeerProcess;

// How long a client may take for its last step.
constexpr int32_t confirmation_limit_ms = 1000;
// A listener may go and another take its name while a client waits: the client says hello to it too.
constexpr int32_t hello_again_ms = 1000;

Status make_token(char (&token)[token_length]) {
    std::array<UCHAR, token_length / 2> random{};
    if (BCryptGenRandom(nullptr, random.data(), static_cast<ULONG>(random.size()), BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0)
        return fail(IPC_SYSTEM, "cannot get random bytes from the system");
    for (size_t i = 0; i < random.size(); ++i) {
        token[2 * i] = "0123456789abcdef"[random[i] >> 4];
        token[2 * i + 1] = "0123456789abcdef"[random[i] & 15];
    }
    return IPC_OK;
}

Handshake make_handshake(const char (&token)[token_length]) {
    Handshake handshake{magic, version, GetCurrentProcessId(), 0, {}, {}};
    std::memcpy(handshake.token, token, token_length);
    return handshake;
}

// False if it is none, or not the one with this token (if one is expected).
bool read_handshake(const void* message, size_t length, const char* token, Handshake* handshake) {
    if (length != sizeof *handshake) return false;
    std::memcpy(handshake, message, sizeof *handshake);
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return handshake->magic == magic && handshake->version == version &&
           std::all_of(std::begin(handshake->token), std::end(handshake->token), is_digit) &&
           (token == nullptr || std::memcmp(handshake->token, token, token_length) == 0);
}

// A connection's names begin with a dot, as no listener's does.
std::wstring connection_name(const std::wstring& place, const char (&token)[token_length], const wchar_t* purpose) {
    return place + L"." + win32::to_wide({token, token_length}) + purpose;
}
constexpr auto to_client = L".to-client";
constexpr auto to_client_read = L".to-client.read";
constexpr auto to_server = L".to-server";
constexpr auto to_server_read = L".to-server.read";

Status make_slots(const Address& address, const std::wstring& in, const std::wstring& in_read_by_peer, Slots* slots) {
    win32::OnlyThisUser security;
    if (Status s = security.open(); s != IPC_OK) return s;
    DWORD error = slots->in.make(in, most_in_message, security.attributes());
    if (error == 0) error = slots->in_read_by_peer.make(in_read_by_peer, sizeof(Trailer), security.attributes());
    if (error == 0) return IPC_OK;
    return fail_windows(IPC_SYSTEM, error, "cannot make a mailslot for a connection to %s", address.text().c_str());
}

Status open_slots(const Address& address, const std::wstring& out, const std::wstring& out_read_by_us, Slots* slots) {
    DWORD error = slots->out.open(out);
    if (error == 0) error = slots->out_read_by_us.open(out_read_by_us);
    if (error == 0) return IPC_OK;
    return fail_windows(IPC_PEER_CLOSED, error, "the peer at %s closed or died before the connection was made",
                        address.text().c_str());
}

Status no_server(const Address& address) {
    return fail(IPC_NO_SERVER, "nobody listens at %s: start the server first", address.text().c_str());
}

Status open_listener(const Address& address, const std::wstring& name, SlotWriter* listener) {
    const DWORD error = listener->open(name);
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return no_server(address);
    if (error == ERROR_ACCESS_DENIED)
        return fail_windows(IPC_NO_PERMISSION, error, "may not write to the mailslot of %s, which is another user's",
                            address.text().c_str());
    if (error != 0) return fail_windows(IPC_SYSTEM, error, "cannot connect to %s", address.text().c_str());
    win32::User self;
    win32::User owner;
    if (Status s = win32::this_user(&self); s != IPC_OK) return s;
    // Wine does not know who owns a mailslot; the process behind it is asked later in any case.
    if (win32::owner_of(listener->handle(), &owner) && !(owner == self))
        return fail(IPC_NO_PERMISSION, "the mailslot of %s belongs to %s, not to this user: choose another name",
                    address.text().c_str(), win32::to_utf8(owner.text()).c_str());
    return IPC_OK;
}

// Says hello. The listener is held no longer than that: a name lives as long as somebody has it open (on Wine).
Status say_hello(const Address& address, const std::wstring& name, const Handshake& hello) {
    SlotWriter listener;
    if (Status s = open_listener(address, name, &listener); s != IPC_OK) return s;
    const Status status = listener.send(&hello, sizeof hello);
    if (status == IPC_PEER_CLOSED) return no_server(address);
    // No room: it is said again.
    return status == IPC_TIMED_OUT ? IPC_OK : status;
}

// The next message that comes to `in` for this token, looking around between slices; others are passed over.
template <class LookAround>
Status next_handshake(Slot& in, const char (&token)[token_length], const win32::Interrupt& closing,
                      Handshake* handshake, LookAround look_around) {
    while (true) {
        std::byte room[most_in_message + 1];
        size_t length = 0;
        const Status status = in.receive(room, sizeof room, slice_ms, closing, &length);
        if (status == IPC_OK && read_handshake(room, length, token, handshake)) return IPC_OK;
        if (status != IPC_OK && status != IPC_TIMED_OUT) return status;
        if (Status s = look_around(); s != IPC_OK) return s;
    }
}

} // namespace

Status place_of_names(std::wstring* place) {
    win32::User user;
    if (Status s = win32::this_user(&user); s != IPC_OK) return s;
    *place = L"\\\\.\\mailslot\\ipc\\" + user.text() + L"\\";
    return IPC_OK;
}

Status meet_server(const Address& address, const std::wstring& place, const std::wstring& to_listener,
                   const Deadline& deadline, Slots* slots, PeerProcess* server) {
    char token[token_length];
    if (Status s = make_token(token); s != IPC_OK) return s;
    if (Status s = make_slots(address, connection_name(place, token, to_client),
                              connection_name(place, token, to_server_read), slots);
        s != IPC_OK)
        return s;
    const Handshake hello = make_handshake(token);
    if (Status s = say_hello(address, to_listener, hello); s != IPC_OK) return s;

    win32::Interrupt nobody;
    if (Status s = nobody.open(); s != IPC_OK) return s;
    Deadline again(hello_again_ms);
    Handshake welcome{};
    const auto look_around = [&]() -> Status {
        if (deadline.expired())
            return fail(IPC_TIMED_OUT, "the server at %s is there but accepts no client within the time-out",
                        address.text().c_str());
        if (again.expired()) {
            again = Deadline(hello_again_ms);
            return say_hello(address, to_listener, hello);
        }
        SlotWriter listener;
        return open_listener(address, to_listener, &listener);
    };
    if (Status s = next_handshake(slots->in, token, nobody, &welcome, look_around); s != IPC_OK) return s;
    if (Status s = PeerProcess::open(welcome.process, address.text(), server); s != IPC_OK) return s;
    if (Status s = open_slots(address, connection_name(place, token, to_server),
                              connection_name(place, token, to_client_read), slots);
        s != IPC_OK)
        return s;
    if (slots->out.send(&hello, sizeof hello) != IPC_OK)
        return fail(IPC_PEER_CLOSED, "the server at %s closed or died before the connection was made",
                    address.text().c_str());
    return IPC_OK;
}

Status meet_client(const Address& address, const std::wstring& place, const void* hello_bytes, size_t length,
                   const win32::Interrupt& closing, Slots* slots, PeerProcess* client) {
    Handshake hello{};
    if (!read_handshake(hello_bytes, length, nullptr, &hello))
        return fail(IPC_NOT_OUR_PROTOCOL, "what came to the mailslot of %s is no client's hello",
                    address.text().c_str());
    if (Status s = PeerProcess::open(hello.process, address.text(), client); s != IPC_OK) return s;
    if (Status s = open_slots(address, connection_name(place, hello.token, to_client),
                              connection_name(place, hello.token, to_server_read), slots);
        s != IPC_OK)
        return s;
    // A client that says hello twice is not served twice: the names are taken, or its own have gone.
    if (Status s = make_slots(address, connection_name(place, hello.token, to_server),
                              connection_name(place, hello.token, to_client_read), slots);
        s != IPC_OK)
        return s;
    const Handshake welcome = make_handshake(hello.token);
    if (slots->out.send(&welcome, sizeof welcome) != IPC_OK)
        return fail(IPC_PEER_CLOSED, "a client of %s left before the connection was made", address.text().c_str());
    const Deadline limit(confirmation_limit_ms);
    Handshake confirmation{};
    return next_handshake(slots->in, hello.token, closing, &confirmation, [&]() -> Status {
        if (limit.expired() || client->ended())
            return fail(IPC_PEER_CLOSED, "a client of %s left before the connection was made", address.text().c_str());
        return IPC_OK;
    });
}

} // namespace ipc::mailslot
