#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>

namespace fuzz {

enum class Kind : uint32_t { message = 1, request = 2, reply = 3, fault = 4 };
const char* name_of(Kind kind);

// What is known of a frame's way: being sent; sent for certain; not sent for certain; not sent whole, but perhaps begun; any of
// these.
enum class Way { under_way, sent, unsent, cut, unknown };

struct Frame {
    Kind kind = Kind::message;
    uint32_t sequence = 0; // its content
    uint32_t request = 0;  // a request's number; a reply's or fault's: of the request it answers
    size_t length = 0;
    Way way = Way::under_way;
};

// Awaited by a peer that takes every answer for a good one.
inline constexpr uint32_t any_request = UINT32_MAX;

// Which answers a receiving function waits for: that to the latest request, or those to several.
struct Awaited {
    // Implicit, as there is mostly one. 0: before the first.
    Awaited(uint32_t one) : call(one), latest(one) {}
    Awaited(const std::atomic<uint32_t>& one) : Awaited(one.load()) {}
    Awaited(uint32_t one, const std::set<uint32_t>* all, uint32_t last) : call(one), in_flight(all), latest(last) {}

    // An answer to a call that was given up, or to one before: the receiver drops it.
    bool is_late(uint32_t request, Kind wanted) const {
        if (in_flight != nullptr) return !in_flight->contains(request) && request <= latest;
        if (call == 0 || call == any_request) return false;
        return wanted == Kind::reply ? request < call : request <= call;
    }
    bool is_it(uint32_t request) const { return request == call || call == any_request; }
    // Who completes is told of a fault as of a reply.
    bool comes_as(Kind wanted, Kind kind) const {
        return kind == wanted || (in_flight != nullptr && wanted == Kind::reply && kind == Kind::fault);
    }
    // Whether it may come at all.
    bool may_come(uint32_t request) const {
        return in_flight != nullptr ? in_flight->contains(request) : request == call;
    }

    uint32_t call;
    const std::set<uint32_t>* in_flight = nullptr;
    uint32_t latest;
};

// What one end has sent to the other, in order, as the model knows it. Used by both ends' threads.
class Wire {
  public:
    explicit Wire(unsigned direction) : direction_(direction) {}
    // Nothing is known of what comes out: the memory it goes through is scribbled over.
    void expect_anything() { anything_ = true; }
    bool anything() const { return anything_; }

    // ---- the sender's end
    uint32_t next_sequence();
    // Before the frame goes out.
    void begin(const Frame& frame);
    // After.
    void end(uint32_t sequence, Way way);

    // ---- the receiver's end
    // Takes the frame that was received out of the books. A finding if this cannot have come next.
    Frame take(Kind kind, const Awaited& awaited, const void* bytes, size_t length);
    // The fault that answers the awaited request.
    Frame take_fault(const Awaited& awaited, const char* text);
    // A frame of this kind and length may come next, or it is a finding.
    void may_come(Kind kind, const Awaited& awaited, size_t length);
    // A frame of this kind lies there whole and comes next.
    bool surely_there(Kind kind, const Awaited& awaited);
    // Some frame may lie there that this kind's receiver must refuse.
    bool may_break_order(Kind kind, const Awaited& awaited);
    // The first that is not known to be unsent; false if there is none.
    bool first(Frame* frame);

  private:
    Frame anything(Kind kind, const void* bytes, size_t length) const;
    bool is_late(const Frame& frame, Kind kind, const Awaited& awaited) const;
    bool is_it(const Frame& frame, Kind kind, const Awaited& awaited, const void* bytes, size_t length) const;
    template <class IsIt>
    Frame take_if(Kind kind, const Awaited& awaited, size_t length, IsIt is_it);

    const unsigned direction_;
    bool anything_ = false;
    std::mutex mutex_;
    uint32_t last_sequence_ = 0;
    std::deque<Frame> frames_;
    std::set<uint32_t> passed_over_; // taken to be unsent while under way
};

} // namespace fuzz
