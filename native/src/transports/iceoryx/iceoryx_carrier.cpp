#include "transports/iceoryx/iceoryx_carrier.hpp"

#include "transports/iceoryx/runtime_posix.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iceoryx_posh/mepoo/chunk_header.hpp>
#include <thread>

namespace ipc::iceoryx {
namespace {

using Clock = std::chrono::steady_clock;

// A token may be taken by the thread that receives just before the sender waits for it: then this is how long it waits for
// nothing.
constexpr int64_t token_wait_ns = 2'000'000;

iox::capro::ServiceDescription service(const std::string& id, bool of_server) {
    return {"ipc", iox::capro::IdString_t(iox::cxx::TruncateToCapacity, id.c_str()),
            of_server ? iox::capro::IdString_t("from-server") : iox::capro::IdString_t("from-client")};
}

iox::popo::SubscriberOptions subscriber_options(uint64_t window) {
    iox::popo::SubscriberOptions options;
    options.queueCapacity = window;
    return options;
}

} // namespace

IceoryxCarrier::IceoryxCarrier(const std::string& id, bool is_server, size_t fragment_bytes, uint64_t window,
                               std::shared_ptr<fragments::PeerSocket> peer)
    : is_server_(is_server), fragment_bytes_(fragment_bytes), window_(window), peer_(std::move(peer)),
      publisher_(service(id, is_server)), subscriber_(service(id, !is_server), subscriber_options(window)) {
    arrivals_.attachState(subscriber_, iox::popo::SubscriberState::HAS_DATA).or_else([](auto) {
        // Only a second subscriber would find no place.
    });
}

IceoryxCarrier::~IceoryxCarrier() {
    give_back();
    arrivals_.detachState(subscriber_, iox::popo::SubscriberState::HAS_DATA);
    if (peer_->gone()) sweep_runtimes();
}

bool IceoryxCarrier::connect(int64_t patience_ns) {
    const auto start = Clock::now();
    while (!publisher_.hasSubscribers() || subscriber_.getSubscriptionState() != iox::SubscribeState::SUBSCRIBED) {
        if (peer_->gone() || (Clock::now() - start).count() >= patience_ns) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    peer_->give_token();
    return true;
}

// The client's first token tells that it is connected; each further one that it has consumed a quarter of the window.
bool IceoryxCarrier::has_room() const {
    const uint64_t tokens = peer_->tokens();
    const uint64_t ready = is_server_ ? 1 : 0;
    return tokens >= ready && sent_ < window_ + (tokens - ready) * (window_ / 4);
}

Status IceoryxCarrier::send(Chunk head, Chunk body, int64_t patience_ns) {
    const auto start = Clock::now();
    while (!has_room()) {
        if (Status s = peer_->look()) return s;
        if (has_room()) break;
        const int64_t left = patience_ns - (Clock::now() - start).count();
        if (left <= 0 || peer_->gone()) return IPC_TIMED_OUT;
        peer_->wait(std::min(left, token_wait_ns));
    }
    return publish(head, body, patience_ns - (patience_ns == 0 ? 0 : (Clock::now() - start).count()));
}

Status IceoryxCarrier::publish(Chunk head, Chunk body, int64_t patience_ns) {
    const auto start = Clock::now();
    while (true) {
        void* chunk = nullptr;
        publisher_.loan(static_cast<uint32_t>(head.length + body.length))
            .and_then([&](void*& loaned) { chunk = loaned; })
            .or_else([](auto) {});
        if (chunk != nullptr) {
            if (head.length != 0) std::memcpy(chunk, head.data, head.length);
            if (body.length != 0) std::memcpy(static_cast<std::byte*>(chunk) + head.length, body.data, body.length);
            publisher_.publish(chunk);
            ++sent_;
            return IPC_OK;
        }
        // All chunks of this size are in use, by whomever: RouDi's pools are everybody's.
        if ((Clock::now() - start).count() >= patience_ns) return IPC_TIMED_OUT;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void IceoryxCarrier::give_back() {
    if (held_ == nullptr) return;
    subscriber_.release(held_);
    held_ = nullptr;
    if (++consumed_ % (window_ / 4) == 0) peer_->give_token();
}

bool IceoryxCarrier::take(const std::byte** fragment, size_t* length) {
    const void* chunk = nullptr;
    subscriber_.take().and_then([&](const void* taken) { chunk = taken; }).or_else([](auto) {});
    if (chunk == nullptr) return false;
    held_ = chunk;
    *fragment = static_cast<const std::byte*>(chunk);
    *length = iox::mepoo::ChunkHeader::fromUserPayload(chunk)->userPayloadSize();
    return true;
}

Status IceoryxCarrier::receive(std::byte*, const std::byte** fragment, size_t* length, int64_t patience_ns) {
    give_back();
    bool taken = take(fragment, length);
    if (!taken && patience_ns > 0) {
        arrivals_.timedWait(iox::units::Duration::fromNanoseconds(patience_ns));
        taken = take(fragment, length);
    }
    if (!taken) return IPC_TIMED_OUT;
    if (*length > fragment_bytes_)
        return fail(IPC_NOT_OUR_PROTOCOL, "the peer sent a fragment of %zu bytes where at most %zu were agreed",
                    *length, fragment_bytes_);
    return IPC_OK;
}

} // namespace ipc::iceoryx
