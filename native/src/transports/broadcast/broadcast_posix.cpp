#include "core/transport.hpp"
#include "posix/names.hpp"
#include "transports/broadcast/ring_publisher_posix.hpp"
#include "transports/broadcast/ring_subscriber_posix.hpp"

#include <memory>

namespace ipc {
namespace {

constexpr const char* name_prefix = "broadcast-"; // of the socket in the private folder
constexpr broadcast::Start first_message{0, 1};

Status check_size(const Address& address) {
    if (broadcast::is_ring_size(address.option_size("size"))) return IPC_OK;
    return fail(IPC_BAD_OPTION, "size=%s in '%s': the ring's size must be a power of two from 64k to 4G",
                address.option("size").c_str(), address.text().c_str());
}

Status publish(const Address& address, BroadcastPublisher** publisher) {
    posix::LocalName name;
    if (Status s = check_size(address)) return s;
    if (Status s = posix::private_name(address, name_prefix, &name)) return s;
    auto made = std::make_unique<broadcast::RingPublisher>(address, address.option_size("size"), first_message);
    if (Status s = made->open(name)) return s;
    *publisher = made.release();
    return IPC_OK;
}

Status subscribe(const Address& address, const Deadline& deadline, BroadcastSubscriber** subscriber) {
    posix::LocalName name;
    if (Status s = check_size(address)) return s;
    if (Status s = posix::private_name(address, name_prefix, &name)) return s;
    const auto policy = address.option("policy") == "drop" ? broadcast::Policy::drop : broadcast::Policy::wait;
    std::unique_ptr<broadcast::RingSubscriber> made;
    if (Status s = broadcast::RingSubscriber::open(address, policy, name, deadline, &made)) return s;
    *subscriber = made.release();
    return IPC_OK;
}

} // namespace

extern const Transport transport_broadcast{.publish = publish, .subscribe = subscribe};

} // namespace ipc
