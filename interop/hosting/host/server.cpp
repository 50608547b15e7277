// A server in C++ whose handler is written in .NET, until standard input ends; its failures go to standard error:
//   ipc-hosted-server ASSEMBLY TYPE METHOD ADDRESS
#include <iostream>
#include <ipc/hosting.hpp>
#include <limits>

int main(int count, char** arguments) try {
    if (count != 5) {
        std::cerr << "usage: ipc-hosted-server ASSEMBLY TYPE METHOD ADDRESS\n";
        return 2;
    }
    ipc::ServerOptions options;
    options.on_error = [](const ipc::ServerError& error) {
        std::cerr << "ipc-hosted-server: " + error.message + '\n'; // at once: several threads may tell something
    };
    ipc::Server server(arguments[4], ipc::HostedHandler::load(arguments[1], arguments[2], arguments[3]), options);
    std::cout << server.address() << std::endl;
    std::cin.ignore(std::numeric_limits<std::streamsize>::max());
} catch (const std::exception& e) {
    std::cerr << "ipc-hosted-server: " << e.what() << '\n';
    return 1;
}
