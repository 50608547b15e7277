#include "verbs.hpp"

#include <chrono>
#include <future>
#include <thread>

namespace puppet {
namespace {

std::string listen(Handles& handles, Command& command) {
    auto name = command.word();
    ipc_listener* listener;
    require(ipc_listen(command.word().c_str(), &listener));
    handles.add(name, listener);
    return ipc_listener_address(listener);
}

std::string accept(Handles& handles, Command& command) {
    auto* listener = handles.listener(command.word());
    auto name = command.word();
    ipc_channel* channel;
    require(ipc_accept(listener, command.timeout(), &channel));
    handles.add(name, channel);
    return "";
}

// On a thread of its own, which ends some milliseconds later.
std::string accept_and_end(Handles& handles, Command& command) {
    auto* listener = handles.listener(command.word());
    auto name = command.word();
    const int32_t timeout = command.timeout();
    const std::chrono::milliseconds lingering(command.timeout());
    std::promise<ipc_channel*> accepted;
    auto channel = accepted.get_future();
    std::thread([=, accepted = std::move(accepted)]() mutable {
        try {
            ipc_channel* its = nullptr;
            require(ipc_accept(listener, timeout, &its));
            accepted.set_value(its);
        } catch (const Refused&) {
            accepted.set_exception(std::current_exception());
        }
        std::this_thread::sleep_for(lingering);
    }).detach();
    handles.add(name, channel.get());
    return "";
}

std::string connect(Handles& handles, Command& command) {
    auto name = command.word();
    auto address = command.word();
    ipc_channel* channel;
    require(ipc_connect(address.c_str(), command.timeout(), &channel));
    handles.add(name, channel);
    return "";
}

std::string limit(Handles& handles, Command& command) {
    return std::to_string(ipc_channel_limit(handles.channel(command.word())));
}

std::string close(Handles& handles, Command& command) {
    handles.close(command.word());
    return "";
}

std::string free(Handles& handles, Command& command) {
    handles.free(command.word());
    return "";
}

std::string reset(Handles& handles, Command&) {
    handles.free_all();
    return "";
}

} // namespace

void add_connection_verbs(Verbs* verbs) {
    verbs->insert({{"listen", listen},
                   {"accept", accept},
                   {"accept-and-end", accept_and_end},
                   {"connect", connect},
                   {"limit", limit},
                   {"close", close},
                   {"free", free},
                   {"reset", reset}});
}

} // namespace puppet
