#include "handles.hpp"

#include "command.hpp"

namespace puppet {

void Handles::add(const std::string& name, ipc_listener* listener) {
    std::lock_guard guard(lock_);
    if (!listeners_.emplace(name, listener).second) throw Wrong("there is already a listener '" + name + "'");
}

void Handles::add(const std::string& name, ipc_channel* channel) {
    std::lock_guard guard(lock_);
    if (!channels_.emplace(name, channel).second) throw Wrong("there is already a channel '" + name + "'");
}

void Handles::add(const std::string& name, ipc_queue* queue) {
    std::lock_guard guard(lock_);
    if (!queues_.emplace(name, queue).second) throw Wrong("there is already a queue '" + name + "'");
}

ipc_listener* Handles::listener(const std::string& name) {
    std::lock_guard guard(lock_);
    auto found = listeners_.find(name);
    if (found == listeners_.end()) throw Wrong("there is no listener '" + name + "'");
    return found->second;
}

ipc_channel* Handles::channel(const std::string& name) {
    std::lock_guard guard(lock_);
    auto found = channels_.find(name);
    if (found == channels_.end()) throw Wrong("there is no channel '" + name + "'");
    return found->second;
}

ipc_queue* Handles::queue(const std::string& name) {
    std::lock_guard guard(lock_);
    auto found = queues_.find(name);
    if (found == queues_.end()) throw Wrong("there is no queue '" + name + "'");
    return found->second;
}

void Handles::close(const std::string& name) {
    std::lock_guard guard(lock_);
    if (auto channel = channels_.find(name); channel != channels_.end())
        ipc_channel_close(channel->second);
    else if (auto queue = queues_.find(name); queue != queues_.end())
        ipc_queue_close(queue->second);
    else if (auto listener = listeners_.find(name); listener != listeners_.end())
        ipc_listener_close(listener->second);
    else
        throw Wrong("there is nothing called '" + name + "'");
}

void Handles::free(const std::string& name) {
    std::lock_guard guard(lock_);
    if (auto channel = channels_.find(name); channel != channels_.end()) {
        ipc_channel_free(channel->second);
        channels_.erase(channel);
    } else if (auto queue = queues_.find(name); queue != queues_.end()) {
        ipc_queue_free(queue->second);
        queues_.erase(queue);
    } else if (auto listener = listeners_.find(name); listener != listeners_.end()) {
        ipc_listener_free(listener->second);
        listeners_.erase(listener);
    } else {
        throw Wrong("there is nothing called '" + name + "'");
    }
}

void Handles::free_all() {
    std::lock_guard guard(lock_);
    for (auto& [name, channel] : channels_) ipc_channel_free(channel);
    for (auto& [name, listener] : listeners_) ipc_listener_free(listener);
    for (auto& [name, queue] : queues_) ipc_queue_free(queue);
    channels_.clear();
    queues_.clear();
    listeners_.clear();
}

void Handles::close_all() {
    std::lock_guard guard(lock_);
    for (auto& [name, channel] : channels_) ipc_channel_close(channel);
    for (auto& [name, listener] : listeners_) ipc_listener_close(listener);
    for (auto& [name, queue] : queues_) ipc_queue_close(queue);
}

} // namespace puppet
