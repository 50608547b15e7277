#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace ipc::peer::testing {

// A running ipc-peer, spoken to as the runner does; ended, by force if need be, when it goes out of scope.
class PeerProcess {
  public:
    PeerProcess();
    ~PeerProcess();
    PeerProcess(const PeerProcess&) = delete;
    PeerProcess& operator=(const PeerProcess&) = delete;

    void send(const nlohmann::json& line);
    void send_text(std::string_view line);
    void end_input();

    // The next event of this name or `failed`, others being skipped; null at the end of output or after 20 s.
    nlohmann::json expect(std::string_view name);
    // The exit code; -1 if it was killed or did not end within 20 s.
    int wait();

  private:
    bool read_line(std::string* line);

    pid_t process_ = -1;
    int input_ = -1;  // what the peer reads
    int output_ = -1; // what the peer writes
    std::string unread_;
};

} // namespace ipc::peer::testing
