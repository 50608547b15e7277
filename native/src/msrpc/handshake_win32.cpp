#include "msrpc/handshake_win32.hpp"

#include "core/registry.hpp"
#include "win32/error_text.hpp"
#include "win32/user.hpp"
#include "win32/utf.hpp"

#include <algorithm>
#include <atomic>
#include <bcrypt.h>
#include <cstring>

namespace ipc::msrpc {
namespace {

constexpr uint32_t handshake_magic = 0x52435049; // "IPCR"
constexpr uint32_t handshake_version = 1;
constexpr size_t longest_endpoint = 87;

struct Section {
    std::atomic<uint32_t> magic; // stored last
    uint32_t version;
    uint32_t sequence;
    uint32_t unused;
    Secret proof;
    Secret answer;
    char endpoint[longest_endpoint + 1];
};
static_assert(sizeof(Section) == 168);
constexpr DWORD section_size = 4096;

std::wstring section_name(const Address& address) {
    return win32::to_wide("Local\\ipc-" + std::string(address.transport().id) + "-" + address.name());
}

// A view of a section, for as long as this lives.
class View {
  public:
    View(HANDLE section, DWORD access) : bytes_(MapViewOfFile(section, access, 0, 0, sizeof(Section))) {}
    ~View() {
        if (bytes_ != nullptr) UnmapViewOfFile(bytes_);
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    Section* get() const { return static_cast<Section*>(bytes_); }

  private:
    void* bytes_;
};

} // namespace

Status fill_randomly(void* bytes, size_t length) {
    if (BCryptGenRandom(nullptr, static_cast<PUCHAR>(bytes), static_cast<ULONG>(length),
                        BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0)
        return IPC_OK;
    return fail(IPC_SYSTEM, "the system's source of random bytes failed");
}

Status HandshakeSection::make(const Address& address, const Handshake& handshake, HandshakeSection* place) {
    win32::OnlyThisUser owner;
    if (Status s = owner.open()) return s;
    const std::wstring name = section_name(address);
    // A client that looks at a dead server's place keeps it for an instant.
    for (int tries = 0;; ++tries) {
        place->section_.reset(CreateFileMappingW(INVALID_HANDLE_VALUE, owner.attributes(), PAGE_READWRITE, 0,
                                                 section_size, name.c_str()));
        const DWORD error = GetLastError();
        if (place->section_ && error != ERROR_ALREADY_EXISTS) break;
        place->section_.reset();
        if (error == ERROR_ACCESS_DENIED || error == ERROR_INVALID_HANDLE)
            return win32::fail_windows(IPC_NO_PERMISSION, error,
                                       "the name of %s belongs to another user or another kind of object",
                                       address.text().c_str());
        if (error != ERROR_ALREADY_EXISTS)
            return win32::fail_windows(IPC_SYSTEM, error, "cannot make the handshake section of %s",
                                       address.text().c_str());
        if (tries == 5)
            return fail(IPC_NAME_IN_USE, "another server listens at %s: stop it, or use another name",
                        address.text().c_str());
        Sleep(10);
    }
    const View view(place->section_.get(), FILE_MAP_WRITE);
    Section* section = view.get();
    if (section == nullptr)
        return win32::fail_windows(IPC_SYSTEM, GetLastError(), "cannot map the handshake section of %s",
                                   address.text().c_str());
    section->version = handshake_version;
    section->sequence = static_cast<uint32_t>(handshake.sequence);
    section->proof = handshake.proof;
    section->answer = handshake.answer;
    const std::string endpoint = win32::to_utf8(handshake.endpoint);
    if (endpoint.size() > longest_endpoint) return fail(IPC_SYSTEM, "the endpoint '%s' is too long", endpoint.c_str());
    std::memcpy(section->endpoint, endpoint.data(), endpoint.size());
    section->magic.store(handshake_magic, std::memory_order_release);
    return IPC_OK;
}

Status find_handshake(const Address& address, Sequence sequence, Handshake* handshake) {
    const win32::Handle section(OpenFileMappingW(FILE_MAP_READ | READ_CONTROL, FALSE, section_name(address).c_str()));
    const DWORD error = GetLastError();
    if (!section && error == ERROR_ACCESS_DENIED)
        return fail(IPC_NO_PERMISSION, "the server at %s belongs to another user", address.text().c_str());
    if (!section)
        return win32::fail_windows(IPC_NO_SERVER, error, "nobody listens at %s: start the server first",
                                   address.text().c_str());
    win32::User self;
    win32::User owner;
    if (Status s = win32::this_user(&self)) return s;
    if (!win32::owner_of(section.get(), &owner) || !(owner == self))
        return fail(IPC_NO_PERMISSION, "the server at %s belongs to another user", address.text().c_str());
    const View view(section.get(), FILE_MAP_READ);
    const Section* found = view.get();
    // Its maker is between two instructions, or has died there.
    for (int tries = 0; found != nullptr && found->magic.load(std::memory_order_acquire) == 0 && tries < 20; ++tries)
        Sleep(10);
    if (found == nullptr || found->magic.load(std::memory_order_acquire) != handshake_magic ||
        found->version != handshake_version || found->sequence != static_cast<uint32_t>(sequence))
        return fail(IPC_NOT_OUR_PROTOCOL, "what stands at %s is no handshake section of ipc: use another name",
                    address.text().c_str());
    char endpoint[longest_endpoint + 1];
    std::memcpy(endpoint, found->endpoint, sizeof endpoint);
    const char* end = std::find(endpoint, endpoint + longest_endpoint, '\0');
    *handshake = {sequence, found->proof, found->answer,
                  win32::to_wide({endpoint, static_cast<size_t>(end - endpoint)})};
    return IPC_OK;
}

} // namespace ipc::msrpc
