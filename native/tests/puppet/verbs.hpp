#pragma once

#include "command.hpp"
#include "handles.hpp"
#include "payload.hpp"

#include <map>
#include <string>

namespace puppet {

// Carries out one command and returns what follows `ok`; throws Refused or Wrong.
using Verb = std::string (*)(Handles& handles, Command& command);
using Verbs = std::map<std::string, Verb>;

// LENGTH SEED SEQUENCE
inline Payload payload(Command& command) {
    auto length = command.size();
    auto seed = command.number();
    return {length, seed, command.number()};
}

// SEED SEQUENCE: what is expected of a message whose length only its arrival tells.
inline Payload expected_payload(Command& command) {
    auto seed = command.number();
    return {0, seed, command.number()};
}

void add_connection_verbs(Verbs* verbs);
void add_message_verbs(Verbs* verbs);
void add_call_verbs(Verbs* verbs);
void add_in_flight_verbs(Verbs* verbs);
void add_queue_verbs(Verbs* verbs);
void add_broadcast_verbs(Verbs* verbs);

} // namespace puppet
