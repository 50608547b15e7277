// A server that is stopped in the middle of a reply: an event loop that awaits the reply goes on.
#include "../server/support.hpp"
#include "running.hpp"

#include <condition_variable>
#include <mutex>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ipc::test {
namespace {

// Far more than the system keeps for one who does not read.
constexpr size_t reply_bytes = 4'000'000;

std::vector<uint8_t> long_reply() {
    std::vector<uint8_t> bytes(reply_bytes);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i % 251);
    return bytes;
}

// Serves one client in a process of its own.
class StoppableServer {
  public:
    explicit StoppableServer(const std::string& address) : process_(fork()) {
        if (process_ != 0) return;
        try {
            Listener listener(address);
            Channel client = listener.accept(patience_ms);
            client.serve([](Bytes, ReplyWriter& reply) { reply.write(long_reply().data(), reply_bytes); });
        } catch (const std::exception&) { // the client finds nobody, or half a reply
        }
        _exit(0);
    }
    // The client has gone, so it ends by itself and takes its name away.
    ~StoppableServer() {
        go_on();
        if (becomes_true([this] { return waitpid(process_, nullptr, WNOHANG) == process_; })) return;
        ADD_FAILURE() << "the server did not end";
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    StoppableServer(const StoppableServer&) = delete;
    StoppableServer& operator=(const StoppableServer&) = delete;

    bool stop() {
        int state = 0;
        return kill(process_, SIGSTOP) == 0 && waitpid(process_, &state, WUNTRACED) == process_ && WIFSTOPPED(state);
    }
    void go_on() { kill(process_, SIGCONT); }

  private:
    pid_t process_;
};

// Lets the server go on if it is not told in time that it is not needed: the test then fails and does not hang.
class GoesOnLater {
  public:
    explicit GoesOnLater(StoppableServer& server)
        : thread_([this, &server] {
              std::unique_lock lock(mutex_);
              if (!changed_.wait_for(lock, std::chrono::seconds(5), [this] { return over_; })) server.go_on();
          }) {}
    ~GoesOnLater() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    GoesOnLater(const GoesOnLater&) = delete;
    GoesOnLater& operator=(const GoesOnLater&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_; // last, because it uses everything above
};

Running call_into(AwaitableCalls& calls, std::vector<uint8_t>* reply) {
    reply->resize(co_await calls.call("x", 1, reply->data(), reply->size()));
}

TEST(AwaitableCallToAStoppedServer, LetsTheLoopGoOn) {
    const std::string address = fresh_address("unix");
    StoppableServer server(address);
    Channel client;
    ASSERT_TRUE(becomes_true([&] {
        Result<Channel> connected = Channel::try_connect(address, patience_ms);
        if (connected) client = *std::move(connected);
        return bool(client);
    }));
    AwaitableCalls calls(client);
    std::vector<uint8_t> reply(reply_bytes);
    const Running call = call_into(calls, &reply);
    pollfd waiting{static_cast<int>(client.descriptor()), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, patience_ms), 1);
    ASSERT_TRUE(server.stop());
    {
        const GoesOnLater in_any_case(server);
        EXPECT_EQ(calls.poll(), 0u) << "it waited for the rest of the reply";
        EXPECT_EQ(calls.wait(1), 0u) << "it waited for longer than it was told";
    }
    EXPECT_FALSE(call.done());
    server.go_on();
    while (calls.under_way() > 0) ASSERT_GT(calls.wait(patience_ms), 0u);
    call.rethrow();
    EXPECT_EQ(reply, long_reply());
}

} // namespace
} // namespace ipc::test
