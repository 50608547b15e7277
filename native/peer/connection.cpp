#include "connection.hpp"

#include <nlohmann/json.hpp>

namespace ipc::peer {

Connection Connection::connect(const Cell& cell, Control& control) {
    constexpr int32_t handover_ms = 10'000;
    return {Channel::connect(cell.address, handover_ms), control};
}

Connection Connection::accept(const Cell& cell, Control& control) {
    Channel channel;
    {
        Listener listener(cell.address);
        const Control::Interruptible interruptible(control, [&listener] { listener.close(); });
        control.emit({{"event", "ready"}, {"address", listener.address()}});
        channel = listener.accept();
    }
    return {std::move(channel), control};
}

void finish_serving(Control& control, uint64_t operations) {
    control.emit({{"event", "served"}, {"operations", operations}});
    control.wait_for_end();
}

} // namespace ipc::peer
