#include "posix/socket_stream.hpp"
#include "raw_peer.hpp"
#include "transports/fifo/fifo_stream_posix.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ipc::test {
namespace {

using posix::Descriptor;

class DescriptorPeer final : public RawPeer {
  public:
    DescriptorPeer(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {}
    size_t write(const std::byte* data, size_t length) override {
        const ssize_t count = ::write(out_.get(), data, length);
        return count > 0 ? static_cast<size_t>(count) : 0;
    }
    size_t read(std::byte* buffer, size_t capacity) override {
        const ssize_t count = ::read(in_.get(), buffer, capacity);
        return count > 0 ? static_cast<size_t>(count) : 0;
    }
    void hang_up() override {
        in_.reset();
        out_.reset();
    }

  private:
    Descriptor in_;
    Descriptor out_;
};

} // namespace

std::vector<Kind> stream_kinds() {
    return {Kind::socket, Kind::fifo};
}

void make_stream(Kind kind, std::unique_ptr<ByteStream>* stream, std::unique_ptr<RawPeer>* peer) {
    int up[2];
    int down[2];
    if (kind == Kind::socket) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, up) != 0) return;
        *stream = std::make_unique<posix::SocketStream>(Descriptor(up[0]));
        *peer = std::make_unique<DescriptorPeer>(Descriptor(up[1]), Descriptor(dup(up[1])));
        return;
    }
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) return;
    fcntl(down[0], F_SETFL, O_NONBLOCK);
    fcntl(up[1], F_SETFL, O_NONBLOCK);
    auto fifo = std::make_unique<FifoStream>(Descriptor(down[0]), Descriptor(up[1]), "");
    if (fifo->open() != IPC_OK) return;
    *stream = std::move(fifo);
    *peer = std::make_unique<DescriptorPeer>(Descriptor(up[0]), Descriptor(down[1]));
}

size_t bytes_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace ipc::test
