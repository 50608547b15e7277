// A server and a client in one process.
#include <iostream>
#include <ipc/ipc.hpp>

int main() try {
    ipc::Server server("shm://conan-test-package",
                       [](ipc::Bytes request, ipc::ReplyWriter& reply) { reply.write(request.text()); });
    auto channel = ipc::Channel::connect("shm://conan-test-package", 1000);
    std::cout << channel.call("there and back", 1000) << '\n';
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
