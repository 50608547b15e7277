#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipc::codecs {

using Strings = std::vector<std::string>;
// The container that scenario `serialize` compares with: one heap block per element.
using LinkedStrings = std::list<std::string>;

// "Give me these rows and columns of that table." All texts are UTF-8.
template <class Texts>
struct BasicRequest {
    uint64_t sequence = 0; // counts the exchanges of one connection; the reply repeats it
    std::string name;      // of the table asked
    Texts ids;             // rows
    Texts fields;          // columns

    bool operator==(const BasicRequest&) const = default;
};

// The cells asked for, row after row.
template <class Texts>
struct BasicReply {
    uint64_t sequence = 0;
    uint32_t columns = 0; // cells per row
    Texts cells;

    bool operator==(const BasicReply&) const = default;
};

// The domain objects: what a program that knows nothing of codecs works with.
using Request = BasicRequest<Strings>;
using Reply = BasicReply<Strings>;

// The object of workload `ping`, both ways.
struct Text {
    uint64_t sequence = 0;
    std::string text;

    bool operator==(const Text&) const = default;
};

template <class Left, class Right>
bool same_texts(const Left& left, const Right& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

// Reads every character of every text, as a program that uses the object would.
template <class Texts>
uint64_t sum_of_characters(const Texts& texts) {
    uint64_t sum = 0;
    for (const std::string& text : texts)
        for (char character : text) sum += static_cast<unsigned char>(character);
    return sum;
}

// How code written for any codec reaches into the objects of the codecs that work on domain objects.
// protobuf_direct.hpp has the same functions for its messages.
template <class Texts>
struct DomainAccess {
    using Request = BasicRequest<Texts>;
    using Reply = BasicReply<Texts>;

    template <class Object>
    static uint64_t sequence(const Object& object) {
        return object.sequence;
    }
    template <class Object>
    static void set_sequence(Object& object, uint64_t sequence) {
        object.sequence = sequence;
    }
    static const Texts& ids(const Request& request) { return request.ids; }
    static const Texts& fields(const Request& request) { return request.fields; }

    static void build(const codecs::Request& from, Request& to) {
        to.sequence = from.sequence;
        to.name = from.name;
        to.ids.assign(from.ids.begin(), from.ids.end());
        to.fields.assign(from.fields.begin(), from.fields.end());
    }
    static void build(const codecs::Reply& from, Reply& to) {
        to.sequence = from.sequence;
        to.columns = from.columns;
        to.cells.assign(from.cells.begin(), from.cells.end());
    }
    static void build(const Text& from, Text& to) { to = from; }

    static codecs::Request to_domain(const Request& from) {
        return {from.sequence, from.name, {from.ids.begin(), from.ids.end()}, {from.fields.begin(), from.fields.end()}};
    }
    static codecs::Reply to_domain(const Reply& from) {
        return {from.sequence, from.columns, {from.cells.begin(), from.cells.end()}};
    }

    // Whether the contents are the same; sequences are compared by whoever counts them.
    static bool same(const Request& request, const codecs::Request& expected) {
        return request.name == expected.name && same_texts(request.ids, expected.ids) &&
               same_texts(request.fields, expected.fields);
    }
    static bool same(const Reply& reply, const codecs::Reply& expected) {
        return reply.columns == expected.columns && same_texts(reply.cells, expected.cells);
    }
    static bool same(const Text& text, const Text& expected) { return text.text == expected.text; }

    static uint64_t traverse(const Request& request) {
        return sum_of_characters(request.ids) + sum_of_characters(request.fields);
    }
    static uint64_t traverse(const Reply& reply) { return sum_of_characters(reply.cells); }

    static void set_cells(Reply& reply, uint32_t columns, std::span<const std::string_view> cells) {
        reply.columns = columns;
        reply.cells.resize(cells.size());
        std::copy(cells.begin(), cells.end(), reply.cells.begin());
    }
};

} // namespace ipc::codecs
