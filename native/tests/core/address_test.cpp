#include "core/address.hpp"
#include "core/plain_name.hpp"
#include "core/registry.hpp"

#include <gtest/gtest.h>
#include <string>

namespace ipc {
namespace {

Status parse(const std::string& text) {
    Address address;
    return Address::parse(text, &address);
}

TEST(Address, TakesTransportNameAndOptionsApart) {
    Address address;
    ASSERT_EQ(Address::parse("shm://prices?wait=spin&max=1M", &address), IPC_OK) << last_error();
    EXPECT_EQ(address.text(), "shm://prices?wait=spin&max=1M");
    EXPECT_STREQ(address.transport().id, "shm");
    EXPECT_EQ(address.name(), "prices");
    EXPECT_EQ(address.option("wait"), "spin");
    EXPECT_EQ(address.limit(), 1048576u);
}

TEST(Address, OptionsHaveDefaults) {
    Address address;
    ASSERT_EQ(Address::parse("shm://prices", &address), IPC_OK) << last_error();
    EXPECT_EQ(address.option("wait"), "adaptive");
    EXPECT_EQ(address.option_count("spin"), 50u);
    EXPECT_EQ(address.limit(), 64u * 1024 * 1024);
}

TEST(Address, NameMayHoldSlashesAndColons) {
    Address address;
    ASSERT_EQ(Address::parse("unix:///run/user/prices.socket", &address), IPC_OK);
    EXPECT_EQ(address.name(), "/run/user/prices.socket");
    ASSERT_EQ(Address::parse("tcp://[::1]:5000?users=any", &address), IPC_OK);
    EXPECT_EQ(address.name(), "[::1]:5000");
}

TEST(Address, WithNameKeepsTheOptions) {
    Address address;
    ASSERT_EQ(Address::parse("tcp://127.0.0.1:0?max=2k", &address), IPC_OK);
    EXPECT_EQ(address.with_name("127.0.0.1:4711"), "tcp://127.0.0.1:4711?max=2k");
    ASSERT_EQ(Address::parse("tcp://0", &address), IPC_OK);
    EXPECT_EQ(address.with_name("4711"), "tcp://4711");
}

TEST(Address, MalformedOnesAreRefused) {
    for (const char* wrong : {"", "prices", "://prices", "unix:prices", "unix:/prices", "unix://", "unix://?max=1M",
                              "unix://prices?", "unix://prices?max", "unix://prices?max=1M&", "unix://prices?&max=1M"})
        EXPECT_EQ(parse(wrong), IPC_BAD_ADDRESS) << wrong;
    EXPECT_EQ(parse(std::string("unix://a\0b", 10)), IPC_BAD_ADDRESS);
}

TEST(Address, TransportAndOptionsAreCheckedAgainstTheRegistry) {
    EXPECT_EQ(parse("Unix://prices"), IPC_UNKNOWN_TRANSPORT);
    EXPECT_EQ(parse("carrier-pigeon://prices"), IPC_UNKNOWN_TRANSPORT);
    for (const char* wrong :
         {"unix://prices?colour=red", "unix://prices?wait=spin", "unix://prices?=1",
          "unix://prices?max=", "unix://prices?max=0", "unix://prices?max=lots", "unix://prices?max=1M&max=1M",
          "unix://prices?max=2147483649", "unix://prices?max=3G", "shm://prices?wait=", "shm://prices?wait=spin,block",
          "shm://prices?wait=dance", "shm://prices?spin=-1", "shm://prices?spin=1k"})
        EXPECT_EQ(parse(wrong), IPC_BAD_OPTION) << wrong;
}

TEST(Address, ErrorMessagesNameTheThingAndTheChoices) {
    EXPECT_EQ(parse("shm://prices?wait=dance"), IPC_BAD_OPTION);
    EXPECT_STREQ(last_error(), "option wait=dance of transport 'shm' must be one of adaptive,spin,block");
    EXPECT_EQ(parse("unix://prices?colour=red"), IPC_BAD_OPTION);
    EXPECT_NE(std::string(last_error()).find("'colour'"), std::string::npos);
    EXPECT_NE(std::string(last_error()).find("max"), std::string::npos);
}

TEST(Address, VeryLongTextsAreRefusedWithABoundedErrorMessage) {
    EXPECT_EQ(parse(std::string(1'000'000, 'x')), IPC_BAD_ADDRESS);
    EXPECT_EQ(parse("unix://prices?" + std::string(1'000'000, 'x') + "=1"), IPC_BAD_OPTION);
    EXPECT_LT(std::string(last_error()).size(), 1024u);
}

TEST(Address, PlainNames) {
    const auto check = [](const std::string& name) {
        Address address;
        const Status status = Address::parse("unix://" + name, &address);
        return status == IPC_OK ? check_plain_name(address) : status;
    };
    for (const std::string good : {"a", "prices", "A-b_c.9", "9", "-", "_.", "a..b"})
        EXPECT_EQ(check(good), IPC_OK) << good;
    EXPECT_EQ(check(std::string(80, 'x')), IPC_OK);
    EXPECT_EQ(check(std::string(81, 'x')), IPC_BAD_ADDRESS);
    for (const std::string wrong :
         {".", "..", ".hidden", "a/b", "../a", "a b", "a\n", "a\\b", "pr\xc3\xa4is", "a:b", "a%20"})
        EXPECT_EQ(check(wrong), IPC_BAD_ADDRESS) << wrong;
}

TEST(LastError, IsTheThreadsOwnAndBounded) {
    const std::string text(5000, 'y');
    EXPECT_EQ(fail(IPC_SYSTEM, "%s", text.c_str()), IPC_SYSTEM);
    EXPECT_EQ(std::string(last_error()).size(), 1023u);
    fail(IPC_SYSTEM, "first");
    EXPECT_EQ(fail(IPC_NO_SERVER, "second after %s", last_error()), IPC_NO_SERVER);
    EXPECT_STREQ(last_error(), "second after first");
    fail_system(IPC_SYSTEM, ENOENT, "cannot open %s", "x");
    EXPECT_NE(std::string(last_error()).find("cannot open x: No such file"), std::string::npos);
}

} // namespace
} // namespace ipc
