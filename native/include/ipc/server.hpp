// server.hpp - a part of ipc.hpp, which includes it: a server for all clients of an address.
#ifndef IPC_SERVER_HPP
#define IPC_SERVER_HPP

#include "ipc/channel.hpp"

#if !IPC_HAS_EXCEPTIONS
#    error "ipc/server.hpp needs exceptions; without them use the try_ functions of ipc::Channel"
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace ipc {

// A failure that did not stop the server.
struct ServerError {
    enum class Source {
        accept,  // a client could not be accepted, or had to be dropped because there was no room or no thread for it
        channel, // a client broke its channel; only that channel ended
        handler, // the handler threw; the client has been told
    };
    Source source;
    ipc_status status;
    std::string message;
    std::exception_ptr exception; // what the handler threw, or null
};

struct ServerOptions {
    // The most clients served at once. When one more connects, the server drops the client that has been connected longest without
    // ever calling, though not within 50 ms of its connecting. If all have called, new clients wait in the system's queue until one
    // leaves. At least 1.
    size_t max_clients = 256;
    // Called for every ServerError, on the server's threads, possibly on several at once. Its exceptions are ignored.
    std::function<void(const ServerError&)> on_error;
};

// Serves every client of an address with one handler and a thread per client, so the handler must be safe to run on several threads at
// once. An exception of the handler fails the client's call, is reported to on_error, and stops nothing else. Not so what the ReplyWriter
// throws because its client has gone or was cut off: that ends this client's session.
class Server {
  public:
    // The handler is called as handler(Bytes request, ReplyWriter& reply). Throws Error if it cannot listen at the address, and
    // Error(IPC_INVALID_ARGUMENT) for options of which it could serve nobody.
    template <class Handler>
    Server(const std::string& address, Handler handler, ServerOptions options = {})
        : options_(checked(std::move(options))), handle_(own(std::move(handler))), listener_(address),
          acceptor_([this] { accept_clients(); }) {}
    // Calls stop(0), then waits for handlers that are still running; nothing interrupts them. Not from a handler or on_error, which
    // would wait for themselves.
    ~Server() {
        stop(0);
        acceptor_.join();
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return clients_.empty(); });
        lock.unlock(); // the last thread takes it once more
        if (last_finished_.joinable()) last_finished_.join();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::string address() const { return listener_.address(); }

    // Clients connected now.
    size_t clients() const {
        const std::lock_guard lock(mutex_);
        return clients_.size();
    }

    // Stops listening and disconnects idle clients at once. Requests in progress are answered first; those that take longer than the
    // time-out are cut off. Returns true if none was. May be called from any thread, even from a handler, whose own request it does not
    // wait for, nor for those whose handlers do the same at the time: they would wait for each other. Throws Error(IPC_INVALID_ARGUMENT)
    // for a time-out that is negative and not infinite.
    bool stop(int32_t timeout_ms = infinite) {
        detail::check_timeout(timeout_ms);
        listener_.close();
        std::unique_lock lock(mutex_);
        stopping_ = true;
        for (Client& client : clients_) client.finish();
        const auto own = std::find_if(clients_.begin(), clients_.end(), [](const Client& client) {
            return client.thread.get_id() == std::this_thread::get_id();
        });
        const bool by_handler = own != clients_.end();
        if (by_handler) ++own->stopping;
        changed_.notify_all();
        const auto is_awaited = [&](const Client& client) {
            return !by_handler || (&client != &*own && client.stopping == 0);
        };
        const auto drained = [&] { return std::none_of(clients_.begin(), clients_.end(), is_awaited); };
        if (timeout_ms == infinite)
            changed_.wait(lock, drained);
        else
            changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), drained);
        if (by_handler) --own->stopping;
        // A client that is closed already only has to be taken off the list.
        const bool all_answered = std::none_of(clients_.begin(), clients_.end(), [&](const Client& client) {
            return client.state == State::last_call && is_awaited(client);
        });
        for (Client& client : clients_)
            if (is_awaited(client)) client.channel.close();
        return all_answered;
    }

  private:
    using Clock = std::chrono::steady_clock;

    // A client that has just connected is often not running: on a busy machine its first call comes some milliseconds later, and a
    // flood of silent clients can fill the server meanwhile. At this time such a flood still passes through at max_clients every 50 ms.
    static constexpr std::chrono::milliseconds time_to_call{50};

    enum class State {
        fresh,     // has never called
        idle,      // has no request in progress
        busy,      // has one
        last_call, // has one, after which its connection ends
        closed,
    };
    struct Client {
        explicit Client(Channel connected) : channel(std::move(connected)) {}

        // Begins a request; false if it came too late.
        bool begin() {
            State before = state;
            while (before != State::closed)
                if (state.compare_exchange_weak(before, State::busy)) return true;
            return false;
        }
        // Ends it once it has been answered; false if it was the last one.
        bool end() {
            State busy = State::busy;
            return state.compare_exchange_strong(busy, State::idle);
        }
        // Ends the connection now, or after the request in progress.
        void finish() {
            State before = state;
            while (before != State::closed && before != State::last_call) {
                const State next = before == State::busy ? State::last_call : State::closed;
                if (!state.compare_exchange_weak(before, next)) continue;
                if (next == State::closed) channel.close();
                return;
            }
        }
        // Ends the connection if it has never carried a call and has had its time for one.
        bool make_room() {
            if (Clock::now() < droppable) return false;
            State fresh = State::fresh;
            if (!state.compare_exchange_strong(fresh, State::closed)) return false;
            channel.close();
            return true;
        }

        const Clock::time_point droppable = Clock::now() + time_to_call;
        Channel channel;
        std::thread thread;
        int stopping = 0; // how many times its handler is in stop(); guarded by the server's mutex
        std::atomic<State> state{State::fresh};
    };
    using Handle = std::function<void(Bytes, ReplyWriter&)>;

    static ServerOptions checked(ServerOptions options) {
        if (options.max_clients == 0)
            throw Error(IPC_INVALID_ARGUMENT,
                        "a server of at most 0 clients could serve none: give max_clients a number from 1");
        return options;
    }

    // Accepts handlers that cannot be copied.
    template <class Handler>
    static Handle own(Handler handler) {
        return [owned = std::make_shared<Handler>(std::move(handler))](Bytes request, ReplyWriter& reply) {
            (*owned)(request, reply);
        };
    }

    void accept_clients() {
        // Short enough for a server that has run out of descriptors to notice and drop silent clients; shorter while that lasts.
        constexpr int32_t calm_ms = 1000;
        constexpr int32_t short_ms = 20;
        int32_t slice_ms = calm_ms;
        std::chrono::milliseconds pause{10};
        while (wait_for_room()) {
            try {
                Channel channel = listener_.accept(slice_ms);
                serve_apart(std::move(channel));
                pause = std::chrono::milliseconds(10);
            } catch (const Error& e) {
                if (e.status() == IPC_CLOSED) return;
                if (e.status() == IPC_TIMED_OUT) {
                    slice_ms = calm_ms;
                    continue;
                }
                slice_ms = short_ms;
                tell(ServerError::Source::accept, e.status(), e.what());
                recover(&pause);
            } catch (const std::exception& e) {
                tell(ServerError::Source::accept, IPC_SYSTEM, e.what());
                recover(&pause);
            }
        }
    }

    // Waits while the most clients allowed are connected and all have called; false once the server stops.
    bool wait_for_room() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return stopping_ || has_room() || std::any_of(clients_.begin(), clients_.end(), is_fresh);
        });
        return !stopping_;
    }

    // Serves the client on a thread of its own. Throws std::system_error if the system cannot start one; the client is then disconnected.
    void serve_apart(Channel channel) {
        bool dropped = false;
        {
            std::unique_lock lock(mutex_);
            // A client that leaves, or the one dropped, makes room.
            while (!stopping_ && !has_room()) {
                if (!dropped && clients_.size() >= options_.max_clients) dropped = make_room();
                const auto fresh = std::find_if(clients_.begin(), clients_.end(), is_fresh);
                if (dropped || fresh == clients_.end()) {
                    changed_.wait(lock);
                } else {
                    const Clock::time_point due = fresh->droppable; // a copy: the client may go meanwhile
                    changed_.wait_until(lock, due);
                }
            }
            if (stopping_) return;
            const auto client = clients_.emplace(clients_.end(), std::move(channel));
            try {
                client->thread = std::thread([this, client] { serve(client); });
            } catch (...) {
                clients_.erase(client);
                throw;
            }
        }
        if (dropped)
            tell(ServerError::Source::accept, IPC_NOT_AVAILABLE,
                 "all " + std::to_string(options_.max_clients) + " clients that " + address() +
                     " serves at once were connected: the one silent for longest was dropped for a new one");
    }

    static bool is_fresh(const Client& client) { return client.state == State::fresh; }

    // Drops the oldest client that has never called, if it has had its time to. Call with the lock held.
    bool make_room() {
        return std::any_of(clients_.begin(), clients_.end(), [](Client& client) { return client.make_room(); });
    }

    // After a failure to accept, the system is short of something: drops half of the clients that have never called.
    void recover(std::chrono::milliseconds* pause) {
        std::unique_lock lock(mutex_);
        const auto fresh = std::count_if(clients_.begin(), clients_.end(), is_fresh);
        for (auto i = 0; i < (fresh + 1) / 2; ++i) make_room();
        changed_.wait_for(lock, *pause, [this] { return stopping_; });
        *pause = (std::min)(*pause * 2, std::chrono::milliseconds(1000));
    }

    void serve(std::list<Client>::iterator client) {
        try {
            while (answer_one(*client)) {
            }
        } catch (const Error& e) {
            if (e.status() != IPC_PEER_CLOSED && e.status() != IPC_CLOSED)
                tell(ServerError::Source::channel, e.status(), e.what());
        } catch (const std::exception& e) {
            tell(ServerError::Source::channel, IPC_SYSTEM, e.what());
        }
        client->state = State::closed;
        std::list<Client> finished;
        std::thread earlier;
        {
            const std::lock_guard lock(mutex_);
            finished.splice(finished.end(), clients_, client);
            ++ending_;
            // A thread cannot join itself: the next one to finish joins it, or the destructor.
            earlier = std::exchange(last_finished_, std::move(client->thread));
        }
        finished.clear(); // frees the channel
        if (earlier.joinable()) earlier.join();
        const std::lock_guard lock(mutex_);
        --ending_;
        changed_.notify_all();
    }

    // False once this client's last request has been answered.
    bool answer_one(Client& client) {
        ipc_channel* const channel = client.channel.handle();
        const void* request = nullptr;
        size_t size = 0;
        detail::throw_unless_ok(ipc_receive_request(channel, &request, &size, infinite));
        if (!client.begin()) return false;
        ReplyWriter reply(channel);
        const std::string failure = call_handler(Bytes{static_cast<const std::byte*>(request), size}, reply);
        if (!failure.empty())
            reply.fail(failure.c_str());
        else
            reply.send();
        return client.end();
    }

    // The text of the handler's failure, or "". A client that has gone, or was cut off, is no failure of the handler's.
    std::string call_handler(Bytes request, ReplyWriter& reply) {
        try {
            handle_(request, reply);
            return {};
        } catch (const Error& e) {
            if (reply.is_end_of_channel(e.status())) throw;
            return handler_failed(e.what());
        } catch (const std::exception& e) {
            return handler_failed(e.what());
        } catch (...) {
            return handler_failed("unknown exception");
        }
    }

    // From within a catch block.
    std::string handler_failed(const char* what) {
        std::string text = *what != '\0' ? what : "exception without a text";
        tell(ServerError::Source::handler, IPC_HANDLER_FAILED, text, std::current_exception());
        return text;
    }

    void tell(ServerError::Source source, ipc_status status, std::string message,
              std::exception_ptr exception = nullptr) {
        if (!options_.on_error) return;
        try {
            options_.on_error(ServerError{source, status, std::move(message), std::move(exception)});
        } catch (...) { // nobody is left to report it to
        }
    }

    // Threads count until they have ended; otherwise a flood of short-lived clients would start ever more of them. Call with the lock held.
    bool has_room() const { return clients_.size() + ending_ < options_.max_clients; }

    const ServerOptions options_;
    const Handle handle_;
    Listener listener_;
    mutable std::mutex mutex_; // guards the members below
    std::condition_variable changed_;
    std::list<Client> clients_; // oldest first; a list, because each thread keeps a reference to its element
    size_t ending_ = 0;         // threads whose client is no longer in the list
    std::thread last_finished_;
    bool stopping_ = false;
    std::thread acceptor_; // last, because it uses everything above
};

} // namespace ipc

#endif
