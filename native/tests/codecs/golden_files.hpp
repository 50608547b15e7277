#pragma once

#include "codecs/objects.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ipc::codecs::testing {

// The objects that native/tests/golden/README.md describes.
Request golden_request();
Reply golden_reply();
Request golden_edge_request();
Reply golden_edge_reply();

// Every golden file, by name, as this build of the codecs writes it.
std::map<std::string, std::vector<uint8_t>> golden_files();

} // namespace ipc::codecs::testing
