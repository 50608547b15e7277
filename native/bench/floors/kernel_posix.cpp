#include "ping_pong.hpp"

#include <cerrno>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace floors {
namespace {

// A descriptor that closes itself.
class Fd {
  public:
    explicit Fd(int fd) : fd_(fd) {}
    ~Fd() { close(); }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_;
};

void write_all(int fd, const char* data, size_t size) {
    while (size != 0) {
        ssize_t done = write(fd, data, size);
        if (done < 0) throw std::system_error(errno, std::generic_category(), "write");
        data += done;
        size -= static_cast<size_t>(done);
    }
}

// False at the end of the stream.
bool read_all(int fd, char* data, size_t size) {
    while (size != 0) {
        ssize_t done = read(fd, data, size);
        if (done < 0) throw std::system_error(errno, std::generic_category(), "read");
        if (done == 0) return false;
        data += done;
        size -= static_cast<size_t>(done);
    }
    return true;
}

// A message of no bytes still has to be one on a stream: one byte stands for it.
size_t at_least_one(size_t size) {
    return size == 0 ? 1 : size;
}

// The answering process closes the client's ends, or it would keep its own input open.
double streams_rtt_ns(const Setup& setup, Sizes sizes, const Fd& server_in, const Fd& server_out, Fd& client_in,
                      Fd& client_out) {
    std::vector<char> request(at_least_one(sizes.request), 'q'), reply(at_least_one(sizes.reply), 'r');
    auto serve = [&] {
        client_in.close();
        client_out.close();
        while (read_all(server_in.get(), request.data(), request.size()))
            write_all(server_out.get(), reply.data(), reply.size());
    };
    auto exchange = [&] {
        write_all(client_out.get(), request.data(), request.size());
        if (!read_all(client_in.get(), reply.data(), reply.size()))
            throw std::runtime_error("the answering process of a floor ended");
    };
    return median_rtt_ns(setup, serve, exchange, [&] {
        client_out.close();
        client_in.close();
    });
}

} // namespace

double pipe_rtt_ns(const Setup& setup, Sizes sizes) {
    int up[2], down[2];
    if (pipe(up) != 0 || pipe(down) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    Fd server_in(up[0]), client_out(up[1]), client_in(down[0]), server_out(down[1]);
    return streams_rtt_ns(setup, sizes, server_in, server_out, client_in, client_out);
}

double unix_rtt_ns(const Setup& setup, Sizes sizes) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        throw std::system_error(errno, std::generic_category(), "socketpair");
    // A socket is both directions; the client's second descriptor lets both kinds of stream share one measurement.
    Fd server(ends[0]), client_out(ends[1]), client_in(dup(ends[1]));
    return streams_rtt_ns(setup, sizes, server, server, client_in, client_out);
}

} // namespace floors
