// What goes in comes out, for every codec, whatever the objects and whatever the reused object held before.
#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "codecs/protobuf_direct.hpp"
#include "codecs/utf8.hpp"
#include "random_objects.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace ipc::codecs::round_trip_test {
namespace {

template <class Codec>
class RoundTrip : public ::testing::Test {
  protected:
    // Through the codec into `into`, and back as a domain object.
    template <class Domain, class Object>
    Domain pass(const Domain& domain, Object& into) {
        Object object;
        Codec::build(domain, object);
        encode(codec_, object, buffer_);
        EXPECT_EQ(codec_.decode(buffer_.bytes(), into), "");
        EXPECT_EQ(Codec::sequence(into), domain.sequence);
        EXPECT_TRUE(Codec::same(into, domain));
        return Codec::to_domain(into);
    }

    Codec codec_;
    Buffer buffer_;
    typename Codec::Request request_;
    typename Codec::Reply reply_;
};

using Codecs =
    ::testing::Types<Custom, FlatBuffers, Protobuf, ProtobufDirect, Json, BasicCustom<LinkedStrings>,
                     BasicFlatBuffers<LinkedStrings>, BasicProtobuf<LinkedStrings>, BasicJson<LinkedStrings>>;
TYPED_TEST_SUITE(RoundTrip, Codecs);

TYPED_TEST(RoundTrip, EmptyObjects) {
    EXPECT_EQ(this->pass(Request{}, this->request_), Request{});
    EXPECT_EQ(this->pass(Reply{}, this->reply_), Reply{});
}

TYPED_TEST(RoundTrip, RandomObjectsIntoReusedOnes) {
    testing::RandomObjects random(20);
    for (int i = 0; i < 300; ++i) {
        const Request request = random.request(12);
        ASSERT_EQ(this->pass(request, this->request_), request) << "object " << i;
        const Reply reply = random.reply(30);
        ASSERT_EQ(this->pass(reply, this->reply_), reply) << "object " << i;
    }
}

TYPED_TEST(RoundTrip, ManyRows) {
    const Reply reply{~uint64_t{0}, 10, Strings(50'000, "abcdefghijklmnopqrst")};
    EXPECT_EQ(this->pass(reply, this->reply_), reply);
    EXPECT_EQ(TypeParam::traverse(this->reply_), 50'000u * 2130u); // the characters' codes
}

TYPED_TEST(RoundTrip, DifferencesAreSeen) {
    const Request request{1, "name", {"a", "b"}, {"c"}};
    this->pass(request, this->request_);
    EXPECT_FALSE(TypeParam::same(this->request_, Request{1, "nome", {"a", "b"}, {"c"}}));
    EXPECT_FALSE(TypeParam::same(this->request_, Request{1, "name", {"a"}, {"c"}}));
    EXPECT_FALSE(TypeParam::same(this->request_, Request{1, "name", {"a", "b"}, {"d"}}));
    const Reply reply{1, 2, {"a", "b"}};
    this->pass(reply, this->reply_);
    EXPECT_FALSE(TypeParam::same(this->reply_, Reply{1, 1, {"a", "b"}}));
    EXPECT_FALSE(TypeParam::same(this->reply_, Reply{1, 2, {"a", "b", ""}}));
}

TYPED_TEST(RoundTrip, SequenceIsStamped) {
    TypeParam::set_sequence(this->request_, 41);
    TypeParam::set_sequence(this->reply_, ~uint64_t{0});
    EXPECT_EQ(TypeParam::sequence(this->request_), 41u);
    EXPECT_EQ(TypeParam::sequence(this->reply_), ~uint64_t{0});
}

TYPED_TEST(RoundTrip, CellsAreSet) {
    TypeParam::build(Reply{1, 3, {"x", "y", "z", "w"}}, this->reply_);
    const std::string_view cells[] = {"a", "", "ccc"};
    TypeParam::set_cells(this->reply_, 1, cells);
    EXPECT_TRUE(TypeParam::same(this->reply_, Reply{0, 1, {"a", "", "ccc"}}));
}

TEST(ProtobufCodecs, HaveTheSameBytes) {
    testing::RandomObjects random(21);
    const Reply reply = random.reply(30);
    Protobuf translated;
    ProtobufDirect direct;
    lab::Reply message;
    ProtobufDirect::build(reply, message);
    Buffer one, other;
    encode(translated, reply, one);
    encode(direct, message, other);
    EXPECT_TRUE(std::ranges::equal(one.bytes(), other.bytes()));
}

TEST(JsonText, RoundTrip) {
    Json codec;
    Buffer buffer;
    encode(codec, Text{3, "ping"}, buffer);
    EXPECT_EQ(std::string(buffer.bytes().begin(), buffer.bytes().end()), R"({"sequence":3,"text":"ping"})");
    Text text;
    EXPECT_EQ(codec.decode(buffer.bytes(), text), "");
    EXPECT_EQ(text, (Text{3, "ping"}));
}

TEST(Buffer, KeepsItsMemoryWhenItNeedNotGrow) {
    Buffer buffer;
    const uint8_t* large = buffer.make_room(1000);
    EXPECT_EQ(buffer.make_room(10), large);
    EXPECT_EQ(buffer.size(), 10u);
}

TEST(Utf8, TellsWellFormedFromOther) {
    for (const char* good : {"", "a", "12345678", "123456789", "ä", "€", "\xED\x9F\xBF", "\xEE\x80\x80",
                             "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "abcdefgh😀"})
        EXPECT_TRUE(is_utf8(good, std::strlen(good))) << good;
    for (const char* bad : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80",
                            "\xED\xBF\xBF", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                            "\xFF", "abcdefgh\xF0\x9F\x98", "\xF0\x9F\x98\x41", "abcdefg\xE2\x82\x41"})
        EXPECT_FALSE(is_utf8(bad, std::strlen(bad)));
}

// The usual bit pattern, for any number, code point or not.
std::string in_utf8(uint32_t point) {
    const uint32_t following = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const uint32_t first_bits = following == 1 ? 0xC0 : following == 2 ? 0xE0 : 0xF0;
    std::string text(1, static_cast<char>(first_bits | point >> 6 * following));
    for (uint32_t i = following; i-- > 0;) text.push_back(static_cast<char>(0x80 | (point >> 6 * i & 0x3F)));
    return text;
}

TEST(Utf8, CodePointsAreTheOnesThereAre) {
    for (uint32_t point = 0x80; point < 0x120000; point += 7) {
        const std::string text = in_utf8(point);
        EXPECT_EQ(is_utf8(text.data(), text.size()), point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF))
            << std::hex << point;
    }
}

// Texts are copied and looked at in blocks that depend on their length: every length, and damage at every place.
TEST(CustomTexts, OfEveryLengthAreCopiedWholeAndNoFurther) {
    Custom codec;
    Buffer buffer;
    Reply back;
    for (size_t length = 0; length <= 70; ++length) {
        std::string text(length, 'a');
        for (size_t at = 0; at < length; ++at) text[at] = static_cast<char>('!' + at);
        const Reply reply{1, 2, {"", text, "z", text}};
        encode(codec, reply, buffer);
        ASSERT_EQ(buffer.size(), codec.size(reply));
        ASSERT_EQ(codec.decode(buffer.bytes(), back), "");
        ASSERT_EQ(back, reply);
        std::vector<uint8_t> damaged(buffer.bytes().begin(), buffer.bytes().end());
        const size_t first = 16 + 4 + 4; // behind the header, the empty text and the text's own length
        for (size_t at = 0; at < length; ++at) {
            const uint8_t was = std::exchange(damaged[first + at], 0x80);
            ASSERT_NE(codec.decode(damaged, back), "") << "byte " << at << " of " << length;
            damaged[first + at] = was;
        }
        for (const char* foreign : {"ä", "€", "😀"})
            for (size_t at = 0; at + std::strlen(foreign) <= length; ++at) {
                std::string mixed = text;
                mixed.replace(at, std::strlen(foreign), foreign);
                encode(codec, Reply{1, 1, {mixed}}, buffer);
                ASSERT_EQ(codec.decode(buffer.bytes(), back), "");
                ASSERT_EQ(back.cells[0], mixed);
            }
    }
}

TEST(CustomEncoding, ThatDoesNotFitWritesNothingBeyondItsRoom) {
    testing::RandomObjects random(22);
    Custom codec;
    for (int i = 0; i < 30; ++i) {
        const Request request = random.request(5);
        const Reply reply = random.reply(8);
        const auto try_every_room = [&](const auto& object) {
            const size_t size = codec.size(object);
            std::vector<uint8_t> expected(size);
            codec.write(object, expected.data());
            for (size_t room = 0; room <= size + 3; ++room) {
                std::vector<uint8_t> bytes(room + 32, 0xA5);
                ASSERT_EQ(codec.write_if_it_fits(object, std::span(bytes).first(room)), room < size ? 0 : size);
                ASSERT_EQ(std::count(bytes.begin() + static_cast<ptrdiff_t>(room), bytes.end(), 0xA5), 32);
                ASSERT_TRUE(room < size || std::equal(expected.begin(), expected.end(), bytes.begin()));
            }
        };
        try_every_room(request);
        try_every_room(reply);
    }
}

} // namespace
} // namespace ipc::codecs::round_trip_test
