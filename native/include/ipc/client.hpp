// client.hpp - a part of ipc.hpp, which includes it: a client that connects when it has to.
#ifndef IPC_CLIENT_HPP
#define IPC_CLIENT_HPP

#include "ipc/channel.hpp"

#if !IPC_HAS_EXCEPTIONS
#    error "ipc/client.hpp needs exceptions; without them use the try_ functions of ipc::Channel"
#endif

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <type_traits>

namespace ipc {

struct ClientOptions {
    // If true, a call keeps trying while there is no server, and reconnects after the connection has ended. If false, the first
    // call's connection is the only one.
    bool reconnect = true;
    // The pause after the first failed attempt. It doubles each time, varied by up to a fifth so that clients do not all come at once ...
    std::chrono::milliseconds first_pause{20};
    // ... up to this one.
    std::chrono::milliseconds longest_pause{2000};
};

// Calls a server and connects when necessary: at the first call, and again after a connection has ended. Any number of threads may use
// it at once; their calls are made one after another. A time-out covers everything: the wait for other calls, connecting, and the call.
//
// A call whose connection ends while it is under way fails (IPC_PEER_CLOSED, IPC_TRUNCATED) and is never repeated, because the server may
// already have carried it out; the next call reconnects. If ClientOptions::reconnect is set, so does the call after one that timed out,
// because part of the request may have been sent.
class Client {
  public:
    // Does not connect yet.
    explicit Client(std::string address, ClientOptions options = {}) : address_(std::move(address)), options_(options) {
        if (options_.first_pause.count() <= 0 || options_.longest_pause < options_.first_pause)
            throw Error(IPC_INVALID_ARGUMENT,
                        "the pauses of a client must be above 0 ms, and the longest no shorter than the first");
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    // No other thread may be inside a member function any more: call close() and wait for them first.
    ~Client() = default;

    const std::string& address() const noexcept { return address_; }
    // Whether there was a connection at the end of the last call.
    bool connected() const {
        const std::lock_guard lock(mutex_);
        return channel_ != nullptr;
    }

    // Connects now rather than at the first call. Throws Error as Channel::connect does, but with ClientOptions::reconnect waits for the
    // server instead of throwing IPC_NO_SERVER.
    void connect(int32_t timeout_ms = infinite) {
        detail::check_timeout(timeout_ms);
        Until until(timeout_ms);
        const Turn turn(*this, until);
        usable_channel(until);
    }

    // Throws Error(IPC_BUFFER_TOO_SMALL) if the reply does not fit; the reply is then lost. If its length is not known, use the overload
    // below.
    size_t call(const void* request, size_t size, void* reply, size_t capacity, int32_t timeout_ms = infinite) {
        return in_turn(timeout_ms, [&](Channel& channel, int32_t left_ms) {
            return channel.call(request, size, reply, capacity, left_ms);
        });
    }
    // The reply as a string, whatever its length.
    std::string call(std::string_view request, int32_t timeout_ms = infinite) {
        return in_turn(timeout_ms, [&](Channel& channel, int32_t left_ms) { return channel.call(request, left_ms); });
    }
#if defined(__cpp_lib_span)
    size_t call(std::span<const std::byte> request, std::span<std::byte> reply, int32_t timeout_ms = infinite) {
        return call(request.data(), request.size(), reply.data(), reply.size(), timeout_ms);
    }
#endif

    // Ends the connection; every call under way or waiting fails with IPC_CLOSED, within a second if it is connecting.
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        if (channel_) channel_->close();
        changed_.notify_all();
    }

  private:
    using Clock = std::chrono::steady_clock;

    using Until = detail::Until;

    // The right to call, held by one thread at a time.
    class Turn {
      public:
        Turn(Client& client, Until& until) : client_(client) {
            std::unique_lock lock(client_.mutex_);
            const auto is_mine = [&] { return client_.closed_ || !client_.is_called_; };
            if (until.is_forever() || is_mine())
                client_.changed_.wait(lock, is_mine);
            else if (!client_.changed_.wait_until(lock, until.time(), is_mine))
                throw Error(IPC_TIMED_OUT,
                            "other threads' calls to " + client_.address_ + " did not end within the time-out");
            client_.check_open();
            client_.is_called_ = true;
        }
        ~Turn() {
            const std::lock_guard lock(client_.mutex_);
            client_.is_called_ = false;
            // All of them: threads that wait for a turn and threads that sleep between attempts share this condition.
            client_.changed_.notify_all();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        Client& client_;
    };

    // Call with the lock held.
    void check_open() const {
        if (closed_) throw Error(IPC_CLOSED, "the client of " + address_ + " was closed here");
    }

    template <class Call>
    std::invoke_result_t<Call, Channel&, int32_t> in_turn(int32_t timeout_ms, Call call) {
        detail::check_timeout(timeout_ms);
        Until until(timeout_ms);
        const Turn turn(*this, until);
        const std::shared_ptr<Channel> channel = usable_channel(until);
        try {
            return call(*channel, until.left_ms());
        } catch (const Error& e) {
            if (ends_connection(e.status())) drop();
            throw;
        }
    }

    bool ends_connection(ipc_status status) const {
        switch (status) {
        case IPC_HANDLER_FAILED:
        case IPC_BUFFER_TOO_SMALL:
        case IPC_MESSAGE_TOO_LARGE:
        case IPC_INVALID_ARGUMENT:
        case IPC_WRONG_STATE:
            return false;
        case IPC_TIMED_OUT:
            return options_.reconnect;
        default:
            return true;
        }
    }

    void drop() {
        const std::lock_guard lock(mutex_);
        channel_ = nullptr;
    }

    // A server that left while no call was under way must not fail the next call.
    static bool has_ended(Channel& channel) {
        std::byte nothing{};
        const ipc_status status = channel.try_receive(&nothing, 0).status();
        return status == IPC_PEER_CLOSED || status == IPC_TRUNCATED || status == IPC_NOT_OUR_PROTOCOL;
    }

    // Called by the thread whose turn it is.
    std::shared_ptr<Channel> usable_channel(Until& until) {
        if (channel_ && !(options_.reconnect && has_ended(*channel_))) return channel_;
        if (!channel_ && had_one_ && !options_.reconnect)
            throw Error(IPC_PEER_CLOSED,
                        "the connection to " + address_ + " has ended, and this client was asked not to reconnect");
        drop();
        until.begin();
        auto pause = options_.first_pause;
        while (true) {
            // In slices, because nothing but its time-out interrupts an attempt.
            constexpr int32_t slice_ms = 1000;
            const int32_t left_ms = until.left_ms();
            const bool is_last = left_ms != IPC_FOREVER && left_ms <= slice_ms;
            Result<Channel> made = Channel::try_connect(address_, is_last ? left_ms : slice_ms);
            const std::string why = made ? "" : ipc_last_error();
            std::unique_lock lock(mutex_);
            check_open();
            if (made) {
                had_one_ = true;
                return channel_ = std::make_shared<Channel>(std::move(*made));
            }
            const bool is_slow = made.timed_out() && !is_last;
            const bool may_come = options_.reconnect && (made.timed_out() || made.status() == IPC_NO_SERVER ||
                                                         made.status() == IPC_PEER_CLOSED);
            if (!may_come && !is_slow) throw Error(made.status(), why);
            if (!is_slow && !sleep(lock, pause, until)) throw Error(IPC_TIMED_OUT, why);
            check_open();
            pause = (std::min)(2 * pause, options_.longest_pause);
        }
    }

    // False once the time-out has expired.
    bool sleep(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds pause, Until& until) {
        const double share = std::uniform_real_distribution(0.8, 1.2)(random_);
        auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause * share);
        if (!until.is_forever()) end = (std::min)(end, until.time());
        changed_.wait_until(lock, end, [&] { return closed_; });
        return until.is_forever() || Clock::now() < until.time();
    }

    const std::string address_;
    const ClientOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool is_called_ = false;
    bool closed_ = false;
    // Changed under the lock by the thread whose turn it is, which may read it without the lock.
    std::shared_ptr<Channel> channel_;
    bool had_one_ = false;
    std::minstd_rand random_{static_cast<unsigned>(Clock::now().time_since_epoch().count())};
};

} // namespace ipc

#endif
