#include "support.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace ipc::test {
namespace {

class ServerOver : public testing::TestWithParam<const char*> {
  protected:
    std::string address() const { return fresh_address(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Transports, ServerOver, testing::ValuesIn(channel_transports), transport_name);

void echo(Bytes request, ReplyWriter& reply) {
    reply.write(request.data, request.size);
}

// A handler that a test holds up: it says that it has been entered and waits to be let go.
class Gate {
  public:
    void pass() {
        std::unique_lock lock(mutex_);
        entered_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
    }
    bool wait_until_entered() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [&] { return entered_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool entered_ = false;
    bool open_ = false;
};

// Stops a server, whose handler passes the gate, before the handler is let go.
void cut_off_within_call(Server& server, Channel& client, Gate& gate) {
    std::thread calling([&] { EXPECT_EQ(status_of([&] { client.call("slow", patience_ms); }), IPC_PEER_CLOSED); });
    EXPECT_TRUE(gate.wait_until_entered());
    EXPECT_FALSE(server.stop(10));
    calling.join();
    gate.open();
}

// Keeps what a server tells.
class Errors {
  public:
    ServerOptions told_here(ServerOptions options = {}) {
        options.on_error = [this](const ServerError& error) {
            const std::lock_guard lock(mutex_);
            all_.push_back(error);
        };
        return options;
    }
    std::vector<ServerError> all() {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    bool has(ServerError::Source source) {
        const auto seen = all();
        return std::any_of(seen.begin(), seen.end(), [&](const ServerError& error) { return error.source == source; });
    }

  private:
    std::mutex mutex_;
    std::vector<ServerError> all_;
};

// A handler owns memory, and its clients' threads may outlive the one that accepted them.
TEST_P(ServerOver, AHandlerLivesAsLongAsAnyClientIsServed) {
    const std::string greeting = "a greeting that is too long to be kept inside the string itself: ";
    auto server = std::make_unique<Server>(address(), [greeting](Bytes request, ReplyWriter& reply) {
        reply.write(greeting + std::string(request.text()));
    });
    std::atomic<bool> called{false};
    std::thread calling([&, at = server->address()] {
        Channel client = Channel::connect(at, patience_ms);
        // Until the server ends under it.
        while (status_of([&] { EXPECT_EQ(client.call("one", patience_ms), greeting + "one"); }) == IPC_OK)
            called = true;
    });
    EXPECT_TRUE(becomes_true([&] { return called.load(); }));
    server.reset();
    calling.join();
}

TEST_P(ServerOver, ClientsAreServedSideBySide) {
    Gate gate;
    Server server(address(), [&](Bytes request, ReplyWriter& reply) {
        if (request.text() == "slow") gate.pass();
        echo(request, reply);
    });
    Channel slow = Channel::connect(server.address(), patience_ms);
    Channel fast = Channel::connect(server.address(), patience_ms);
    std::thread waiting([&] { EXPECT_EQ(slow.call("slow", patience_ms), "slow"); });
    EXPECT_TRUE(gate.wait_until_entered());
    EXPECT_EQ(fast.call("fast", patience_ms), "fast");
    EXPECT_EQ(server.clients(), 2u);
    gate.open();
    waiting.join();
}

TEST_P(ServerOver, WhatAHandlerThrowsIsToldAtBothEnds) {
    Errors errors;
    Server server(
        address(),
        [](Bytes request, ReplyWriter& reply) {
            if (request.text() == "number") throw 1;
            if (request.text() == "half") reply.write("half an answer");
            throw std::invalid_argument("no such price");
        },
        errors.told_here());
    Channel client = Channel::connect(server.address(), patience_ms);
    for (const char* request : {"text", "half", "number", "text"})
        EXPECT_EQ(status_of([&] { client.call(request, patience_ms); }), IPC_HANDLER_FAILED) << request;
    EXPECT_NE(std::string(ipc_last_error()).find("no such price"), std::string::npos) << ipc_last_error();
    const auto told = errors.all();
    ASSERT_EQ(told.size(), 4u);
    for (const ServerError& error : told) EXPECT_EQ(error.source, ServerError::Source::handler);
    EXPECT_EQ(told[0].message, "no such price");
    EXPECT_THROW(std::rethrow_exception(told[0].exception), std::invalid_argument);
    EXPECT_THROW(std::rethrow_exception(told[2].exception), int);
}

TEST_P(ServerOver, AnErrorCallbackThatThrowsHarmsNobody) {
    ServerOptions options;
    options.on_error = [](const ServerError&) { throw std::runtime_error("from the callback"); };
    Server server(
        address(),
        [](Bytes request, ReplyWriter& reply) {
            if (request.size == 0) throw std::runtime_error("from the handler");
            echo(request, reply);
        },
        options);
    Channel client = Channel::connect(server.address(), patience_ms);
    EXPECT_EQ(status_of([&] { client.call("", patience_ms); }), IPC_HANDLER_FAILED);
    EXPECT_EQ(client.call("on", patience_ms), "on");
}

TEST_P(ServerOver, ClientsThatHaveLeftAreForgottenAtOnce) {
    Server server(address(), echo);
    for (int i = 0; i < 5; ++i) Channel::connect(server.address(), patience_ms).call("here", patience_ms);
    EXPECT_TRUE(becomes_true([&] { return server.clients() == 0; })) << server.clients();
}

TEST_P(ServerOver, OneClientTooManyTakesThePlaceOfTheOldestThatNeverCalled) {
    Errors errors;
    ServerOptions options;
    options.max_clients = 2;
    Server server(address(), echo, errors.told_here(options));
    Channel first = Channel::connect(server.address(), patience_ms);
    EXPECT_EQ(first.call("first", patience_ms), "first");
    Channel silent = Channel::connect(server.address(), patience_ms);
    EXPECT_TRUE(becomes_true([&] { return server.clients() == 2; }));
    Channel third = Channel::connect(server.address(), patience_ms);
    EXPECT_EQ(third.call("third", patience_ms), "third");
    EXPECT_EQ(first.call("again", patience_ms), "again");
    EXPECT_EQ(status_of([&] { silent.call("late", patience_ms); }), IPC_PEER_CLOSED);
    EXPECT_TRUE(becomes_true([&] { return errors.has(ServerError::Source::accept); }));
    // Now that all have called, the next one waits until one leaves.
    std::atomic<bool> answered{false};
    std::thread waiting([&] {
        Channel fourth = Channel::connect(server.address(), patience_ms);
        EXPECT_EQ(fourth.call("fourth", patience_ms), "fourth");
        answered = true;
    });
    EXPECT_EQ(third.call("still", patience_ms), "still");
    EXPECT_FALSE(answered);
    first = Channel();
    waiting.join();
}

// In a flood of silent clients a good one was dropped that had connected a few milliseconds before and was not running. On a machine
// that keeps this program from running for longer than that, some rounds may still end so.
TEST_P(ServerOver, AClientThatHasJustConnectedIsNotDroppedForAnother) {
    ServerOptions options;
    options.max_clients = 1;
    Server server(address(), echo, options);
    const auto is_served_late = [&] {
        Channel late = Channel::connect(server.address(), patience_ms);
        if (!becomes_true([&] { return server.clients() == 1; })) return false;
        std::thread another([&] {
            Channel next = Channel::connect(server.address(), patience_ms);
            EXPECT_EQ(next.call("next", patience_ms), "next");
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const bool served = status_of([&] { late.call("late", patience_ms); }) == IPC_OK;
        late = Channel();
        another.join();
        return served && becomes_true([&] { return server.clients() == 0; });
    };
    bool served = false;
    for (int round = 0; round < 20 && !served; ++round) served = is_served_late();
    EXPECT_TRUE(served);
}

TEST_P(ServerOver, WhatCanServeNobodyIsRefusedAndTakesNoName) {
    const std::string name = address();
    ServerOptions options;
    options.max_clients = 0;
    EXPECT_EQ(status_of([&] { Server(name, echo, options); }), IPC_INVALID_ARGUMENT);
    Server server(name, echo);
    EXPECT_EQ(status_of([&] { server.stop(-2); }), IPC_INVALID_ARGUMENT);
    EXPECT_EQ(Channel::connect(server.address(), patience_ms).call("still", patience_ms), "still");
    EXPECT_TRUE(server.stop());
}

TEST_P(ServerOver, StopAnswersWhatIsInProgress) {
    Gate gate;
    Server server(address(), [&](Bytes request, ReplyWriter& reply) {
        gate.pass();
        echo(request, reply);
    });
    Channel busy = Channel::connect(server.address(), patience_ms);
    Channel idle = Channel::connect(server.address(), patience_ms);
    EXPECT_TRUE(becomes_true([&] { return server.clients() == 2; }));
    std::thread calling([&] { EXPECT_EQ(busy.call("answered", patience_ms), "answered"); });
    EXPECT_TRUE(gate.wait_until_entered());
    std::thread stopping([&] { EXPECT_TRUE(server.stop(patience_ms)); });
    // Nothing keeps the idle one.
    EXPECT_EQ(status_of([&] { idle.receive(nullptr, 0, patience_ms); }), IPC_PEER_CLOSED);
    gate.open();
    stopping.join();
    calling.join();
    EXPECT_EQ(server.clients(), 0u);
    EXPECT_NE(status_of([&] { Channel::connect(server.address(), 100); }), IPC_OK);
}

TEST_P(ServerOver, StopCutsOffWhatOutlastsItsTimeOut) {
    Gate gate;
    Server server(address(), [&](Bytes, ReplyWriter&) { gate.pass(); });
    Channel client = Channel::connect(server.address(), patience_ms);
    cut_off_within_call(server, client, gate);
}

// Its handler, which learns of that when it writes its reply, has done nothing wrong.
TEST_P(ServerOver, AClientThatWasCutOffIsNoFailureOfItsHandler) {
    Gate gate;
    Errors errors;
    Server server(
        address(),
        [&](Bytes request, ReplyWriter& reply) {
            gate.pass();
            echo(request, reply);
        },
        errors.told_here());
    Channel client = Channel::connect(server.address(), patience_ms);
    cut_off_within_call(server, client, gate);
    EXPECT_TRUE(becomes_true([&] { return server.clients() == 0; }));
    EXPECT_TRUE(errors.all().empty());
}

// What a handler fails with at another server is its own failure, though it looks the same.
TEST_P(ServerOver, AFailureFromElsewhereIsTheHandlersOwn) {
    Errors errors;
    Server server(
        address(), [](Bytes, ReplyWriter&) { throw Error(IPC_PEER_CLOSED, "the server behind is gone"); },
        errors.told_here());
    Channel client = Channel::connect(server.address(), patience_ms);
    EXPECT_EQ(status_of([&] { client.call("text", patience_ms); }), IPC_HANDLER_FAILED);
    EXPECT_TRUE(errors.has(ServerError::Source::handler));
}

TEST_P(ServerOver, AHandlerMayStopItsServer) {
    Server* self = nullptr;
    Server server(address(), [&](Bytes request, ReplyWriter& reply) {
        EXPECT_TRUE(self->stop(patience_ms));
        echo(request, reply);
    });
    self = &server;
    Channel client = Channel::connect(server.address(), patience_ms);
    EXPECT_EQ(client.call("last", patience_ms), "last");
    EXPECT_EQ(status_of([&] { client.call("after", patience_ms); }), IPC_PEER_CLOSED);
}

TEST_P(ServerOver, HandlersThatStopTheServerAtOnceDoNotWaitForEachOther) {
    Server* self = nullptr;
    std::atomic<int> entered{0};
    const auto started = std::chrono::steady_clock::now();
    Server server(address(), [&](Bytes request, ReplyWriter& reply) {
        ++entered;
        EXPECT_TRUE(becomes_true([&] { return entered == 2; }));
        EXPECT_TRUE(self->stop(patience_ms));
        echo(request, reply);
    });
    self = &server;
    Channel first = Channel::connect(server.address(), patience_ms);
    Channel second = Channel::connect(server.address(), patience_ms);
    std::thread calling([&] { EXPECT_EQ(first.call("first", patience_ms), "first"); });
    EXPECT_EQ(second.call("second", patience_ms), "second");
    calling.join();
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::milliseconds(patience_ms / 2));
}

TEST(Server, AHandlerNeedNotBeOneThatCanBeCopied) {
    Server server(fresh_address("shm"), [owned = std::make_unique<int>(7)](Bytes, ReplyWriter& reply) {
        reply.write(std::to_string(*owned));
    });
    EXPECT_EQ(Channel::connect(server.address(), patience_ms).call("", patience_ms), "7");
}

} // namespace
} // namespace ipc::test
