#pragma once

#include "calls/call_client.hpp"
#include "calls/call_listener.hpp"
#include "core/detached_thread.hpp"
#include "core/session_over.hpp"

#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace ipc {

constexpr size_t test_limit = 1 << 20;

// A transport of calls that is a function call: exchange() delivers to the session on a thread of its own and gives up at the
// deadline, leaving that thread to end with the session, as a real transport's late calls do.
class DirectClient final : public CallClient {
  public:
    explicit DirectClient(std::shared_ptr<CallSession> session) : session_(std::move(session)) {}

    Status exchange(FrameKind kind, uint32_t id, const void* bytes, size_t length, const Deadline& deadline,
                    CallReply* reply) override {
        auto call = std::make_shared<Call>();
        const auto* begin = static_cast<const char*>(bytes);
        if (length != 0) call->request.assign(begin, begin + length);
        start_detached([session = session_, call, kind, id] {
            const Status status = session->answer(kind, id, call->request.data(), call->request.size(), *call);
            call->status.set_value(status);
        });
        auto answered = call->status.get_future();
        if (!deadline.forever() &&
            answered.wait_for(std::chrono::nanoseconds(deadline.left_ns())) != std::future_status::ready)
            return fail(IPC_TIMED_OUT, "the server did not answer in time");
        if (Status s = answered.get()) return fail(IPC_PEER_CLOSED, "the server has ended (%d)", s);
        if (reply != nullptr) {
            kept_ = call;
            *reply = {call->kind, call->id, call->reply.data(), call->reply.size()};
        }
        return IPC_OK;
    }
    void drop_reply() override { kept_.reset(); }
    void close() override { session_->client_gone(); }

  private:
    struct Call final : ReplySink {
        void put(FrameKind reply_kind, uint32_t reply_id, const void* bytes, size_t length) override {
            kind = reply_kind;
            id = reply_id;
            const auto* begin = static_cast<const char*>(bytes);
            if (length != 0) reply.assign(begin, begin + length);
        }
        std::vector<char> request, reply;
        FrameKind kind{};
        uint32_t id = 0;
        std::promise<Status> status;
    };

    const std::shared_ptr<CallSession> session_;
    std::shared_ptr<Call> kept_;
};

class DirectListener final : public CallListener {
  public:
    DirectListener() : CallListener("direct://test") {}
    ~DirectListener() override { close(); }
    int stopped = 0;

  private:
    void stop_listening() override { ++stopped; }
};

// Both ends of one channel.
struct CallPair {
    explicit CallPair(size_t server_limit = test_limit, size_t client_limit = test_limit)
        : session(std::make_shared<CallSession>(server_limit, "direct://test")) {
        server = std::make_unique<SessionOver<FrameChannel>>(make_call_server_channel(session));
        client = std::make_unique<SessionOver<FrameChannel>>(
            make_call_channel(std::make_unique<DirectClient>(session), client_limit, "direct://test"));
    }

    std::shared_ptr<CallSession> session;
    std::unique_ptr<SessionOver<FrameChannel>> server, client;
};

inline std::string text_of(const void* bytes, size_t length) {
    return {static_cast<const char*>(bytes), length};
}

} // namespace ipc
