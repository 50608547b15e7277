// Decoders against bytes no encoder of ours made: refused with an error message, never believed, never worth much memory.
#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "largest_allocation.hpp"
#include "random_objects.hpp"
#include "taken_from_view.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace ipc::codecs::hostile_bytes_test {
namespace {

using Made = std::vector<uint8_t>;

template <class Codec, class Object>
Made made_by(const Object& object) {
    Codec codec;
    Buffer buffer;
    encode(codec, object, buffer);
    return {buffer.bytes().begin(), buffer.bytes().end()};
}

Made bytes_of(std::string_view text) {
    return {text.begin(), text.end()};
}

template <class Object, class Codec>
std::string complaint_about(const Made& bytes) {
    Codec codec;
    Object object;
    return codec.decode(bytes, object);
}

template <class Codec>
class Hostile : public ::testing::Test {};
using StrictCodecs = ::testing::Types<Custom, FlatBuffers, Json>;
TYPED_TEST_SUITE(Hostile, StrictCodecs);

TYPED_TEST(Hostile, EveryTruncationIsRefused) {
    testing::RandomObjects random(30);
    const Made request = made_by<TypeParam>(random.request(9));
    for (size_t length = 0; length < request.size(); ++length)
        ASSERT_NE(
            (complaint_about<Request, TypeParam>({request.begin(), request.begin() + static_cast<ptrdiff_t>(length)})),
            "")
            << length;
    const Made reply = made_by<TypeParam>(random.reply(20));
    for (size_t length = 0; length < reply.size(); ++length)
        ASSERT_NE((complaint_about<Reply, TypeParam>({reply.begin(), reply.begin() + static_cast<ptrdiff_t>(length)})),
                  "")
            << length;
}

TYPED_TEST(Hostile, BytesLeftOverAreRefused) {
    Made request = made_by<TypeParam>(Request{1, "n", {"a"}, {"b"}});
    request.push_back('x');
    EXPECT_NE((complaint_about<Request, TypeParam>(request)), "");
    Made reply = made_by<TypeParam>(Reply{1, 1, {"a"}});
    reply.push_back('x');
    EXPECT_NE((complaint_about<Reply, TypeParam>(reply)), "");
}

// proto3 cannot tell a message cut between fields from a shorter one; what it takes is then a part of the original.
TEST(HostileProtobuf, TruncationsAreRefusedOrShorter) {
    testing::RandomObjects random(31);
    const Reply original = random.reply(20);
    const Made bytes = made_by<Protobuf>(original);
    Protobuf codec;
    for (size_t length = 0; length < bytes.size(); ++length) {
        Reply reply;
        if (!codec.decode({bytes.data(), length}, reply).empty()) continue;
        ASSERT_LT(reply.cells.size(), original.cells.size());
        ASSERT_TRUE(std::equal(reply.cells.begin(), reply.cells.end(), original.cells.begin()));
    }
}

template <class Codec>
class Damaged : public ::testing::Test {};
using AllCodecs = ::testing::Types<Custom, FlatBuffers, Protobuf, Json>;
TYPED_TEST_SUITE(Damaged, AllCodecs);

// Whatever a decoder accepts is a good object: it can be encoded and decoded again.
TYPED_TEST(Damaged, IsRefusedOrAGoodObject) {
    std::mt19937 random(32);
    testing::RandomObjects objects(33);
    TypeParam codec;
    Request request;
    for (int i = 0; i < 3000; ++i) {
        Made bytes = made_by<TypeParam>(objects.request(6));
        for (int changes = 0; changes < 3; ++changes) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
        if (!codec.decode(bytes, request).empty()) continue;
        const Made again = made_by<TypeParam>(request);
        Request same;
        ASSERT_EQ(codec.decode(again, same), "");
        ASSERT_EQ(same, request);
    }
}

// Reading in place shows what decoding would give, and complains in the same words, whatever the bytes.
template <class Codec, class Object>
void expect_same_in_place(const Made& bytes) {
    Codec codec;
    Object decoded, viewed;
    const std::string complaint = codec.decode(bytes, decoded);
    ASSERT_EQ(testing::take_from_view<Codec>(bytes, viewed), complaint);
    ASSERT_TRUE(!complaint.empty() || viewed == decoded);
}

template <class Codec>
class Views : public ::testing::Test {};
using ViewedCodecs = ::testing::Types<Custom, FlatBuffers>;
TYPED_TEST_SUITE(Views, ViewedCodecs);

TYPED_TEST(Views, ShowWhatTheDecoderFinds) {
    std::mt19937 random(34);
    testing::RandomObjects objects(35);
    for (int i = 0; i < 3000; ++i) {
        Made request = made_by<TypeParam>(objects.request(6));
        Made reply = made_by<TypeParam>(objects.reply(10));
        expect_same_in_place<TypeParam, Request>(request);
        expect_same_in_place<TypeParam, Reply>(reply);
        for (int changes = 0; changes < 2; ++changes) {
            request[random() % request.size()] = static_cast<uint8_t>(random());
            reply[random() % reply.size()] = static_cast<uint8_t>(random());
            expect_same_in_place<TypeParam, Request>(request);
            expect_same_in_place<TypeParam, Reply>(reply);
        }
        request.resize(random() % (request.size() + 1));
        reply.resize(random() % (reply.size() + 1));
        expect_same_in_place<TypeParam, Request>(request);
        expect_same_in_place<TypeParam, Reply>(reply);
    }
}

TYPED_TEST(Views, TakeNoMemory) {
    const Made reply = made_by<TypeParam>(Reply{1, 10, Strings(10'000, "abcdefghijklmnopqrst")});
    testing::forget_allocations();
    size_t cells = 0;
    typename TypeParam::ReplyView view(reply);
    for (std::string_view cell; view.next(cell);) cells += cell.size() == 20;
    EXPECT_EQ(cells, 10'000u);
    EXPECT_EQ(view.complaint(), "");
    EXPECT_EQ(testing::largest_allocation(), 0u);
}

// An encoder that has once written an object as large needs no memory for the next ones.
TYPED_TEST(Views, AreOfMessagesWhoseEncoderTakesNoMemoryAgain) {
    testing::RandomObjects objects(36);
    TypeParam codec;
    Buffer buffer;
    const Reply large = objects.reply(2000);
    encode(codec, large, buffer);
    const Reply small = objects.reply(20);
    testing::forget_allocations();
    encode(codec, small, buffer);
    encode(codec, large, buffer);
    EXPECT_EQ(testing::largest_allocation(), 0u);
}

Made with_u32(Made bytes, size_t at, uint32_t value) {
    std::memcpy(&bytes[at], &value, sizeof value);
    return bytes;
}

TEST(HostileCustom, CountsAreBelievedOnlyAsFarAsTheBytesGo) {
    const Made request = made_by<Custom>(Request{1, "n", {"a"}, {"b"}});
    const Made reply = made_by<Custom>(Reply{1, 1, {"a"}});
    testing::forget_allocations();
    for (uint32_t count : {5u, 1000u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
        EXPECT_NE((complaint_about<Request, Custom>(with_u32(request, 8, count))), "") << count;
        EXPECT_NE((complaint_about<Request, Custom>(with_u32(request, 12, count))), "") << count;
        EXPECT_NE((complaint_about<Request, Custom>(with_u32(with_u32(request, 8, count), 12, 0u - count))), "")
            << count;
        EXPECT_NE((complaint_about<Reply, Custom>(with_u32(reply, 12, count))), "") << count;
        EXPECT_NE((complaint_about<Request, Custom>(with_u32(request, 16, count))), "") << count; // the name's length
        EXPECT_NE((complaint_about<Reply, Custom>(with_u32(reply, 16, count))), "") << count;     // the cell's
    }
    EXPECT_LT(testing::largest_allocation(), 4096u);
}

TEST(HostileCustom, ComplaintsNameTheTroubleAndThePlace) {
    Made reply = made_by<Custom>(Reply{1, 1, {"abc"}});
    EXPECT_EQ((complaint_about<Reply, Custom>(with_u32(reply, 16, 99))),
              "the custom reply promises a text of 99 bytes where 3 are left at byte 20: check that the peer sends it "
              "with codec custom");
    reply[20] = 0xFF;
    EXPECT_EQ(
        (complaint_about<Reply, Custom>(reply)),
        "the custom reply has a text that is not UTF-8 at byte 20: check that the peer sends it with codec custom");
}

TEST(HostileFlatBuffers, ComplaintsNameTheTrouble) {
    const std::string remedy = ": check that the peer sends it with codec flatbuffers and the same ipc.fbs";
    EXPECT_EQ((complaint_about<Reply, FlatBuffers>({1, 2, 3})), "the flatbuffers reply of 3 bytes is damaged" + remedy);
    Made reply = made_by<FlatBuffers>(Reply{1, 1, {"abc"}});
    const std::string of = "the flatbuffers reply of " + std::to_string(reply.size()) + " bytes ";
    reply[reply.size() - 2] = 0xFF; // the text's last character
    EXPECT_EQ((complaint_about<Reply, FlatBuffers>(reply)), of + "has a text that is not UTF-8" + remedy);
    reply.back() = 'd'; // where its zero was
    EXPECT_EQ((complaint_about<Reply, FlatBuffers>(reply)), of + "is damaged" + remedy);
}

// A message whose offsets all lead to one text would otherwise ask for a thousand times its own memory.
TEST(HostileFlatBuffers, TextsThatManyOffsetsShareTakeNoMoreThanTheMessage) {
    flatbuffers::FlatBufferBuilder builder;
    const auto shared = builder.CreateString(std::string(10'000, 'x'));
    const std::vector<flatbuffers::Offset<flatbuffers::String>> cells(2'000, shared);
    builder.Finish(lab::flat::CreateReply(builder, 1, 1, builder.CreateVector(cells)));
    const Made bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    testing::forget_allocations();
    EXPECT_NE((complaint_about<Reply, FlatBuffers>(bytes)).find("has texts that overlap"), std::string::npos);
    EXPECT_LT(testing::largest_allocation(), 10 * bytes.size());
}

// Not as the sender made them but as FlatBuffers reads them: from memory that is not aligned, too.
TEST(HostileFlatBuffers, IsDecodedFromAnyAddress) {
    const Reply sent{7, 2, {"a", "bc", "def"}};
    const Made made = made_by<FlatBuffers>(sent);
    for (size_t shift = 0; shift < 8; ++shift) {
        Made shifted(shift + made.size());
        std::copy(made.begin(), made.end(), shifted.begin() + static_cast<ptrdiff_t>(shift));
        FlatBuffers codec;
        Reply reply;
        EXPECT_EQ(codec.decode(Bytes(shifted).subspan(shift), reply), "");
        EXPECT_EQ(reply, sent);
    }
}

TEST(HostileProtobuf, TextsThatAreNotUtf8AreRefused) {
    Made reply = made_by<Protobuf>(Reply{1, 1, {"abc"}});
    reply.back() = 0xFF;
    EXPECT_NE((complaint_about<Reply, Protobuf>(reply)), "");
}

class HostileJson : public ::testing::TestWithParam<const char*> {};

TEST_P(HostileJson, IsRefused) {
    EXPECT_NE((complaint_about<Reply, Json>(bytes_of(GetParam()))), "");
}

INSTANTIATE_TEST_SUITE_P(
    Texts, HostileJson,
    ::testing::Values("", "null", "1", "\"text\"", "[]", "{}", "[{\"sequence\":1,\"columns\":1,\"cells\":[]}]",
                      "{\"sequence\":1,\"columns\":1}", "{\"sequence\":1,\"cells\":[]}", "{\"columns\":1,\"cells\":[]}",
                      "{\"sequence\":-1,\"columns\":1,\"cells\":[]}", "{\"sequence\":1.0,\"columns\":1,\"cells\":[]}",
                      "{\"sequence\":18446744073709551616,\"columns\":1,\"cells\":[]}",
                      "{\"sequence\":1,\"columns\":4294967296,\"cells\":[]}",
                      "{\"sequence\":\"1\",\"columns\":1,\"cells\":[]}", "{\"sequence\":1,\"columns\":1,\"cells\":{}}",
                      "{\"sequence\":1,\"columns\":1,\"cells\":null}", "{\"sequence\":1,\"columns\":1,\"cells\":\"a\"}",
                      "{\"sequence\":1,\"columns\":1,\"cells\":[1]}", "{\"sequence\":1,\"columns\":1,\"cells\":[null]}",
                      "{\"sequence\":1,\"columns\":1,\"cells\":[[]]}", "{\"sequence\":1,\"columns\":1,\"cells\":[{}]}",
                      "{\"sequence\":{},\"columns\":1,\"cells\":[]}", "{\"sequence\":1,\"columns\":1,\"cells\":[],}",
                      "{\"sequence\":1,\"columns\":1,\"cells\":[\"\xFF\"]}",
                      "{\"sequence\":1,\"columns\":1,\"cells\":[\"\\ud800\"]}",
                      "{\"other\":{\"sequence\":1,\"columns\":1,\"cells\":[]}}"));

class LenientJson : public ::testing::TestWithParam<const char*> {};

TEST_P(LenientJson, IsUnderstood) {
    Json codec;
    Reply reply{9, 9, {"old", "older", "oldest"}};
    EXPECT_EQ(codec.decode(bytes_of(GetParam()), reply), "");
    EXPECT_EQ(reply, (Reply{1, 2, {"a", "b"}}));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, LenientJson,
    ::testing::Values(
        " {\n\"cells\" : [ \"a\" , \"b\" ] , \"columns\":2,\t\"sequence\":1 } ",
        "{\"more\":[[{\"cells\":[1,\"x\",null]}],true],\"sequence\":1,\"columns\":2,\"also\":{\"sequence\":{}},"
        "\"cells\":[\"a\",\"\\u0062\"],\"last\":1e3}",
        "{\"cells\":[\"first\",\"of\",\"two\"],\"sequence\":7,\"columns\":2,\"cells\":[\"a\",\"b\"],\"sequence\":1}"));

// Texts at the borders of what the fast reader takes: whatever it does with them, the strict reader has the last word.
TEST(HostileJson, BothReadersSayTheSame) {
    std::vector<std::string> texts;
    const std::string columns_and_cells = ",\"columns\":1,\"cells\":[\"a\"]}";
    for (const char* number : {"0", "-0", "01", "1", "+1", "1.0", "1e2", "1E0", "0x1", "18446744073709551615",
                               "18446744073709551616", "-1", "1 ", " 1", "1a", "NaN", "true", "\"1\"", ""})
        texts.push_back("{\"sequence\":" + std::string(number) + columns_and_cells);
    for (const char* text :
         {"\\ud800", "\\udc00", "\\ud83d\\ude00", "\\ude00\\ud83d", "\\u0000", "\\x", "\\", "\\u12", "\t", "\x7f",
          "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\xc3\xa4", "\\/", "\\u00e4", "\\b\\f\\n\\r\\t\\\""})
        texts.push_back("{\"sequence\":1,\"columns\":1,\"cells\":[\"" + std::string(text) + "\"]}");
    const std::string good = "{\"sequence\":1" + columns_and_cells;
    for (const char* behind : {" ", "\n", "x", "{}", "]", "}", ",", "\"", "1", "null"}) texts.push_back(good + behind);
    for (const char* before : {" ", "\xEF\xBB\xBF", "x", ",", "[", "{", "\f"}) texts.push_back(before + good);
    for (const char* between : {"", ",", ",,", ":", ";", " x ", ",1", ",\"b\"", " \"b\""})
        texts.push_back("{\"sequence\":1,\"columns\":1,\"cells\":[\"a\"" + std::string(between) + "]}");
    for (const char* name : {"\\u0073equence", "Sequence", "sequence\\u0000", "", "sequence\" :\n \"x"})
        texts.push_back("{\"" + std::string(name) + "\":1" + columns_and_cells);
    for (const std::string& text : texts) {
        Json codec;
        Reply fast, strict;
        const std::string complaint = codec.decode(bytes_of(text), fast);
        EXPECT_EQ(complaint, Json::decode_strictly(bytes_of(text), strict)) << text;
        if (complaint.empty()) {
            EXPECT_EQ(fast, strict) << text;
        }
    }
}

// Every text cut short and with every byte changed, as a broken or hostile peer would.
TEST(HostileJson, BothReadersSayTheSameOfDamagedTexts) {
    Json codec;
    const Made whole = made_by<Json>(Reply{1, 2, {"plain", "\"quoted\\", "\xc3\xa4\n\x01"}});
    const auto compare = [&](const Made& text) {
        Reply fast, strict;
        const std::string complaint = codec.decode(text, fast);
        ASSERT_EQ(complaint, Json::decode_strictly(text, strict));
        if (complaint.empty()) {
            ASSERT_EQ(fast, strict);
        }
    };
    for (size_t length = 0; length <= whole.size(); ++length)
        compare(Made(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    for (size_t at = 0; at < whole.size(); ++at)
        for (int byte = 0; byte < 256; ++byte) {
            Made changed = whole;
            changed[at] = static_cast<uint8_t>(byte);
            compare(changed);
        }
}

TEST(JsonWriter, EscapesAreThoseOfTheOtherLanguage) {
    const Made text = made_by<Json>(Reply{1, 1, {"\x01\x1f\n\"\\u00AF/\x7f", "\\u001F"}});
    EXPECT_EQ(std::string(text.begin(), text.end()),
              "{\"sequence\":1,\"columns\":1,\"cells\":[\"\\u0001\\u001f\\n\\\"\\\\u00AF/\x7f\",\"\\\\u001F\"]}");
}

TEST(HostileJson, DepthCostsLittle) {
    const std::string deep = "{\"other\":" + std::string(200'000, '[');
    testing::forget_allocations();
    const std::string complaint = complaint_about<Reply, Json>(bytes_of(deep));
    EXPECT_NE(complaint, "");
    EXPECT_LT(testing::largest_allocation(), 1'000'000u);
}

TEST(Encoders, RefuseTextTheyNoticeIsNotUtf8) {
    Json codec;
    EXPECT_THROW(codec.size(Reply{1, 1, {"\xFF"}}), std::invalid_argument);
}

} // namespace
} // namespace ipc::codecs::hostile_bytes_test
