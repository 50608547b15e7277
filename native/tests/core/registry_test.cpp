#include "core/registry.hpp"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace ipc {
namespace {

TEST(Registry, HasEveryTransportOnce) {
    std::set<std::string> ids;
    for (const TransportEntry& entry : transports()) EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
    for (const char* id : {"pipe", "unix", "tcp", "fifo", "shm", "shm-event"}) EXPECT_TRUE(ids.contains(id)) << id;
}

TEST(Registry, EntriesDescribeThemselves) {
    for (const TransportEntry& entry : transports()) {
        const std::string_view description = entry.describe;
        EXPECT_NE(description.find(entry.id), std::string_view::npos);
        EXPECT_NE(description.find("summary"), std::string_view::npos);
        uint64_t largest = 0;
        EXPECT_TRUE(parse_size(entry.largest_message, &largest)) << entry.id;
        const Transport* implementation = nullptr;
        if (entry.module[0] != '\0') {
            // Its module lies beside the library, not beside this program.
            EXPECT_EQ(find_implementation(entry, &implementation), IPC_NOT_AVAILABLE);
            EXPECT_NE(std::string(last_error()).find(entry.module), std::string::npos) << last_error();
            EXPECT_NE(std::string(last_error()).find(entry.module_help), std::string::npos) << last_error();
        } else if (entry.implementation == nullptr) {
            EXPECT_EQ(find_implementation(entry, &implementation), IPC_NOT_AVAILABLE);
            EXPECT_STREQ(last_error(), entry.why_not);
            EXPECT_STRNE(entry.why_not, "");
        } else {
            EXPECT_EQ(find_implementation(entry, &implementation), IPC_OK);
            const std::string_view kind = entry.kind;
            const bool has_channels = kind == "channel" || kind == "call";
            EXPECT_EQ(implementation->listen != nullptr, has_channels) << entry.id;
            EXPECT_EQ(implementation->connect != nullptr, has_channels) << entry.id;
            EXPECT_EQ(implementation->open_queue != nullptr, kind == "queue") << entry.id;
            EXPECT_EQ(implementation->remove_queue != nullptr, kind == "queue") << entry.id;
            EXPECT_EQ(implementation->publish != nullptr, kind == "broadcast") << entry.id;
            EXPECT_EQ(implementation->subscribe != nullptr, kind == "broadcast") << entry.id;
        }
    }
}

TEST(Registry, CommonOptionsBelongToEveryTransportAndDefaultsAreValid) {
    for (const TransportEntry& entry : transports()) {
        bool has_max = false;
        std::string text = std::string(entry.id) + "://name?";
        for (const OptionEntry& option : entry.options) {
            has_max = has_max || option.name == std::string("max");
            text.append(option.name).append("=").append(option.default_value).append("&");
        }
        EXPECT_TRUE(has_max) << entry.id;
        text.pop_back();
        Address address;
        EXPECT_EQ(Address::parse(text, &address), IPC_OK) << last_error();
    }
}

TEST(Registry, UnknownTransportIsToldTheKnownOnes) {
    const TransportEntry* entry = nullptr;
    EXPECT_EQ(find_transport("carrier-pigeon", &entry), IPC_UNKNOWN_TRANSPORT);
    EXPECT_NE(std::string(last_error()).find("'carrier-pigeon'"), std::string::npos);
    EXPECT_NE(std::string(last_error()).find("unix"), std::string::npos);
}

TEST(Registry, Sizes) {
    uint64_t size = 0;
    EXPECT_TRUE(parse_size("0", &size));
    EXPECT_EQ(size, 0u);
    EXPECT_TRUE(parse_size("17", &size));
    EXPECT_EQ(size, 17u);
    EXPECT_TRUE(parse_size("3k", &size));
    EXPECT_EQ(size, 3072u);
    EXPECT_TRUE(parse_size("64M", &size));
    EXPECT_EQ(size, 67108864u);
    EXPECT_TRUE(parse_size("2G", &size));
    EXPECT_EQ(size, 2147483648u);
    for (const char* wrong : {"", "k", "-1", "+1", " 1", "1 ", "1kk", "1m", "1K", "0x10", "1.5M",
                              "18446744073709551616", "18014398509481984k", "99999999999G"})
        EXPECT_FALSE(parse_size(wrong, &size)) << wrong;
}

} // namespace
} // namespace ipc
