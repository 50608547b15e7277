#pragma once

#include "codecs/custom_view.hpp"

namespace ipc::codecs {

// The project's own serializer: lengths and texts one after the other, docs/wire-formats.md "Custom codec".
template <class Texts>
class BasicCustom : public DomainAccess<Texts> {
  public:
    static constexpr std::string_view id = "custom";
    using Request = BasicRequest<Texts>;
    using Reply = BasicReply<Texts>;
    using RequestView = CustomRequestView;
    using ReplyView = CustomReplyView;

    size_t size(const Request& request) const;
    size_t size(const Reply& reply) const;
    void write(const Request& request, uint8_t* room) const;
    void write(const Reply& reply, uint8_t* room) const;
    // How many bytes were written, or 0: the room is too small for this object.
    size_t write_if_it_fits(const Request& request, std::span<uint8_t> room) const;
    size_t write_if_it_fits(const Reply& reply, std::span<uint8_t> room) const;
    std::string decode(Bytes bytes, Request& request) const;
    std::string decode(Bytes bytes, Reply& reply) const;
};

using Custom = BasicCustom<Strings>;

} // namespace ipc::codecs
