#include "core/growing_buffer.hpp"
#include "core/transport.hpp"
#include "pieces/meeting.hpp"
#include "transports/boost_mq/queue_names_posix.hpp"
#include "transports/boost_mq/queue_posix.hpp"

#include <boost/interprocess/exceptions.hpp>
#include <cstring>

namespace ipc {
namespace {

using boost_mq::Queue;
using pieces::Greeting;
using pieces::PeerSocket;
using pieces::PieceLink;

constexpr size_t most_piece_bytes = size_t{16} << 20;
constexpr size_t most_depth = 1024;
constexpr size_t most_queue_bytes = size_t{1} << 30;

bool is_sensible(uint64_t piece_bytes, uint64_t depth) {
    return piece_bytes >= 64 && piece_bytes <= most_piece_bytes && depth >= 2 && depth <= most_depth &&
           piece_bytes * depth <= most_queue_bytes;
}

class BoostLink final : public PieceLink {
  public:
    // `id`: names to remove when the link ends, if they are there still.
    BoostLink(std::unique_ptr<Queue> out, std::unique_ptr<Queue> in, size_t piece_bytes, std::string id)
        : out_(std::move(out)), in_(std::move(in)), piece_bytes_(piece_bytes), id_(std::move(id)) {}
    ~BoostLink() override { remove_names(id_); }

    bool allocate() { return joined_.grow(piece_bytes_) && received_.grow(piece_bytes_); }

    static void remove_names(const std::string& id) {
        Queue::remove(boost_mq::from_client(id));
        Queue::remove(boost_mq::from_server(id));
    }

    size_t piece_bytes() const override { return piece_bytes_; }

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

    Status receive(std::byte* wanted, const std::byte** piece, size_t* length, int64_t patience_ns) override {
        std::byte* room = wanted != nullptr ? wanted : received_.data();
        try {
            const Queue::Outcome outcome = in_->receive(room, piece_bytes_, length, patience_ns);
            *piece = room;
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
    const size_t piece_bytes_;
    const std::string id_;
    GrowingBuffer joined_;   // the sender's
    GrowingBuffer received_; // the receiver's
};

Status check(const Address& address) {
    if (is_sensible(address.option_size("piece"), address.option_count("depth"))) return IPC_OK;
    return fail(IPC_BAD_OPTION,
                "piece=%s and depth=%s in '%s': a piece has 64 bytes to 16M, a queue 2 to %zu of them, together at most 1G",
                address.option("piece").c_str(), address.option("depth").c_str(), address.text().c_str(), most_depth);
}

Status make_link(std::unique_ptr<Queue> out, std::unique_ptr<Queue> in, size_t piece_bytes, const std::string& id,
                 std::unique_ptr<PieceLink>* link) {
    auto made = std::make_unique<BoostLink>(std::move(out), std::move(in), piece_bytes, id);
    if (!made->allocate()) return fail(IPC_OUT_OF_MEMORY, "no memory for pieces of %zu bytes", piece_bytes);
    *link = std::move(made);
    return IPC_OK;
}

Status offer(const Address& address, std::shared_ptr<PeerSocket>, Greeting* greeting,
             std::unique_ptr<PieceLink>* link) {
    std::string id;
    if (Status s = boost_mq::new_queue_id(address, &id)) return s;
    if (id.size() >= sizeof greeting->id) return fail(IPC_BAD_ADDRESS, "'%s' is too long a name", address.text().c_str());
    std::memcpy(greeting->id, id.c_str(), id.size() + 1);
    greeting->piece_bytes = address.option_size("piece");
    greeting->depth = address.option_count("depth");
    std::unique_ptr<Queue> out, in;
    Status status = Queue::create(boost_mq::from_server(id), greeting->depth, greeting->piece_bytes, &out);
    if (!status) status = Queue::create(boost_mq::from_client(id), greeting->depth, greeting->piece_bytes, &in);
    if (!status) status = make_link(std::move(out), std::move(in), greeting->piece_bytes, id, link);
    if (status) BoostLink::remove_names(id);
    return status;
}

Status take_up(const Address& address, std::shared_ptr<PeerSocket>, const Greeting& greeting, const Deadline&,
               std::unique_ptr<PieceLink>* link) {
    const std::string id = greeting.id;
    if (!is_sensible(greeting.piece_bytes, greeting.depth) || !boost_mq::is_queue_id(address, id))
        return fail(IPC_NOT_OUR_PROTOCOL, "the server offered message queues that are not of the form expected");
    std::unique_ptr<Queue> out, in;
    Status status = Queue::open(boost_mq::from_client(id), greeting.depth, greeting.piece_bytes, &out);
    if (!status) status = Queue::open(boost_mq::from_server(id), greeting.depth, greeting.piece_bytes, &in);
    // Both ends have them now. Nothing is left in the file system that a killed process would have to remove.
    BoostLink::remove_names(id);
    return status ? status : make_link(std::move(out), std::move(in), greeting.piece_bytes, id, link);
}

const pieces::Form form{"boost-mq-", 0x51424350 /* "PCBQ" */, false, check, boost_mq::sweep_queues, offer, take_up};

} // namespace

extern const Transport transport_boost_mq{
    [](const Address& address, FrameListener** listener) { return pieces::listen(form, address, listener); },
    [](const Address& address, const Deadline& deadline, FrameChannel** channel) {
        return pieces::connect(form, address, deadline, channel);
    }};

} // namespace ipc
