// One decoder against any bytes: it must refuse them with an error message, or make an object that survives being encoded and
// decoded again. CMake compiles this once for each codec and object; how to run it stands there.
#include "../tests/codecs/taken_from_view.hpp"
#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "codecs/protobuf_direct.hpp"

#include <cstdio>
#include <cstdlib>
#include <google/protobuf/stubs/logging.h>
#include <type_traits>
#include <vector>

namespace {

using Codec = ipc::codecs::IPC_FUZZED_CODEC;
using Object = Codec::IPC_FUZZED_OBJECT;
using Domain = ipc::codecs::IPC_FUZZED_OBJECT;

void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// The fast reader of codec json takes nothing that its strict one refuses, and finds the same in it. Other codecs have one reader.
template <class Fuzzed, class Decoded>
void require_agreement(ipc::codecs::Bytes bytes, const Decoded& object, bool taken) {
    if constexpr (std::is_same_v<Fuzzed, ipc::codecs::Json>) {
        Decoded strictly;
        require(Fuzzed::decode_strictly(bytes, strictly).empty() == taken,
                "the two readers differ in what they refuse");
        require(!taken || strictly == object, "the two readers find different content");
    } else {
        static_cast<void>(bytes), static_cast<void>(object), static_cast<void>(taken);
    }
}

// What is read in place is what the decoder finds, and refused when it refuses.
template <class Fuzzed, class Decoded>
void require_same_view(ipc::codecs::Bytes bytes, const Decoded& object, bool taken) {
    if constexpr (requires { typename Fuzzed::ReplyView; }) {
        Decoded viewed;
        const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());
        const std::string complaint = ipc::codecs::testing::take_from_view<Fuzzed>(aligned, viewed);
        require(complaint.empty() == taken, "the view and the decoder differ in what they refuse");
        require(!taken || viewed == object, "the view and the decoder find different content");
    } else {
        static_cast<void>(bytes), static_cast<void>(object), static_cast<void>(taken);
    }
}

} // namespace

// libFuzzer calls these two by name.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    google::protobuf::SetLogHandler(nullptr); // it reports every text that is not UTF-8
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // Reused between inputs, as a receiver would.
    static Codec codec;
    static Object object;
    static ipc::codecs::Buffer buffer;
    const bool taken = codec.decode({data, size}, object).empty();
    require_agreement<Codec>({data, size}, object, taken);
    require_same_view<Codec>({data, size}, object, taken);
    if (!taken) return 0;
    const Domain first = Codec::to_domain(object);
    encode(codec, object, buffer);
    Object again;
    require(codec.decode(buffer.bytes(), again).empty(), "what the encoder wrote is refused");
    require(Codec::to_domain(again) == first, "the object is another one after encoding and decoding");
    return 0;
}
