// Writes the golden files anew. They change only when a wire format does, and then docs/wire-formats.md and the C# twin
// change with them:  golden-writer native/tests/golden
#include "golden_files.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("golden-writer: name the folder of the golden files, native/tests/golden\n", stderr);
        return 2;
    }
    try {
        for (const auto& [name, bytes] : ipc::codecs::testing::golden_files()) {
            const std::string path = std::string(arguments[1]) + "/" + name;
            std::ofstream file(path, std::ios::binary | std::ios::trunc);
            file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
            file.flush();
            if (!file) {
                std::fprintf(stderr, "golden-writer: %s cannot be written: check that the folder exists\n",
                             path.c_str());
                return 1;
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "golden-writer: %s\n", error.what());
        return 1;
    }
    return 0;
}
