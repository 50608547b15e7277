#pragma once

#include "codecs/codec.hpp"
#include "ipc.pb.h" // compiled from proto/ipc.proto at build time

namespace ipc::codecs {

// Protocol Buffers with its own messages used as the objects. A proto3 reader fills in defaults for what is missing and
// skips what it does not know: a message cut exactly between two fields decodes, to a shorter object.
class ProtobufDirect {
  public:
    static constexpr std::string_view id = "protobuf-direct";
    using Request = lab::Request;
    using Reply = lab::Reply;

    size_t size(const Request& request) const;
    size_t size(const Reply& reply) const;
    void write(const Request& request, uint8_t* room) const;
    void write(const Reply& reply, uint8_t* room) const;
    std::string decode(Bytes bytes, Request& request) const;
    std::string decode(Bytes bytes, Reply& reply) const;

    // The same reach into the objects as DomainAccess (objects.hpp).
    template <class Object>
    static uint64_t sequence(const Object& object) {
        return object.sequence();
    }
    template <class Object>
    static void set_sequence(Object& object, uint64_t sequence) {
        object.set_sequence(sequence);
    }
    static const auto& ids(const Request& request) { return request.ids(); }
    static const auto& fields(const Request& request) { return request.fields(); }
    static codecs::Request to_domain(const Request& from);
    static codecs::Reply to_domain(const Reply& from);
    static bool same(const Request& request, const codecs::Request& expected);
    static bool same(const Reply& reply, const codecs::Reply& expected);
    static uint64_t traverse(const Request& request);
    static uint64_t traverse(const Reply& reply);
    static void set_cells(Reply& reply, uint32_t columns, std::span<const std::string_view> cells);

    // From domain objects, whatever their container.
    template <class Texts>
    static void build(const BasicRequest<Texts>& from, Request& to) {
        to.set_sequence(from.sequence);
        to.set_name(from.name);
        copy_texts(from.ids, *to.mutable_ids());
        copy_texts(from.fields, *to.mutable_fields());
    }
    template <class Texts>
    static void build(const BasicReply<Texts>& from, Reply& to) {
        to.set_sequence(from.sequence);
        to.set_columns(from.columns);
        copy_texts(from.cells, *to.mutable_cells());
    }

  private:
    // Clear keeps the strings of a repeated field for the next Add: a reused message allocates nothing.
    template <class Texts>
    static void copy_texts(const Texts& from, google::protobuf::RepeatedPtrField<std::string>& to) {
        to.Clear();
        to.Reserve(static_cast<int>(from.size()));
        for (const std::string& text : from) *to.Add() = text;
    }
};

} // namespace ipc::codecs
