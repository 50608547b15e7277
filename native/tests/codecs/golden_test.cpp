// The bytes of today are the bytes of the committed files, and those decode to the objects described beside them.
#include "codecs/custom.hpp"
#include "codecs/json.hpp"
#include "codecs/protobuf.hpp"
#include "golden_files.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace ipc::codecs {
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
using Codecs = ::testing::Types<Custom, Protobuf, Json>;
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
} // namespace ipc::codecs
