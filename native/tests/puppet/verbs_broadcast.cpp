#include "verbs.hpp"

#include <mutex>
#include <vector>

namespace puppet {
namespace {

// Publishers and subscribers stay until the process ends: what the suite wants to see is how they end then.
std::mutex lock;
std::map<std::string, ipc_publisher*> publishers;
std::map<std::string, ipc_subscriber*> subscribers;

template <class Handle>
Handle* named(const std::map<std::string, Handle*>& handles, const std::string& name) {
    std::lock_guard guard(lock);
    auto found = handles.find(name);
    if (found == handles.end()) throw Wrong("there is no publisher or subscriber '" + name + "'");
    return found->second;
}

template <class Handle>
void keep(std::map<std::string, Handle*>* handles, const std::string& name, Handle* handle) {
    std::lock_guard guard(lock);
    if (!handles->emplace(name, handle).second) throw Wrong("there is already a '" + name + "'");
}

std::string open_publisher(Handles&, Command& command) {
    auto name = command.word();
    ipc_publisher* publisher;
    require(ipc_publisher_open(command.word().c_str(), &publisher));
    keep(&publishers, name, publisher);
    return "";
}

std::string publish(Handles&, Command& command) {
    auto* publisher = named(publishers, command.word());
    auto bytes = bytes_of(payload(command));
    require(ipc_publish(publisher, bytes.data(), bytes.size(), command.timeout()));
    return "";
}

std::string count_subscribers(Handles&, Command& command) {
    size_t count;
    require(ipc_publisher_subscribers(named(publishers, command.word()), &count));
    return std::to_string(count);
}

std::string open_subscriber(Handles&, Command& command) {
    auto name = command.word();
    auto address = command.word();
    ipc_subscriber* subscriber;
    require(ipc_subscriber_open(address.c_str(), command.timeout(), &subscriber));
    keep(&subscribers, name, subscriber);
    return "";
}

std::string take(Handles&, Command& command) {
    auto* subscriber = named(subscribers, command.word());
    std::vector<uint8_t> buffer(command.size());
    auto message = expected_payload(command);
    uint64_t lost;
    require(
        ipc_subscriber_receive(subscriber, buffer.data(), buffer.size(), &message.length, &lost, command.timeout()));
    require_same(difference(message, buffer.data(), message.length));
    return std::to_string(message.length) + " " + std::to_string(lost);
}

} // namespace

void add_broadcast_verbs(Verbs* verbs) {
    verbs->insert({{"publisher", open_publisher},
                   {"publish", publish},
                   {"subscribers", count_subscribers},
                   {"subscriber", open_subscriber},
                   {"take", take}});
}

} // namespace puppet
