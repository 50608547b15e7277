// Clients of `fifo` between their record and their answer, when silent ones hold all that the listener may have.
#include "bad_clients_posix.hpp"
#include "core/address.hpp"
#include "posix/names.hpp"
#include "support.hpp"
#include "transports/fifo/fifo_names_posix.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <csignal>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ipc::test {
namespace {

// A listener in a process of its own that may have so many files open. It accepts when told to, until a client comes, accept fails, or it is
// told to stop.
class AcceptingProcess {
  public:
    AcceptingProcess(const std::string& address, rlim_t most_files) {
        int ready[2];
        int go[2];
        if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) std::abort();
        process_ = fork();
        if (process_ == 0) {
            ::close(go[1]);
            _exit(accept(address, most_files, ready[1], go[0]));
        }
        ::close(ready[1]);
        ::close(go[0]);
        ready_.reset(ready[0]);
        go_.reset(go[1]);
    }
    ~AcceptingProcess() {
        stop();
        if (process_ <= 0) return;
        go_on();
        waitpid(process_, nullptr, 0);
    }

    bool listens() {
        char told;
        return read(ready_.get(), &told, 1) == 1;
    }
    bool accepts() { return write(go_.get(), "", 1) == 1; }
    void stop() { go_.reset(); }
    void stand_still() const {
        kill(process_, SIGSTOP);
        waitpid(process_, nullptr, WUNTRACED);
    }
    void go_on() const { kill(process_, SIGCONT); }
    // What accept came to, which is told to stop if that takes too long.
    ipc_status status() {
        int ended = 0;
        const pid_t process = std::exchange(process_, -1);
        if (!becomes_true([&] { return waitpid(process, &ended, WNOHANG) != 0; })) {
            stop();
            waitpid(process, &ended, 0);
        }
        return WIFEXITED(ended) ? static_cast<ipc_status>(WEXITSTATUS(ended)) : IPC_WRONG_STATE;
    }

  private:
    static ipc_status accept(const std::string& address, rlim_t most_files, int ready, int go) {
        const rlimit limit{most_files, most_files};
        setrlimit(RLIMIT_NOFILE, &limit);
        ipc_listener* listener = nullptr;
        char told;
        if (ipc_listen(address.c_str(), &listener) != IPC_OK || write(ready, "", 1) != 1) return IPC_WRONG_STATE;
        ipc_status status = read(go, &told, 1) == 1 ? IPC_TIMED_OUT : IPC_WRONG_STATE;
        pollfd told_to_stop{go, POLLIN, 0};
        while (status == IPC_TIMED_OUT && poll(&told_to_stop, 1, 0) == 0) {
            ipc_channel* channel = nullptr;
            status = ipc_accept(listener, 20, &channel);
        }
        ipc_listener_free(listener);
        return status;
    }

    pid_t process_;
    posix::Descriptor ready_;
    posix::Descriptor go_;
};

// Goes through the handshake when it is told to.
class SteppingClient {
  public:
    // Leaves its record.
    explicit SteppingClient(const std::string& text) {
        Address address;
        posix::LocalName name;
        const std::string token(fifo_token_size, 'a');
        if (Address::parse(text, &address) != IPC_OK || posix::private_name(address, "fifo-", &name) != IPC_OK) return;
        pair_ = std::make_unique<FifoPair>(name.path, token);
        if (pair_->make(Deadline(patience_ms), &down_) != IPC_OK) return;
        const posix::Descriptor handshake_fifo = open_fifo(name.path, O_WRONLY);
        const FifoRecord record = make_fifo_record(token);
        came_ = handshake_fifo && write_fifo(handshake_fifo.get(), record.data(), record.size());
    }
    bool came() const { return came_; }
    bool opens_when_greeted() {
        if (!becomes_true([&] { return read_fifo_greeting(down_.get()) == Greeting::here; })) return false;
        up_ = open_fifo(pair_->up(), O_WRONLY);
        return static_cast<bool>(up_);
    }
    bool answers() { return write_fifo(up_.get(), &fifo_greeting, 1); }
    bool has_lost_its_names() const { return access(pair_->up().c_str(), F_OK) != 0; }
    void leave() {
        up_.reset();
        down_.reset();
    }

  private:
    std::unique_ptr<FifoPair> pair_;
    posix::Descriptor down_;
    posix::Descriptor up_;
    bool came_ = false;
};

class FifoHandshakes : public testing::Test {
  protected:
    // For the sanitizer of undefined behaviour: it looks at the first object of each class through a pipe, for which the processes below may
    // have no descriptor, and then it takes the object for a damaged one.
    void SetUp() override {
        const Server server(fresh_address("fifo"), [](Bytes, ReplyWriter&) {});
        Channel::connect(server.address(), patience_ms).call("", patience_ms);
    }

    void come_silently(std::vector<BadClient>* clients) const {
        for (BadClient& one : *clients) EXPECT_TRUE(one.come(address_, Badness::says_nothing));
    }

    const std::string address_ = fresh_address("fifo");
};

// Descriptors that silent clients hold come back when the next of them has had its time. That is no failure of accept: a server that
// paused after it, longer each time, once kept good clients waiting for minutes.
TEST_F(FifoHandshakes, DescriptorsHeldBySilentClientsDoNotFailAccept) {
    AcceptingProcess server(address_, 64);
    ASSERT_TRUE(server.listens());
    // Their records fit into the FIFO while nobody accepts.
    std::vector<BadClient> silent(300);
    come_silently(&silent);
    ASSERT_TRUE(server.accepts());
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    server.stop();
    const ipc_status status = server.status();
    EXPECT_EQ(status, IPC_TIMED_OUT) << ipc_status_text(status);
}

TEST_F(FifoHandshakes, AClientThatLeavesAfterItsAnswerIsNotAccepted) {
    AcceptingProcess server(address_, 64);
    ASSERT_TRUE(server.listens());
    SteppingClient client(address_);
    ASSERT_TRUE(client.came());
    ASSERT_TRUE(server.accepts());
    ASSERT_TRUE(client.opens_when_greeted());
    server.stand_still();
    ASSERT_TRUE(client.answers());
    client.leave();
    server.go_on();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    server.stop();
    const ipc_status status = server.status();
    EXPECT_EQ(status, IPC_TIMED_OUT) << ipc_status_text(status);
}

// A client that has opened its FIFO answers at once, as far as the system lets it, and takes itself for connected: were it let go for
// the silent ones, or its channel refused for want of a descriptor, its first call would fail.
class FifoAnswers : public FifoHandshakes, public testing::WithParamInterface<rlim_t> {};
// By the limit of descriptors, and by that of handshakes.
INSTANTIATE_TEST_SUITE_P(WithFiles, FifoAnswers, testing::Values(63, 64, 65, 1024), testing::PrintToStringParamName());

TEST_P(FifoAnswers, ThatAreOnTheirWayAreWaitedFor) {
    AcceptingProcess server(address_, GetParam());
    ASSERT_TRUE(server.listens());

    SteppingClient client(address_);
    ASSERT_TRUE(client.came());
    std::vector<BadClient> silent(300);

    ASSERT_TRUE(server.accepts());
    ASSERT_TRUE(client.opens_when_greeted());
    come_silently(&silent);
    ASSERT_TRUE(becomes_true([&] { return client.has_lost_its_names(); }))
        << "the listener had no need to let this client go";
    EXPECT_TRUE(client.answers()) << "the listener let this client go";
    const ipc_status status = server.status();
    EXPECT_EQ(status, IPC_OK) << ipc_status_text(status);
}

} // namespace
} // namespace ipc::test
