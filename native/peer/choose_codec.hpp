#pragma once

#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "codecs/protobuf_direct.hpp"
#include "failure.hpp"

#include <string>
#include <string_view>
#include <type_traits>

namespace ipc::peer {

// Calls play.operator()<Codec>() with the codec of a registry id, so that what follows is compiled for it alone.
template <class Play>
void choose_codec(std::string_view id, Play&& play) {
    const auto try_one = [&]<class Codec>(std::type_identity<Codec>) {
        if (id != Codec::id) return false;
        play.template operator()<Codec>();
        return true;
    };
    if (try_one(std::type_identity<codecs::Custom>()) || try_one(std::type_identity<codecs::Protobuf>()) ||
        try_one(std::type_identity<codecs::ProtobufDirect>()) || try_one(std::type_identity<codecs::Json>()) ||
        try_one(std::type_identity<codecs::FlatBuffers>()))
        return;
    fail_bad_cell("the native peer has no codec '" + std::string(id) + "' for this scenario: see `ipc list codecs`");
}

} // namespace ipc::peer
