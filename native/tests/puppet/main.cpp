// The native puppet: carries out the commands of README.md, over ipc.h alone.
#include "verbs.hpp"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#if defined(__linux__)
#    include <pthread.h>
#endif

namespace puppet {
namespace {

class Answers {
  public:
    // One whole line, whatever other workers write.
    void write(std::string line) {
        for (char& c : line)
            if (c == '\n' || c == '\r') c = ' ';
        std::lock_guard guard(lock_);
        std::cout << line << '\n' << std::flush;
    }

  private:
    std::mutex lock_;
};

struct Puppet {
    Handles handles;
    Verbs verbs;
    Answers answers;
};

std::string carry_out(Puppet& puppet, const std::string& line) {
    try {
        Command command(line);
        auto name = command.word();
        auto verb = puppet.verbs.find(name);
        if (verb == puppet.verbs.end()) throw Wrong("there is no command '" + name + "'");
        auto result = verb->second(puppet.handles, command);
        return result.empty() ? "ok" : "ok " + result;
    } catch (const Refused& refused) {
        return "error " + std::to_string(refused.status) + " " + refused.error_message;
    } catch (const std::exception& wrong) {
        return std::string("wrong ") + wrong.what();
    }
}

// A thread that carries out its commands one after another.
class Worker {
  public:
    Worker(Puppet& puppet, std::string name) : puppet_(puppet), name_(std::move(name)), thread_([this] { run(); }) {}

    void give(std::string line) {
        {
            std::lock_guard guard(lock_);
            lines_.push_back(std::move(line));
        }
        changed_.notify_one();
    }

  private:
    void run() {
#if defined(__linux__)
        pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str()); // the suite looks whether it sleeps
#endif
        while (true) {
            std::unique_lock guard(lock_);
            changed_.wait(guard, [this] { return !lines_.empty(); });
            auto line = std::move(lines_.front());
            lines_.pop_front();
            guard.unlock();
            puppet_.answers.write(name_ + " " + carry_out(puppet_, line));
        }
    }

    Puppet& puppet_;
    std::string name_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::string> lines_;
    std::thread thread_; // last: it uses all of the above
};

} // namespace
} // namespace puppet

int main() {
    using namespace puppet;
    Puppet puppet;
    add_connection_verbs(&puppet.verbs);
    add_message_verbs(&puppet.verbs);
    add_call_verbs(&puppet.verbs);
    add_in_flight_verbs(&puppet.verbs);
    add_queue_verbs(&puppet.verbs);
    add_broadcast_verbs(&puppet.verbs);

    std::map<std::string, std::unique_ptr<Worker>> workers;
    for (std::string line; std::getline(std::cin, line);) {
        auto space = line.find(' ');
        if (space == std::string::npos) continue;
        auto& worker = workers[line.substr(0, space)];
        if (!worker) worker = std::make_unique<Worker>(puppet, line.substr(0, space));
        worker->give(line.substr(space + 1));
    }
    // Workers may be blocked inside calls, so nothing is joined or destroyed; but the names this puppet has in the file
    // system must not outlive it.
    puppet.handles.close_all();
    std::_Exit(0);
}
