// The bytes of today are the bytes of the committed files, and those decode to the objects described beside them.
#include "codecs/collection.hpp"
#include "codecs/custom.hpp"
#include "codecs/flatbuffers.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "golden_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace ipc::codecs::golden_test {
namespace {

std::vector<uint8_t> committed(const std::string& name) {
    std::ifstream file(std::string(IPC_GOLDEN_FOLDER) + "/" + name, std::ios::binary);
    EXPECT_TRUE(file) << name << " is missing: write it with golden-writer";
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Golden, FilesAreWhatIsWrittenNow) {
    for (const auto& [name, bytes] : testing::golden_files()) EXPECT_EQ(committed(name), bytes) << name;
}

TEST(Golden, NoFileIsLeftFromFormerTimes) {
    const auto files = testing::golden_files();
    for (const auto& entry : std::filesystem::directory_iterator(IPC_GOLDEN_FOLDER)) {
        const std::string name = entry.path().filename().string();
        // layouts.txt is layout-check's.
        EXPECT_TRUE(name == "README.md" || name == "layouts.txt" || files.contains(name)) << name;
    }
}

template <class Codec>
class GoldenObjects : public ::testing::Test {};
using Codecs = ::testing::Types<Custom, FlatBuffers, Protobuf, Json>;
TYPED_TEST_SUITE(GoldenObjects, Codecs);

TYPED_TEST(GoldenObjects, AreDecoded) {
    TypeParam codec;
    const std::string end = "." + std::string(TypeParam::id);
    Request request;
    Reply reply;
    EXPECT_EQ(codec.decode(committed("request" + end), request), "");
    EXPECT_EQ(request, testing::golden_request());
    EXPECT_EQ(codec.decode(committed("reply" + end), reply), "");
    EXPECT_EQ(reply, testing::golden_reply());
    EXPECT_EQ(codec.decode(committed("request-edge" + end), request), "");
    EXPECT_EQ(request, testing::golden_edge_request());
    EXPECT_EQ(codec.decode(committed("reply-edge" + end), reply), "");
    EXPECT_EQ(reply, testing::golden_edge_reply());
}

template <class Codec, class Object>
std::vector<Object> split_objects(Codec& codec, const std::vector<uint8_t>& collection) {
    std::vector<Object> objects;
    EXPECT_EQ(split<Codec>(collection, [&](Bytes bytes) { return codec.decode(bytes, objects.emplace_back()); }), "");
    return objects;
}

TYPED_TEST(GoldenObjects, AreSplit) {
    TypeParam codec;
    const std::string end = "." + std::string(TypeParam::id);
    const std::vector<Request> requests{testing::golden_request(), testing::golden_edge_request(),
                                        testing::golden_request()};
    EXPECT_EQ((split_objects<TypeParam, Request>(codec, committed("requests" + end))), requests);
    const std::vector<Reply> replies{testing::golden_reply(), testing::golden_edge_reply(), testing::golden_reply()};
    EXPECT_EQ((split_objects<TypeParam, Reply>(codec, committed("replies" + end))), replies);
}

// The frames around the objects are those that Protocol Buffers itself reads and writes.
TEST(Golden, ProtobufCollectionsAreMessages) {
    const std::vector<uint8_t> bytes = committed("replies.protobuf");
    lab::Replies replies;
    ASSERT_TRUE(replies.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    ASSERT_EQ(replies.replies_size(), 3);
    EXPECT_EQ(ProtobufDirect::to_domain(replies.replies(1)), testing::golden_edge_reply());
    const std::string written = replies.SerializeAsString();
    EXPECT_TRUE(std::equal(written.begin(), written.end(), bytes.begin(), bytes.end(),
                           [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }));
}

// Cut anywhere, a collection is refused, or has lost whole objects at its end; and no byte beyond it is read.
TYPED_TEST(GoldenObjects, OfCutCollectionsAreRefused) {
    TypeParam codec;
    const std::vector<uint8_t> whole = committed("replies." + std::string(TypeParam::id));
    size_t sound = 0;
    for (size_t length = 0; length < whole.size(); ++length) {
        const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
        Reply reply;
        if (split<TypeParam>(cut, [&](Bytes bytes) { return codec.decode(bytes, reply); }).empty()) ++sound;
    }
    EXPECT_EQ(sound, 3u) << "nothing, one object, and two";
}

TEST(Collections, LengthsThatCannotBeAreRefused) {
    const auto complaint = []<class Codec>(std::vector<uint8_t> bytes) {
        return split<Codec>(bytes, [](Bytes) { return std::string(); });
    };
    EXPECT_NE(complaint.operator()<Custom>({255, 255, 255, 255, 0}), "");
    EXPECT_NE(complaint.operator()<Custom>({1, 0, 0}), "");
    EXPECT_NE(complaint.operator()<Protobuf>({0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}), "");
    EXPECT_NE(complaint.operator()<Protobuf>({0x0A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), "");
    EXPECT_NE(complaint.operator()<Protobuf>({0x0A}), "");
    EXPECT_NE(complaint.operator()<Protobuf>({0x12, 0}), "");
    EXPECT_NE(complaint.operator()<Json>({'{', '}'}), "");
}

// The generator itself, by numbers worked out apart from the code (splitmix64 is published with them for seed 1234567).
TEST(Golden, ObjectsAreTheGeneratorsOwn) {
    const Request request = testing::golden_request();
    EXPECT_EQ(request.sequence, 7u);
    EXPECT_EQ(request.name, "measurements");
    ASSERT_EQ(request.ids.size(), 3u);
    ASSERT_EQ(request.fields.size(), 10u);
    EXPECT_EQ(request.ids[0].size(), 20u);
    EXPECT_EQ(request.fields[9].size(), 10u);
    EXPECT_EQ(testing::golden_reply().cells.size(), 30u);
    EXPECT_EQ(testing::golden_reply().columns, 10u);
}

} // namespace
} // namespace ipc::codecs::golden_test
