// Coroutines for the tests of those that await calls.
#pragma once

#include "ipc/awaitable.hpp"
#include "ipc/ipc.hpp"

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace ipc::test {

// The least coroutine there is: it begins at once, its owner may destroy it while it waits, and a failure in it is kept.
class Running {
  public:
    struct promise_type {
        std::exception_ptr failure;
        Running get_return_object() { return Running(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }
    };
    explicit Running(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
    Running(Running&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
    ~Running() {
        if (coroutine_) coroutine_.destroy();
    }
    bool done() const { return coroutine_.done(); }
    void rethrow() const {
        if (coroutine_.promise().failure) std::rethrow_exception(coroutine_.promise().failure);
    }
    ipc_status status() const { return error().status(); }
    std::string text() const { return error().what(); }

  private:
    Error error() const {
        try {
            rethrow();
        } catch (const Error& error) {
            return error;
        }
        return Error(IPC_OK, "");
    }

    std::coroutine_handle<promise_type> coroutine_;
};

} // namespace ipc::test
