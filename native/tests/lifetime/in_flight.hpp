#pragma once

#include "ipc/ipc.hpp"
#include "support.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lifetime {

class InFlight : public OverTransports {
  protected:
    void SetUp() override {
        OverTransports::SetUp();
        ends_ = std::make_unique<Pair>(listener_);
        ASSERT_TRUE(ends_->good());
        client_ = ends_->client;
        server_ = ends_->server;
    }
    void TearDown() override {
        ends_.reset();
        OverTransports::TearDown();
    }

    static std::string request_of(uint64_t number) { return "request " + std::to_string(number); }
    static std::string reply_of(const std::string& request) { return request + ", answered"; }

    // One completion, which must be a call's.
    ipc::Completion complete(std::string* reply) {
        ipc::Completion done;
        reply->resize(1 << 16);
        const ipc_status status =
            ipc_complete(client_, &done.tag, &done.outcome, reply->data(), reply->size(), &done.size, patience_ms);
        EXPECT_EQ(status, IPC_OK) << ipc_last_error();
        reply->resize(done.size);
        return done;
    }

    // Takes in `count` requests and answers them in an order of its own.
    void answer_out_of_order(size_t count, unsigned seed) {
        std::vector<std::pair<uint64_t, std::string>> waiting;
        for (size_t i = 0; i < count; ++i) waiting.push_back(take_request());
        std::shuffle(waiting.begin(), waiting.end(), std::mt19937(seed));
        for (const auto& [token, request] : waiting) {
            const std::string reply = reply_of(request);
            ASSERT_EQ(ipc_reply_deferred(server_, token, reply.data(), reply.size(), patience_ms), IPC_OK)
                << ipc_last_error();
        }
    }
    std::pair<uint64_t, std::string> take_request() {
        const void* request = nullptr;
        size_t length = 0;
        uint64_t token = 0;
        EXPECT_EQ(ipc_receive_request(server_, &request, &length, patience_ms), IPC_OK) << ipc_last_error();
        std::string copy(static_cast<const char*>(request), length);
        EXPECT_EQ(ipc_defer_request(server_, &token), IPC_OK) << ipc_last_error();
        return {token, copy};
    }

    // So many calls that the server has received and not answered; their tokens in order.
    std::vector<uint64_t> submit_and_put_off(size_t count) {
        std::vector<uint64_t> tokens;
        std::thread serving([&] {
            for (size_t i = 0; i < count; ++i) tokens.push_back(take_request().first);
        });
        for (uint64_t i = 0; i < count; ++i) EXPECT_EQ(ipc_submit(client_, "x", 1, i, patience_ms), IPC_OK);
        serving.join();
        return tokens;
    }

    std::unique_ptr<Pair> ends_;
    ipc_channel* client_ = nullptr;
    ipc_channel* server_ = nullptr;
};

} // namespace lifetime
