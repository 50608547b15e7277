#include "core/growing_buffer.hpp"
#include "core/transport.hpp"
#include "fragments/handshake.hpp"
#include "transports/boost_mq/queue_names_posix.hpp"
#include "transports/boost_mq/queue_posix.hpp"

#include <boost/interprocess/exceptions.hpp>
#include <cstring>

namespace ipc {
namespace {

using boost_mq::Queue;
using fragments::FragmentCarrier;
using fragments::Greeting;
using fragments::PeerSocket;

constexpr size_t most_fragment_bytes = size_t{16} << 20;
constexpr size_t most_depth = 1024;
constexpr size_t most_queue_bytes = size_t{1} << 30;

bool is_sensible(uint64_t fragment_bytes, uint64_t depth) {
    return fragment_bytes >= 64 && fragment_bytes <= most_fragment_bytes && depth >= 2 && depth <= most_depth &&
           fragment_bytes * depth <= most_queue_bytes;
}

class BoostCarrier final : public FragmentCarrier {
  public:
    // `id`: names to remove when the carrier ends, if they are there still.
    BoostCarrier(std::unique_ptr<Queue> out, std::unique_ptr<Queue> in, size_t fragment_bytes, std::string id)
        : out_(std::move(out)), in_(std::move(in)), fragment_bytes_(fragment_bytes), id_(std::move(id)) {}
    ~BoostCarrier() override { remove_names(id_); }

    bool allocate() { return joined_.grow(fragment_bytes_) && received_.grow(fragment_bytes_); }

    static void remove_names(const std::string& id) {
        Queue::remove(boost_mq::from_client(id));
        Queue::remove(boost_mq::from_server(id));
    }

    size_t fragment_bytes() const override { return fragment_bytes_; }

    Status send(Chunk head, Chunk body, int64_t patience_ns) override {
        const void* data = head.data;
        if (body.length != 0) {
            // Boost takes one run of bytes.
            std::memcpy(joined_.data(), head.data, head.length);
            std::memcpy(joined_.data() + head.length, body.data, body.length);
            data = joined_.data();
        }
        try {
            return status_of(out_->send(data, head.length + body.length, patience_ns));
        } catch (const boost::interprocess::interprocess_exception& e) {
            return fail(IPC_SYSTEM, "Boost's message queue cannot send: %s", e.what());
        }
    }

    Status receive(std::byte* wanted, const std::byte** fragment, size_t* length, int64_t patience_ns) override {
        std::byte* room = wanted != nullptr ? wanted : received_.data();
        try {
            const Queue::Outcome outcome = in_->receive(room, fragment_bytes_, length, patience_ns);
            *fragment = room;
            return status_of(outcome);
        } catch (const boost::interprocess::interprocess_exception& e) {
            return fail(IPC_SYSTEM, "Boost's message queue cannot receive: %s", e.what());
        }
    }

  private:
    static Status status_of(Queue::Outcome outcome) {
        if (outcome == Queue::Outcome::done) return IPC_OK;
        if (outcome == Queue::Outcome::timed_out) return IPC_TIMED_OUT;
        return fail(IPC_PEER_CLOSED, "the peer died inside the message queue: connect again");
    }

    const std::unique_ptr<Queue> out_;
    const std::unique_ptr<Queue> in_;
    const size_t fragment_bytes_;
    const std::string id_;
    GrowingBuffer joined_;   // the sender's
    GrowingBuffer received_; // the receiver's
};

Status check(const Address& address) {
    if (is_sensible(address.option_size("fragment"), address.option_count("depth"))) return IPC_OK;
    return fail(IPC_BAD_OPTION,
                "fragment=%s and depth=%s in '%s': a fragment has 64 bytes to 16M, a queue 2 to %zu of them, together "
                "at most 1G",
                address.option("fragment").c_str(), address.option("depth").c_str(), address.text().c_str(),
                most_depth);
}

Status make_link(std::unique_ptr<Queue> out, std::unique_ptr<Queue> in, size_t fragment_bytes, const std::string& id,
                 std::unique_ptr<FragmentCarrier>* carrier) {
    auto made = std::make_unique<BoostCarrier>(std::move(out), std::move(in), fragment_bytes, id);
    if (!made->allocate()) return fail(IPC_OUT_OF_MEMORY, "no memory for fragments of %zu bytes", fragment_bytes);
    *carrier = std::move(made);
    return IPC_OK;
}

Status offer(const Address& address, std::shared_ptr<PeerSocket>, Greeting* greeting,
             std::unique_ptr<FragmentCarrier>* carrier) {
    std::string id;
    if (Status s = boost_mq::new_queue_id(address, &id)) return s;
    if (id.size() >= sizeof greeting->id)
        return fail(IPC_BAD_ADDRESS, "'%s' is too long a name", address.text().c_str());
    std::memcpy(greeting->id, id.c_str(), id.size() + 1);
    greeting->fragment_bytes = address.option_size("fragment");
    greeting->depth = address.option_count("depth");
    std::unique_ptr<Queue> out, in;
    Status status = Queue::create(boost_mq::from_server(id), greeting->depth, greeting->fragment_bytes, &out);
    if (!status) status = Queue::create(boost_mq::from_client(id), greeting->depth, greeting->fragment_bytes, &in);
    if (!status) status = make_link(std::move(out), std::move(in), greeting->fragment_bytes, id, carrier);
    if (status) BoostCarrier::remove_names(id);
    return status;
}

Status take_up(const Address& address, std::shared_ptr<PeerSocket>, const Greeting& greeting, const Deadline&,
               std::unique_ptr<FragmentCarrier>* carrier) {
    const std::string id = greeting.id;
    if (!is_sensible(greeting.fragment_bytes, greeting.depth) || !boost_mq::is_queue_id(address, id))
        return fail(IPC_NOT_OUR_PROTOCOL, "the server offered message queues that are not of the form expected");
    std::unique_ptr<Queue> out, in;
    Status status = Queue::open(boost_mq::from_client(id), greeting.depth, greeting.fragment_bytes, &out);
    if (!status) status = Queue::open(boost_mq::from_server(id), greeting.depth, greeting.fragment_bytes, &in);
    // Both ends have them now. Nothing is left in the file system that a killed process would have to remove.
    BoostCarrier::remove_names(id);
    return status ? status : make_link(std::move(out), std::move(in), greeting.fragment_bytes, id, carrier);
}

const fragments::TransportTraits traits{
    "boost-mq-", 0x51424350 /* "PCBQ" */, false, check, boost_mq::sweep_queues, offer, take_up};

} // namespace

extern const Transport transport_boost_mq{
    [](const Address& address, FrameListener** listener) { return fragments::listen(traits, address, listener); },
    [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        return fragments::connect(traits, address, deadline, channel);
    }};

} // namespace ipc
