#include "wire.hpp"

#include "content.hpp"
#include "finding.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace fuzz {

const char* name_of(Kind kind) {
    constexpr const char* names[] = {"?", "message", "request", "reply", "fault"};
    return names[static_cast<size_t>(kind)];
}

uint32_t Wire::next_sequence() {
    const std::lock_guard lock(mutex_);
    return ++last_sequence_;
}

void Wire::begin(const Frame& frame) {
    const std::lock_guard lock(mutex_);
    frames_.push_back(frame);
}

void Wire::end(uint32_t sequence, Way way) {
    const std::lock_guard lock(mutex_);
    if (passed_over_.erase(sequence) != 0) {
        if (way == Way::sent) finding("frame %u was sent, says its sender, but never came: a later one did", sequence);
        return;
    }
    // Room that is lent has its content before it is known whether it goes out: the same sequence may be tried several times.
    const auto latest = std::find_if(frames_.rbegin(), frames_.rend(), [sequence](const Frame& frame) {
        return frame.sequence == sequence && frame.way == Way::under_way;
    });
    if (latest != frames_.rend()) latest->way = way;
}

bool Wire::is_late(const Frame& frame, Kind kind, const Awaited& awaited) const {
    return (frame.kind == Kind::reply || frame.kind == Kind::fault) && awaited.is_late(frame.request, kind);
}

template <class IsIt>
Frame Wire::take_if(Kind kind, const Awaited& awaited, size_t length, IsIt is_it) {
    const std::lock_guard lock(mutex_);
    while (!frames_.empty()) {
        const Frame frame = frames_.front();
        frames_.pop_front();
        if (frame.way == Way::unsent) continue;
        if (frame.way != Way::cut && is_it(frame)) return frame;
        if (is_late(frame, kind, awaited)) continue;
        if (frame.way == Way::sent)
            finding("got a %s of %zu bytes where frame %u was due, a %s of %zu bytes (damaged, doubled, lost or out of "
                    "order)",
                    name_of(kind), length, frame.sequence, name_of(frame.kind), frame.length);
        if (frame.way == Way::under_way) passed_over_.insert(frame.sequence);
    }
    finding("got a %s of %zu bytes that nobody sent", name_of(kind), length);
}

// Every byte must be there to be read.
Frame Wire::anything(Kind kind, const void* bytes, size_t length) const {
    const auto* all = static_cast<const volatile uint8_t*>(bytes);
    for (size_t i = 0; i < length; i += 64) (void)all[i];
    if (length != 0) (void)all[length - 1];
    Frame frame;
    frame.kind = kind;
    frame.length = length;
    return frame;
}

Frame Wire::take(Kind kind, const Awaited& awaited, const void* bytes, size_t length) {
    if (anything_) return anything(kind, bytes, length);
    return take_if(kind, awaited, length,
                   [&](const Frame& frame) { return is_it(frame, kind, awaited, bytes, length); });
}

bool Wire::is_it(const Frame& frame, Kind kind, const Awaited& awaited, const void* bytes, size_t length) const {
    if (frame.kind != kind || frame.length != length) return false;
    if (kind == Kind::reply && !awaited.is_it(frame.request)) return false;
    if (kind == Kind::fault) return fault_text(frame.sequence) == std::string(static_cast<const char*>(bytes), length);
    return is_content(direction_, frame.sequence, bytes, length);
}

Frame Wire::take_fault(const Awaited& awaited, const char* text) {
    if (anything_) return anything(Kind::fault, text, std::strlen(text));
    return take_if(Kind::reply, awaited, std::strlen(text), [&](const Frame& frame) {
        return frame.kind == Kind::fault && awaited.is_it(frame.request) &&
               std::strstr(text, fault_text(frame.sequence).c_str()) != nullptr;
    });
}

void Wire::may_come(Kind kind, const Awaited& awaited, size_t length) {
    if (anything_) return;
    const std::lock_guard lock(mutex_);
    for (const Frame& frame : frames_) {
        if (frame.way == Way::unsent) continue;
        if (frame.kind == kind && frame.length == length && (kind != Kind::reply || awaited.is_it(frame.request)))
            return;
        if (is_late(frame, kind, awaited)) continue;
        if (frame.way == Way::sent)
            finding("told of a %s of %zu bytes where frame %u is due, a %s of %zu bytes", name_of(kind), length,
                    frame.sequence, name_of(frame.kind), frame.length);
    }
    finding("told of a %s of %zu bytes that nobody sent", name_of(kind), length);
}

bool Wire::surely_there(Kind kind, const Awaited& awaited) {
    if (anything_) return false;
    const std::lock_guard lock(mutex_);
    for (const Frame& frame : frames_) {
        if (frame.way == Way::unsent) continue;
        if (frame.way != Way::sent) return false;
        if (awaited.comes_as(kind, frame.kind) && (kind != Kind::reply || awaited.may_come(frame.request))) return true;
        if (!is_late(frame, kind, awaited)) return false;
    }
    return false;
}

bool Wire::may_break_order(Kind kind, const Awaited& awaited) {
    if (anything_) return true;
    const std::lock_guard lock(mutex_);
    return std::any_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
        if (frame.way == Way::unsent || is_late(frame, kind, awaited)) return false;
        if (kind != Kind::reply) return frame.kind != kind;
        // A raw peer may answer what was never asked.
        return (frame.kind != Kind::reply && frame.kind != Kind::fault) || !awaited.may_come(frame.request);
    });
}

bool Wire::first(Frame* frame) {
    const std::lock_guard lock(mutex_);
    for (const Frame& one : frames_)
        if (one.way != Way::unsent) {
            *frame = one;
            return true;
        }
    return false;
}

} // namespace fuzz
