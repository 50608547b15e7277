#pragma once

#include "ipc/ipc.h"

#include <map>
#include <mutex>
#include <string>

namespace puppet {

// The listeners, channels and queues of this puppet, by the names the suite gave them. Workers use one at the same time as the
// ABI allows; the suite frees one only when no worker is inside a call on it.
class Handles {
  public:
    void add(const std::string& name, ipc_listener* listener);
    void add(const std::string& name, ipc_channel* channel);
    void add(const std::string& name, ipc_queue* queue);
    ipc_listener* listener(const std::string& name);
    ipc_channel* channel(const std::string& name);
    ipc_queue* queue(const std::string& name);
    void close(const std::string& name);
    void free(const std::string& name);
    void free_all();
    // As the ABI promises, at any time: removes the names from the file system.
    void close_all();

  private:
    std::mutex lock_;
    std::map<std::string, ipc_listener*> listeners_;
    std::map<std::string, ipc_channel*> channels_;
    std::map<std::string, ipc_queue*> queues_;
};

} // namespace puppet
