#include "win32/error_text.hpp"
#include "win32/utf.hpp"

#include <gtest/gtest.h>

namespace ipc::win32 {
namespace {

TEST(Text, GoesToUtf16AndBack) {
    const std::string text = "a\u00e9\u4e16\U0001F600";
    EXPECT_EQ(to_utf8(to_wide(text)), text);
    EXPECT_EQ(to_wide(text).size(), 5u); // the last one is a surrogate pair
    EXPECT_EQ(to_utf8(L""), "");
}

TEST(Text, AnErrorIsNamedInWordsAndWithItsNumber) {
    const std::string text = error_text(ERROR_ACCESS_DENIED);
    EXPECT_NE(text.find("(error 5)"), std::string::npos) << text;
    EXPECT_GT(text.size(), 15u) << "no words: " << text;
}

TEST(Text, AnUnknownErrorIsItsNumber) {
    EXPECT_EQ(error_text(0x2FFFFFFF), "error 805306367");
}

TEST(Text, AFailureEndsWithTheSystemsWords) {
    EXPECT_EQ(fail_windows(IPC_SYSTEM, ERROR_ACCESS_DENIED, "cannot open '%s'", "x"), IPC_SYSTEM);
    EXPECT_EQ(std::string(last_error()), "cannot open 'x': " + error_text(ERROR_ACCESS_DENIED));
}

} // namespace
} // namespace ipc::win32
