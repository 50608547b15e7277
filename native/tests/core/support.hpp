#pragma once

#include "channels.hpp"
#include "posix/names.hpp"

#include <fcntl.h>
#include <functional>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ipc::test {

inline std::string private_folder() {
    return posix::private_folder();
}

inline bool exists(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0;
}

// A process of our own that runs a function after fork and then waits to be ended; it ends with this object.
class Child {
  public:
    // Returns once the function has returned in the child; ready() tells whether it returned true.
    explicit Child(const std::function<bool()>& work) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
        process_ = fork();
        if (process_ == 0) {
            const char result = work() ? 1 : 0;
            if (write(ends[1], &result, 1) != 1) _exit(2);
            while (true) pause();
        }
        ::close(ends[1]);
        char result = 0;
        ready_ = read(ends[0], &result, 1) == 1 && result == 1;
        ::close(ends[0]);
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    bool ready() const { return ready_; }
    void end() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }

  private:
    pid_t process_ = -1;
    bool ready_ = false;
};

} // namespace ipc::test
