// Serves the cells of a table of prices. A request is "ROW COLUMN", the reply is the cell's text.
//   prices_server [ADDRESS]      until standard input ends
#include <cstdio>
#include <ipc/ipc.hpp>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using Row = std::map<std::string, std::string, std::less<>>;

const std::map<std::string, Row, std::less<>> table = {
    {"EURUSD", {{"bid", "1.0842"}, {"ask", "1.0844"}}},
    {"USDJPY", {{"bid", "151.21"}, {"ask", "151.23"}}},
};

const std::string& cell(std::string_view request) {
    const size_t space = request.find(' ');
    const std::string_view row = request.substr(0, space);
    const std::string_view column = space == std::string_view::npos ? "" : request.substr(space + 1);
    const auto found_row = table.find(row);
    if (found_row == table.end()) throw std::invalid_argument("no row " + std::string(row));
    const auto found = found_row->second.find(column);
    if (found == found_row->second.end()) throw std::invalid_argument("no column " + std::string(column));
    return found->second;
}

} // namespace

int main(int argc, char** argv) {
    try {
        // Several clients at once, each on a thread of its own; what the handler throws reaches the client as a failed call.
        ipc::Server server(argc > 1 ? argv[1] : "shm://prices",
                           [](ipc::Bytes request, ipc::ReplyWriter& reply) { reply.write(cell(request.text())); });
        std::printf("serving %s\n", server.address().c_str());
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
