#include "one_way_stretch.hpp"

namespace ipc::peer {

void Portions::begin() {
    const std::lock_guard lock(mutex_);
    if (begin_ns_ == 0) begin_ns_ = last_ns_ = now_ns();
}

void Portions::add(uint64_t messages) {
    const std::lock_guard lock(mutex_);
    operations_ += messages;
    pending_ += messages;
    if (pending_ >= portion_) keep(now_ns());
}

void Portions::end(uint64_t messages) {
    const std::lock_guard lock(mutex_);
    operations_ += messages;
    pending_ += messages;
    end_ns_ = now_ns();
    // The rest of the last portion is in the rate; a sample of its own would weigh a few messages as much as a thousand.
    if (pending_ >= portion_ || (portion_ != each_timed && samples_.empty() && pending_ > 0)) keep(end_ns_);
}

void Portions::keep_time(int64_t nanoseconds) {
    if (keeps_)
        samples_.push_back(
            static_cast<uint32_t>(std::clamp<int64_t>(nanoseconds, 1, std::numeric_limits<uint32_t>::max())));
}

void Portions::keep(int64_t now) {
    const auto picoseconds = static_cast<uint64_t>(now - last_ns_) * 1000 / pending_;
    if (keeps_)
        samples_.push_back(
            static_cast<uint32_t>(std::clamp<uint64_t>(picoseconds, 1, std::numeric_limits<uint32_t>::max())));
    last_ns_ = now;
    pending_ = 0;
}

void Arrivals::check_end_mark(const uint8_t* message, size_t length) const {
    if (length != pattern_.length()) fail_message_length(length, pattern_.length());
    const uint64_t head = head_of(message);
    const uint64_t plain = head & ~MessageHead::end_mark;
    const size_t client = MessageHead::client_of(plain);
    if (client >= next_.size())
        fail_wrong_content("a message says it comes from client " + std::to_string(client) + " of " +
                           std::to_string(next_.size()) + ": the transport damaged it, or a stranger sends here");
    constexpr uint64_t sequence = (uint64_t{1} << MessageHead::client_shift) - 1;
    if (plain != next_[client])
        fail_wrong_sequence("message of client " + std::to_string(client), plain & sequence, next_[client] & sequence);
    // What remains is an end mark in its place, or a message in its place with a wrong byte.
    if (plain == head || !pattern_.is_right(message, head)) fail_message_content(head);
}

void fail_message_length(size_t found, size_t expected) {
    fail_wrong_content("a message of " + std::to_string(found) + " bytes came where " + std::to_string(expected) +
                       " are due: check that all peers got the same workload");
}

void fail_message_content(uint64_t head) {
    constexpr uint64_t sequence = (uint64_t{1} << MessageHead::client_shift) - 1;
    fail_wrong_content("message " + std::to_string(head & sequence) +
                       " is not what was sent: the transport damaged it, or the peers got different seeds");
}

void UnorderedArrivals::begin_stretch() {
    ended_ = 0;
    left_ = 0;
    for (Client& client : clients_) client = {.first = client.end, .end = client.end};
}

uint64_t UnorderedArrivals::note(const uint8_t* message, size_t length) {
    if (length != pattern_.length()) fail_message_length(length, pattern_.length());
    const uint64_t head = head_of(message);
    const uint64_t plain = head & ~MessageHead::end_mark;
    const size_t number = MessageHead::client_of(plain);
    if (number >= clients_.size() || plain < clients_[number].first || !pattern_.is_right(message, head))
        fail_message_content(plain);
    Client& client = clients_[number];
    if (plain == head) {
        client.sum += head;
        client.squares += head * head;
        --left_;
        return 1;
    }
    if (client.has_ended) fail_message_content(plain);
    client.has_ended = true;
    client.end = plain;
    left_ += static_cast<int64_t>(plain - client.first);
    ++ended_;
    return 0;
}

void UnorderedArrivals::check_stretch() const {
    for (size_t number = 0; number < clients_.size(); ++number) {
        const Client& client = clients_[number];
        uint64_t sum = 0, squares = 0;
        for (uint64_t head = client.first; head < client.end; ++head) {
            sum += head;
            squares += head * head;
        }
        if (sum != client.sum || squares != client.squares)
            fail_wrong_content("the messages of client " + std::to_string(number) +
                               " did not come once each: the transport lost some and repeated others");
    }
}

MessagePattern pattern_of(const Cell& cell) {
    if (cell.workload.request_bytes < sizeof(uint64_t))
        fail_bad_cell("workload '" + cell.workload.id + "' has messages of " +
                      std::to_string(cell.workload.request_bytes) +
                      " bytes, too short for a sequence: choose one of 8 bytes or more");
    return {cell.seed, cell.workload.request_bytes};
}

double expected_samples(const Cell& cell, const Portions& warm_up, uint32_t senders) {
    const double rate = cell.workload.rate > 0
                            ? cell.workload.rate
                            : static_cast<double>(warm_up.operations()) /
                                  static_cast<double>(std::max<int64_t>(warm_up.elapsed_ns(), 1)) * 1e9;
    const double messages = cell.count ? static_cast<double>(*cell.count) * senders : rate * cell.seconds * 1.25;
    return messages / cell.portion + 1024;
}

void report_received(const Cell& cell, Control& control, Portions& portions, uint64_t lost, const Usage* before) {
    nlohmann::ordered_json event{{"event", "received"},
                                 {"operations", portions.operations()},
                                 {"elapsed_ns", portions.elapsed_ns()},
                                 {"bytes", portions.operations() * cell.workload.request_bytes},
                                 {"lost", lost}};
    if (before) {
        Usage after = read_counters();
        after.memory_bytes = memory_without(portions.samples());
        if (!cell.samples.empty()) write_samples(cell.samples, portions.samples());
        event["usage_before"] = to_json(*before);
        event["usage_after"] = to_json(after);
    }
    control.emit(event);
}

} // namespace ipc::peer
