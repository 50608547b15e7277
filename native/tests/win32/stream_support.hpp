#pragma once

#include "../core/channels.hpp"
#include "core/status.hpp"
#include "ipc/ipc.h"
#include "win32/handle.hpp"

#include <cstring>
#include <string>

namespace ipc::win32::test {

using ipc::test::unique_name;

// Listens as a user of the library would, at "pipe?mode=message" or "tcp" and a name of its own.
class Listening {
  public:
    explicit Listening(const std::string& transport) {
        const size_t question = transport.find('?');
        const std::string id = transport.substr(0, question);
        name_ = id == "tcp" ? "0" : unique_name();
        std::string address = id + "://" + name_;
        if (question != std::string::npos) address += transport.substr(question);
        ipc_listen(address.c_str(), &listener_);
    }
    ~Listening() { ipc_listener_free(listener_); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    explicit operator bool() const { return listener_ != nullptr; }
    const std::string& name() const { return name_; }
    std::string address() const { return ipc_listener_address(listener_); }
    // The next client, or null with last_error() after five seconds.
    ipc_channel* accept() {
        ipc_channel* channel = nullptr;
        ipc_accept(listener_, 5000, &channel);
        return channel;
    }

  private:
    std::string name_;
    ipc_listener* listener_ = nullptr;
};

} // namespace ipc::win32::test
