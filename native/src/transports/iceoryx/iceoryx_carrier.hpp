#pragma once

#include "fragments/fragment_carrier.hpp"
#include "fragments/peer_socket.hpp"

#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <memory>
#include <string>

namespace ipc::iceoryx {

// Fragments as chunks of iceoryx's shared memory: a publisher for one direction, a subscriber for the other.
//
// Publishing into a full queue would either lose the oldest fragment or wait where nothing interrupts it. The sender therefore
// keeps to a window: the receiver gives a token over the socket for every quarter of it that it has consumed. That costs a
// system call per quarter window, and nothing on the way of the others.
class IceoryxCarrier final : public fragments::FragmentCarrier {
  public:
    // `id` names the connection, the same at both ends. The process is attached. Throws nothing; a RouDi without a free port
    // lets iceoryx end the process, of which it has 512.
    IceoryxCarrier(const std::string& id, bool is_server, size_t fragment_bytes, uint64_t window,
                   std::shared_ptr<fragments::PeerSocket> peer);
    ~IceoryxCarrier() override;

    // The client's: waits at most so long until both directions are connected, and then lets the server send.
    bool connect(int64_t patience_ns);

    size_t fragment_bytes() const override { return fragment_bytes_; }
    Status send(Chunk head, Chunk body, int64_t patience_ns) override;
    Status receive(std::byte* wanted, const std::byte** fragment, size_t* length, int64_t patience_ns) override;

  private:
    bool has_room() const;
    Status publish(Chunk head, Chunk body, int64_t patience_ns);
    bool take(const std::byte** fragment, size_t* length);
    void give_back();

    const bool is_server_;
    const size_t fragment_bytes_;
    const uint64_t window_;
    const std::shared_ptr<fragments::PeerSocket> peer_;

    // --- sender's half
    iox::popo::UntypedPublisher publisher_;
    uint64_t sent_ = 0;

    // --- receiver's half
    iox::popo::UntypedSubscriber subscriber_;
    iox::popo::WaitSet<1> arrivals_;
    const void* held_ = nullptr; // the chunk of the fragment last received
    uint64_t consumed_ = 0;
};

} // namespace ipc::iceoryx
