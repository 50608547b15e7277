#include "calls/call_client.hpp"

#include "core/growing_buffer.hpp"

#include <atomic>
#include <cstring>

namespace ipc {
namespace {

class CallClientChannel final : public FrameChannel {
  public:
    CallClientChannel(std::unique_ptr<CallClient> client, size_t limit, std::string address)
        : FrameChannel(limit), client_(std::move(client)), address_(std::move(address)) {}
    ~CallClientChannel() override { CallClientChannel::close(); }

    Status send(FrameKind kind, uint32_t id, const void* data, size_t length, const Deadline& deadline) override {
        if (Status s = check()) return s;
        if (kind == FrameKind::message) return ended(client_->exchange(kind, id, data, length, deadline, nullptr));
        release();
        if (Status s = ended(client_->exchange(kind, id, data, length, deadline, &reply_))) return s;
        return check_reply(id);
    }

    bool has_calls_in_flight() const override { return false; }

    Status reserve(size_t length, void** data, const Deadline&) override {
        if (Status s = check()) return s;
        if (!room_.grow(length != 0 ? length : 1))
            return fail(IPC_OUT_OF_MEMORY, "out of memory for a message of %zu bytes to %s: send smaller ones", length,
                        address_.c_str());
        *data = room_.data();
        return IPC_OK;
    }

    Status commit(FrameKind kind, uint32_t id, size_t length, const Deadline& deadline) override {
        return send(kind, id, room_.data(), length, deadline);
    }

    Status next(FrameInfo* info, const Deadline&) override {
        if (Status s = receiving_failure()) return s;
        if (!has_reply_)
            return fail(
                IPC_WRONG_STATE,
                "the server at %s sends nothing of its own accord, since this transport has calls only: use ipc_call",
                address_.c_str());
        *info = {reply_.kind, reply_.id, reply_.length};
        return IPC_OK;
    }

    Status take(void* buffer, const Deadline&) override {
        if (reply_.length != 0) std::memcpy(buffer, reply_.bytes, reply_.length);
        return release();
    }

    Status view(const void** data, const Deadline&) override {
        *data = reply_.length != 0 ? reply_.bytes : "";
        return IPC_OK;
    }

    Status release() override {
        if (has_reply_) client_->drop_reply();
        has_reply_ = false;
        return IPC_OK;
    }

    void close() override {
        closed_ = true;
        hang_up();
    }
    Status ended_here() const override { return closed_ ? closed_here() : IPC_OK; }

  private:
    void hang_up() override {
        if (!client_closed_.exchange(true)) client_->close();
    }

    Status closed_here() const { return fail(IPC_CLOSED, "the channel to %s was closed here", address_.c_str()); }

    Status check() const { return sending_failure(); }

    // What an exchange's status means for the channel.
    Status ended(Status status) {
        if (status == IPC_OK) return IPC_OK;
        if (closed_) return closed_here();
        const bool channel_is_good =
            status == IPC_TIMED_OUT || status == IPC_OUT_OF_MEMORY || status == IPC_MESSAGE_TOO_LARGE;
        if (channel_is_good) return status;
        receiving_failure_.keep(status);
        return sending_failure_.keep(status);
    }

    // The reply of a server that may be anybody's.
    Status check_reply(uint32_t id) {
        has_reply_ = true;
        Status status = IPC_OK;
        if ((reply_.kind != FrameKind::reply && reply_.kind != FrameKind::fault) || reply_.id != id)
            status = fail(IPC_NOT_OUR_PROTOCOL, "what %s answered is no reply to what it was asked: reconnect",
                          address_.c_str());
        else if (reply_.length > limit())
            status = fail(
                IPC_PEER_TOO_LARGE,
                "the server at %s answered with %zu bytes, over this side's limit of %zu: raise it with option max=",
                address_.c_str(), reply_.length, limit());
        if (status == IPC_OK) return IPC_OK;
        status = give_up(status);
        release();
        return status;
    }

    const std::unique_ptr<CallClient> client_;
    const std::string address_;
    std::atomic<bool> closed_{false};        // by close()
    std::atomic<bool> client_closed_{false}; // also when the channel broke
    GrowingBuffer room_;
    CallReply reply_{};
    bool has_reply_ = false;
};

} // namespace

std::unique_ptr<FrameChannel> make_call_channel(std::unique_ptr<CallClient> client, size_t limit, std::string address) {
    return std::make_unique<CallClientChannel>(std::move(client), limit, std::move(address));
}

} // namespace ipc
