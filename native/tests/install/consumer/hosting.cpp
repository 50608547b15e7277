// .NET inside C++, from the installed tree: an assembly that is not there is told so before any runtime is looked for.
#include <ipc/hosting.hpp>

int main() {
    const auto handler = ipc::HostedHandler::try_load("/nowhere/gone.dll", "Gone", "Answer");
    const std::string_view said = ipc_hosting_last_error();
    return handler.status() == IPC_NOT_AVAILABLE && said.find("/nowhere/gone.dll") != said.npos ? 0 : 1;
}
