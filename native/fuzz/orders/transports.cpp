#include "transports.hpp"

#include "finding.hpp"

#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <map>
#include <memory>
#include <unistd.h>
#include <vector>

namespace fuzz {
namespace {

constexpr Variant all[] = {
    {"unix", "max=400k", 400 * 1024, false},
    {"unix", "max=70k", 70 * 1024, false},
    {"pipe", "max=400k", 400 * 1024, false},
    {"fifo", "max=400k", 400 * 1024, false},
    {"fifo", "max=3k", 3 * 1024, false},
    {"tcp", "max=400k&users=any", 400 * 1024, true},
    {"shm", "max=400k&size=64k&spin=20", 400 * 1024, false},
    {"shm", "max=400k&size=64k&wait=block", 400 * 1024, false},
    {"shm", "max=100k&size=128k&wait=block", 100 * 1024, false},
    {"shm-event", "max=400k", 400 * 1024, false},
    {"shm-event", "max=3k&wait=adaptive&spin=20", 3 * 1024, false},
};

std::vector<const Variant*> choose() {
    const char* wanted = std::getenv("IPC_FUZZ_TRANSPORT");
    std::vector<const Variant*> chosen;
    for (const Variant& one : all)
        if (wanted == nullptr || std::strcmp(wanted, one.transport) == 0) chosen.push_back(&one);
    if (chosen.empty()) finding("IPC_FUZZ_TRANSPORT=%s is none of those fuzzed", wanted);
    return chosen;
}

} // namespace

const Variant& variant(uint8_t choice) {
    static const std::vector<const Variant*> chosen = choose();
    return *chosen[choice % chosen.size()];
}

std::string address_of(const Variant& variant, const char* purpose) {
    static int count = 0;
    std::string name = "127.0.0.1:0";
    if (std::strcmp(variant.transport, "tcp") != 0)
        name = std::string("fuzz-") + purpose + "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    return std::string(variant.transport) + "://" + name + "?" + variant.options;
}

ipc_listener* listener_of(const Variant& variant) {
    static std::map<const Variant*, std::unique_ptr<ipc_listener, decltype(&ipc_listener_free)>> made;
    const auto known = made.find(&variant);
    if (known != made.end()) return known->second.get();
    ipc_listener* listener = nullptr;
    if (ipc_listen(address_of(variant, "orders").c_str(), &listener) != IPC_OK)
        finding("cannot listen: %s", ipc_last_error());
    made.emplace(&variant, decltype(made)::mapped_type(listener, &ipc_listener_free));
    return listener;
}

size_t open_files() {
    size_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (folder != nullptr && readdir(folder) != nullptr) ++count;
    if (folder != nullptr) closedir(folder);
    return count;
}

} // namespace fuzz
