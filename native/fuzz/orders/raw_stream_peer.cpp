// Frames on a Unix socket, byte by byte.
#include "finding.hpp"
#include "raw_peer.hpp"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace fuzz {
namespace {

class StreamPeer final : public RawPeer {
  public:
    explicit StreamPeer(int socket) : socket_(socket) {}
    ~StreamPeer() override { StreamPeer::close(); }

    void take_all() override {
        std::byte buffer[65536];
        while (socket_ >= 0) {
            const ssize_t got_now = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
            if (got_now <= 0) break;
            arrived_.insert(arrived_.end(), buffer, buffer + got_now);
        }
        while (arrived_.size() >= 16) {
            uint32_t header[4];
            std::memcpy(header, arrived_.data(), sizeof header);
            if (header[0] != 0x31435049 || header[2] < 1 || header[2] > 4) finding("what came is no frame");
            if (arrived_.size() - 16 < header[1]) break;
            got(static_cast<Kind>(header[2]), arrived_.data() + 16, header[1]);
            arrived_.erase(arrived_.begin(), arrived_.begin() + 16 + static_cast<std::ptrdiff_t>(header[1]));
        }
    }
    void close() override {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    void die() override { close(); }
    void scribble(uint64_t, uint64_t value, size_t bytes) override {
        if (socket_ >= 0) (void)!send(socket_, &value, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

  protected:
    void put_some(size_t portion, bool) override {
        const uint32_t header[4] = {0x31435049, static_cast<uint32_t>(payload_.size()),
                                    static_cast<uint32_t>(frame_.kind), id_};
        std::vector<std::byte> rest(sizeof header + payload_.size());
        std::memcpy(rest.data(), header, sizeof header);
        std::copy(payload_.begin(), payload_.end(), rest.begin() + sizeof header);
        const size_t now = std::min(std::max<size_t>(portion, 1), rest.size() - done_);
        const ssize_t sent = socket_ < 0 ? -1 : send(socket_, rest.data() + done_, now, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) done_ += static_cast<size_t>(sent);
        all_out_ = done_ == rest.size();
    }

  private:
    int socket_;
    std::vector<std::byte> arrived_;
};

} // namespace

std::unique_ptr<RawPeer> make_stream_peer(int socket) {
    return std::make_unique<StreamPeer>(socket);
}

} // namespace fuzz
