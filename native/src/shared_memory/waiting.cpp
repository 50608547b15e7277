#include "shared_memory/waiting.hpp"

namespace ipc::shared_memory {

WaitPolicy wait_policy(const Address& address) {
    const std::string& wait = address.option("wait");
    WaitMode mode = wait == "spin" ? WaitMode::spin : wait == "block" ? WaitMode::block : WaitMode::adaptive;
    return {mode, static_cast<int64_t>(address.option_count("spin")) * 1000, only_one_processor()};
}

} // namespace ipc::shared_memory
