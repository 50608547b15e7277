#include "connection.hpp"

#include "failure.hpp"

#include <nlohmann/json.hpp>

namespace ipc::peer {

Connection Connection::connect(const Cell& cell, Control& control) {
    constexpr int32_t handover_ms = 10'000;
    return {Channel::connect(cell.address, handover_ms), control};
}

Listener Connection::listen(const Cell& cell, Control& control) {
    Listener listener(cell.address);
    control.emit({{"event", "ready"}, {"address", listener.address()}});
    return listener;
}

Connection Connection::accept(const Cell& cell, Control& control) {
    Listener listener = listen(cell, control);
    return accept(listener, control);
}

Connection Connection::accept(Listener& listener, Control& control) {
    Channel channel;
    {
        const Control::Interruptible interruptible(control, [&listener] { listener.close(); });
        channel = listener.accept();
    }
    return {std::move(channel), control};
}

void finish_serving(Control& control, uint64_t operations) {
    control.emit({{"event", "served"}, {"operations", operations}});
    control.wait_for_end();
}

void refuse(ipc_channel* channel, std::string_view status, const std::string& reason) {
    check(ipc_fail_request(channel, reason.c_str(), IPC_FOREVER));
    throw Failure(status, reason);
}

} // namespace ipc::peer
