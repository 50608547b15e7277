// A C++ server whose answers come from C# (Prices.cs), in the same process.
//   hosted_server ASSEMBLY [ADDRESS]      until standard input ends
#include <cstdio>
#include <ipc/hosting.hpp>

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: hosted_server hosted-prices.dll [ADDRESS]\n", stderr);
        return 2;
    }
    try {
        // Starts .NET in this process.
        auto answer = ipc::HostedHandler::load(argv[1], "Examples.Prices", "Answer");
        ipc::Server server(argc > 2 ? argv[2] : "shm://prices", answer);
        std::printf("serving %s\n", server.address().c_str());
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
