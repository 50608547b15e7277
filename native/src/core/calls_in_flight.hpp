#pragma once

#include "core/status.hpp"
#include "ipc/ipc.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <utility>

namespace ipc {

// A client's calls whose replies have not been handed out yet: which number belongs to whose tag. One thread submits and one completes,
// without locks: a place belongs to the submitter while its number is 0, and from then on to who completes. Twin of managed CallsInFlight.
class CallsInFlight {
  public:
    static constexpr uint32_t most = IPC_MOST_IN_FLIGHT;
    static constexpr size_t none = SIZE_MAX;

    // A reply that was taken in while a request waited for room.
    struct Arrived {
        uint64_t tag;
        bool is_fault; // the bytes are its text
        size_t length;
        std::unique_ptr<std::byte[]> bytes;
    };

    uint32_t count() const {
        return submitted_.load(std::memory_order_relaxed) - completed_.load(std::memory_order_acquire);
    }
    bool any() const {
        return submitted_.load(std::memory_order_relaxed) != completed_.load(std::memory_order_relaxed);
    }

    // ---- for who submits

    // Before the request goes: its reply may be there before sending has returned. Not while `most` are in flight. Returns the place.
    size_t enter(uint32_t id, uint64_t tag) {
        size_t at = id % most;
        // Calls that stay long keep their places; the number looks for the next.
        while (ids_[at].load(std::memory_order_acquire) != 0) at = (at + 1) % most;
        tags_[at] = tag;
        ids_[at].store(id, std::memory_order_release);
        submitted_.store(submitted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        return at;
    }
    // The request is out.
    void sent(uint32_t id) { sent_.store(id, std::memory_order_release); }
    // It is not, and its call never was: nobody has looked at the place, since it is not sent().
    void take_back(size_t at, uint32_t id) {
        ids_[at].store(0, std::memory_order_relaxed);
        submitted_.store(submitted_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        sent(id);
    }

    // ---- for who completes

    // Where the call with this number is; `none` if it is not in flight: a late reply, or one to nothing.
    size_t find(uint32_t id) const {
        const size_t first = id % most;
        if (ids_[first].load(std::memory_order_acquire) == id) [[likely]]
            return id != 0 ? first : none;
        return find_further(id, first);
    }
    // Whether its request is not wholly out, as far as can be seen here: a moment too soon for an honest server's reply.
    bool is_being_sent(uint32_t id) const {
        return static_cast<int32_t>(id - sent_.load(std::memory_order_acquire)) > 0;
    }
    uint64_t tag(size_t at) const { return tags_[at]; }
    // The call is over. It still counts until completed(), for its reply may wait to be handed out.
    void end(size_t at) { ids_[at].store(0, std::memory_order_release); }
    void completed() { completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
    // Some call whose request is out, for a channel that has ended; `none` if there is none.
    size_t find_any() const {
        for (size_t at = 0; at < most; ++at) {
            const uint32_t id = ids_[at].load(std::memory_order_acquire);
            if (id != 0 && !is_being_sent(id)) return at;
        }
        return none;
    }

    // A reply that waits here until it is handed out; its call still counts. False: no memory.
    bool keep(size_t at, bool is_fault, const void* bytes, size_t length) {
        std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[length]);
        if (!copy) return false;
        if (length != 0) std::memcpy(copy.get(), bytes, length);
        try {
            arrived.push_back({tag(at), is_fault, length, std::move(copy)});
        } catch (const std::bad_alloc&) {
            return false;
        }
        end(at);
        return true;
    }
    std::deque<Arrived> arrived;

    // Set while the submitter is about to take replies in itself, and does; who completes stands back.
    std::atomic<bool> taking_in{false};

  private:
    size_t find_further(uint32_t id, size_t first) const {
        if (id == 0) return none;
        for (size_t at = (first + 1) % most; at != first; at = (at + 1) % most)
            if (ids_[at].load(std::memory_order_acquire) == id) return at;
        return none;
    }

    std::array<std::atomic<uint32_t>, most> ids_{};
    std::array<uint64_t, most> tags_{};
    alignas(64) std::atomic<uint32_t> submitted_{0};
    std::atomic<uint32_t> sent_{0};
    alignas(64) std::atomic<uint32_t> completed_{0};
};

} // namespace ipc
