#pragma once

#include "core/address.hpp"

#include <string>
#include <string_view>

namespace ipc::boost_mq {

// Names of queues stand in /dev/shm from their making until the client has opened them:
//   ipc-boost-mq-<user>-<name of the address>-<server's process>-<16 random hexadecimal digits>-<c or s: who sends>

// The name without its last two characters, new for each connection. IPC_SYSTEM if the system gives no random bytes.
Status new_queue_id(const Address& address, std::string* id);
inline std::string from_client(std::string_view id) {
    return std::string(id) + "-c";
}
inline std::string from_server(std::string_view id) {
    return std::string(id) + "-s";
}
// Whether a greeting's id is one that a server of this address makes.
bool is_queue_id(const Address& address, std::string_view id);

// Removes the queues of killed servers of this address. Only the listener that has the address's name may call.
void sweep_queues(const Address& address);

} // namespace ipc::boost_mq
