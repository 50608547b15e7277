#include "verbs.hpp"

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
                   {"connect", connect},
                   {"limit", limit},
                   {"close", close},
                   {"free", free},
                   {"reset", reset}});
}

} // namespace puppet
