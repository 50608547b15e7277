#pragma once

#include "codecs/codec.hpp"

#include <string>
#include <string_view>

namespace ipc::codecs::testing {

// The object that a view shows, to be held against what the decoder makes of the same bytes. Returns the complaint.
template <class Codec>
std::string take_from_view(Bytes bytes, Request& request) {
    typename Codec::RequestView view(bytes);
    request = {view.sequence(), "", {}, {}};
    std::string_view text;
    if (view.next(text)) request.name = text;
    for (uint32_t i = 0; i < view.ids() && view.next(text); ++i) request.ids.emplace_back(text);
    while (view.next(text)) request.fields.emplace_back(text);
    return view.complaint();
}

template <class Codec>
std::string take_from_view(Bytes bytes, Reply& reply) {
    typename Codec::ReplyView view(bytes);
    reply = {view.sequence(), view.columns(), {}};
    for (std::string_view text; view.next(text);) reply.cells.emplace_back(text);
    return view.complaint();
}

} // namespace ipc::codecs::testing
