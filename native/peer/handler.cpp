// Scenario `handler`: raw calls as those of `call`, answered by a handler that the library calls, as README's programs answer.
#include "call_raw.hpp"
#include "data.hpp"
#include "failure.hpp"
#include "scenarios.hpp"

#include <exception>

namespace ipc::peer {
namespace {

// Nothing of it runs after its answer has gone. So it checks the request before, and the client waits for that, too. It reads the request where it
// lies, as a handler of README does: to compare every byte takes the place of copying it.
class RawHandler {
  public:
    explicit RawHandler(const Cell& cell) : payloads_(cell) { payloads_.stamp(1); }

    void operator()(Bytes request, ReplyWriter& reply) {
        try {
            check_bytes("request", {reinterpret_cast<const uint8_t*>(request.data), request.size}, payloads_.request);
            reply.write(payloads_.reply.data(), payloads_.reply.size());
            ++answered_;
            // Not right before they are read: a processor stands still until such bytes have left its queue of stores.
            payloads_.stamp(answered_ + 1);
        } catch (...) {
            failure_ = std::current_exception();
            throw; // fails the call with the same words
        }
    }

    // So many calls; throws what failed one.
    uint64_t answered() const {
        if (failure_) std::rethrow_exception(failure_);
        return answered_;
    }

  private:
    RawPayloads payloads_;
    uint64_t answered_ = 0;
    std::exception_ptr failure_;
};

} // namespace

void handler_server(const Cell& cell, Control& control) {
    RawHandler handler(cell);
    Connection::accept(cell, control).serve(handler);
    finish_serving(control, handler.answered());
}

} // namespace ipc::peer
