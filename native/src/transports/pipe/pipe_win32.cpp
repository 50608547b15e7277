// `pipe` on Windows: frames over the named pipe \\.\pipe\NAME, so that a plain NamedPipeClientStream or
// NamedPipeServerStream can be the other side.
#include "core/frame_stream.hpp"
#include "core/transport.hpp"
#include "win32/pipe_stream.hpp"

#include <memory>
#include <string>
#include <utility>

namespace ipc {
namespace {

using win32::PipeMode;

PipeMode mode_of(const Address& address) {
    return address.option("mode") == "message" ? PipeMode::message : PipeMode::byte;
}

Status make_channel(win32::Handle pipe, PipeMode mode, size_t limit, const std::string& address,
                    FrameChannel** channel) {
    auto stream = std::make_unique<win32::PipeStream>(std::move(pipe), mode);
    if (Status status = stream->open(); status != IPC_OK) return status;
    *channel = new FrameStream(std::move(stream), limit, address);
    return IPC_OK;
}

class PipeListener final : public FrameListener {
  public:
    PipeListener(const Address& address, std::unique_ptr<win32::LocalPipeListener> listener)
        : address_(address.text()), mode_(mode_of(address)), limit_(address.limit()), listener_(std::move(listener)) {}

    Status accept(const Deadline& deadline, FrameChannel** channel) override {
        win32::Handle client;
        if (Status status = listener_->accept(deadline, &client); status != IPC_OK) return status;
        return make_channel(std::move(client), mode_, limit_, address_, channel);
    }
    void close() override { listener_->close(); }
    const char* address() const override { return address_.c_str(); }

  private:
    const std::string address_;
    const PipeMode mode_;
    const size_t limit_;
    const std::unique_ptr<win32::LocalPipeListener> listener_;
};

Status listen(const Address& address, FrameListener** listener) {
    win32::PipeName name;
    if (Status status = win32::public_pipe_name(address, &name); status != IPC_OK) return status;
    std::unique_ptr<win32::LocalPipeListener> made;
    const Status status = win32::LocalPipeListener::open(name, mode_of(address), &made);
    if (status == IPC_OK) *listener = new PipeListener(address, std::move(made));
    return status;
}

Status connect(const Address& address, const Deadline& deadline, FrameChannel** channel) {
    win32::PipeName name;
    win32::Handle pipe;
    if (Status status = win32::public_pipe_name(address, &name); status != IPC_OK) return status;
    const PipeMode mode = mode_of(address);
    if (Status status = win32::connect_local_pipe(name, mode, deadline, &pipe); status != IPC_OK) return status;
    return make_channel(std::move(pipe), mode, address.limit(), address.text(), channel);
}

} // namespace

extern const Transport transport_pipe{listen, connect};

} // namespace ipc
