// Scenario `shuffled`: raw calls, each with a request and a reply of its own out of more of them than any cache holds, in
// random order or in that of memory. What arrives is copied into memory that is as cold.
#include "connection.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "measure.hpp"
#include "scenarios.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ipc::peer {
namespace {

// So many messages of one length, one after the other in memory, none of which shares a cache line with another.
class MessagePool {
  public:
    static constexpr size_t cache_line = 64;

    // Writes all of it, so that every page is there.
    MessagePool(size_t count, size_t length)
        : length_(length), lines_of_each_(lines_of(length)), lines_(count * lines_of_each_) {}

    static size_t lines_of(size_t length) { return std::max<size_t>(1, (length + cache_line - 1) / cache_line); }

    std::span<uint8_t> at(size_t slot) { return {lines_[slot * lines_of_each_].bytes, length_}; }

  private:
    struct alignas(cache_line) Line {
        uint8_t bytes[cache_line];
    };

    size_t length_;
    size_t lines_of_each_;
    std::vector<Line> lines_;
};

// Both messages of every slot, and which slot is next: every slot once, then from the beginning.
class ShuffledData {
  public:
    explicit ShuffledData(const Cell& cell)
        : request_(raw_payload(cell.seed, cell.workload.request_bytes)),
          reply_(raw_payload(cell.seed + 1, cell.workload.reply_bytes)), turns_(order(cell)) {}

    size_t slots() const { return turns_.size(); }

    uint32_t next() {
        if (at_ == turns_.size()) at_ = 0;
        return turns_[at_++];
    }

    MessagePool requests() { return filled(request_); }
    MessagePool replies() { return filled(reply_); }
    MessagePool places_for_requests() const { return {slots(), request_.size()}; }
    MessagePool places_for_replies() const { return {slots(), reply_.size()}; }

    // That these bytes are the request of the slot; makes its place unlike it.
    void check_request(std::span<uint8_t> found, uint32_t slot) { check_message("request", found, request_, slot); }
    // The same of the reply.
    void check_reply(std::span<uint8_t> found, uint32_t slot) { check_message("reply", found, reply_, slot); }

  private:
    // A message of a slot says which one it is where those of `call` have their sequence.
    static uint64_t number_of(size_t slot) { return uint64_t{slot} + 1; }

    static void check_message(std::string_view what, std::span<uint8_t> found, std::span<uint8_t> due, uint32_t slot) {
        stamp_sequence(due, number_of(slot));
        check_bytes(what, found, due);
        spoil(found);
    }

    MessagePool filled(std::span<uint8_t> payload) const {
        MessagePool pool(slots(), payload.size());
        for (size_t slot = 0; slot < slots(); ++slot) {
            stamp_sequence(payload, number_of(slot));
            std::copy(payload.begin(), payload.end(), pool.at(slot).begin());
        }
        return pool;
    }

    static std::vector<uint32_t> order(const Cell& cell) {
        const Workload& workload = cell.workload;
        if (cell.pool_bytes == 0)
            fail_bad_cell("the cell has no pool_bytes: scenario shuffled needs bytes to choose from");
        if (workload.request_bytes < sizeof(uint64_t) || workload.reply_bytes < sizeof(uint64_t))
            fail_bad_cell("workload '" + workload.id +
                          "' has messages of less than 8 bytes: scenario shuffled could not tell them apart");
        // As many as fit with both messages: what each process touches.
        const size_t lines =
            MessagePool::lines_of(workload.request_bytes) + MessagePool::lines_of(workload.reply_bytes);
        std::vector<uint32_t> slots(std::max<size_t>(2, cell.pool_bytes / (lines * MessagePool::cache_line)));
        std::iota(slots.begin(), slots.end(), uint32_t{0});
        if (cell.order == Order::memory) return slots;
        Generator generator(cell.seed + 2);
        for (size_t last = slots.size() - 1; last > 0; --last)
            std::swap(slots[last], slots[static_cast<size_t>(generator.next() % (last + 1))]);
        return slots;
    }

    std::vector<uint8_t> request_;
    std::vector<uint8_t> reply_;
    std::vector<uint32_t> turns_;
    size_t at_ = 0;
};

class ShuffledCall final : public Operation {
  public:
    ShuffledCall(const Cell& cell, Control& control)
        : data_(cell), requests_(data_.requests()), received_(data_.places_for_replies()),
          connection_(Connection::connect(cell, control)) {}

    Timing once() override {
        const uint32_t slot = data_.next();
        const auto request = requests_.at(slot);
        const auto place = received_.at(slot);
        size_t length = 0;
        const int64_t begin_ns = now_ns();
        const ipc_status status = ipc_call(connection_.channel(), request.data(), request.size(), place.data(),
                                           place.size(), &length, IPC_FOREVER);
        const int64_t end_ns = now_ns();
        if (status == IPC_BUFFER_TOO_SMALL) fail_wrong_content(wrong_length("reply", length, place.size()));
        check(status);
        data_.check_reply(place.first(length), slot);
        return {end_ns, end_ns - begin_ns, request.size() + length};
    }

  private:
    ShuffledData data_;
    MessagePool requests_;
    MessagePool received_;
    Connection connection_;
};

// Answers with the reply that the request asks for; only then it looks whether it was the one that is due.
class ShuffledAnswers {
  public:
    explicit ShuffledAnswers(const Cell& cell)
        : data_(cell), replies_(data_.replies()), received_(data_.places_for_requests()) {}

    void answer(ipc_channel* channel, const RequestInPlace& request) {
        const uint32_t slot = data_.next();
        const auto place = received_.at(slot);
        if (request.size != place.size())
            refuse(channel, "WRONG_CONTENT", wrong_length("request", request.size, place.size()));
        std::memcpy(place.data(), request.data, request.size);
        uint64_t asked = 0;
        std::memcpy(&asked, place.data(), sizeof asked);
        if (asked - 1 >= data_.slots())
            refuse(channel, "WRONG_CONTENT",
                   "the request asks for reply " + std::to_string(asked) + " of " + std::to_string(data_.slots()) +
                       ": check that both peers got the same workload and pool_bytes");
        const auto reply = replies_.at(static_cast<size_t>(asked - 1));
        check(ipc_reply(channel, reply.data(), reply.size(), IPC_FOREVER));
        data_.check_request(place, slot);
    }

  private:
    ShuffledData data_;
    MessagePool replies_;
    MessagePool received_;
};

} // namespace

void shuffled_client(const Cell& cell, Control& control) {
    play_client<ShuffledCall>(cell, control);
}

void shuffled_server(const Cell& cell, Control& control) {
    ShuffledAnswers answers(cell);
    serve_requests(cell, control, [&](ipc_channel* channel, const RequestInPlace& request, uint64_t) {
        answers.answer(channel, request);
    });
}

} // namespace ipc::peer
