#include "senders.hpp"

#include "core/wait_for_change.hpp"
#include "failure.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ipc::peer {

void Senders::wait_for_go(uint64_t operations, int64_t cold_ns) {
    std::unique_lock lock(mutex_);
    operations_ += operations;
    cold_ns_ = std::max(cold_ns_, cold_ns);
    if (++warm_ == threads_) {
        control_.emit({{"event", "warm"}, {"operations", operations_}, {"cold_ns", cold_ns_}});
        const auto memory = read_memory();
        control_.wait_for_go();
        before_ = read_counters();
        before_.memory_bytes = memory;
        operations_ = 0;
        go_ = true;
        changed_.notify_all();
    }
    while (!go_ && !failed_) wait_for_change(changed_, lock, Deadline(IPC_FOREVER));
    if (failed_) throw Failure("CLOSED", "another sending thread of this process has failed");
}

void Senders::have_sent(uint64_t operations, int64_t elapsed_ns, int64_t spun_ns) {
    const std::lock_guard lock(mutex_);
    const double rate = static_cast<double>(operations) / static_cast<double>(std::max<int64_t>(elapsed_ns, 1));
    slowest_ = sent_ == 0 ? rate : std::min(slowest_, rate);
    fastest_ = std::max(fastest_, rate);
    operations_ += operations;
    elapsed_ns_ = std::max(elapsed_ns_, elapsed_ns);
    spun_ns_ += spun_ns;
    if (++sent_ < threads_) return;
    after_ = read_counters();
    after_.cpu_ns = std::max(before_.cpu_ns, after_.cpu_ns - spun_ns_);
}

void Senders::tell_measured(size_t message_bytes) {
    const std::lock_guard lock(mutex_);
    if (++told_ < threads_) return;
    after_.memory_bytes = read_memory();
    nlohmann::ordered_json event{{"event", "measured"},
                                 {"operations", operations_},
                                 {"elapsed_ns", elapsed_ns_},
                                 {"bytes", operations_ * message_bytes},
                                 {"usage_before", to_json(before_)},
                                 {"usage_after", to_json(after_)}};
    if (threads_ > 1) event["slowest_by_fastest"] = slowest_ / fastest_;
    control_.emit(event);
}

void Senders::give_up() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
}

} // namespace ipc::peer
