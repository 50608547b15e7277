// A server and its client in one program, over shared memory and over a socket.
#include <cstdio>
#include <ipc/ipc.hpp>
#include <string>
#include <thread>
#include <unistd.h>

int main() {
    for (const char* transport : {"shm", "unix"}) {
        const std::string address = std::string(transport) + "://consumer-" + std::to_string(getpid());
        ipc::Listener listener(address);
        std::thread server([&] {
            ipc::Channel client = listener.accept(10'000);
            client.serve([](ipc::Bytes request, ipc::ReplyWriter& reply) {
                reply.write("answer to " + std::string(request.text()));
            });
        });
        std::string answer;
        {
            ipc::Channel channel = ipc::Channel::connect(address, 10'000);
            answer = channel.call("a question", 10'000);
        }
        server.join();
        if (answer != "answer to a question") {
            std::fprintf(stderr, "%s: '%s'\n", address.c_str(), answer.c_str());
            return 1;
        }
    }
}
