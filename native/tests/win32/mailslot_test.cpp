// `mailslot` below its channel: what strangers write into the mailslots, names, oversize, closing. The conformance suite has the rest.
#include "core/frame_header.hpp"
#include "support.hpp"
#include "transports/mailslot/handshake_win32.hpp"
#include "win32/utf.hpp"

#include <cstdio>
#include <cstring>

namespace ipc {
namespace {

using mailslot::Handshake;
using mailslot::Kind;
using mailslot::Slot;
using mailslot::SlotWriter;
using mailslot::Trailer;
using test::pattern;

class Mailslots : public testing::Test {
  protected:
    void SetUp() override {
        address_ = "mailslot://" + test::unique_name();
        ASSERT_EQ(mailslot::place_of_names(&place_), IPC_OK) << last_error();
        name_ = place_ + win32::to_wide(address_.substr(11));
        ASSERT_EQ(security_.open(), IPC_OK);
        ASSERT_EQ(nobody_.open(), IPC_OK);
    }
    void listen() { ASSERT_EQ(test::listen(address_, &listener_), IPC_OK) << last_error(); }
    void expect_still_serves() { test::expect_serves(*listener_); }

    // A client made by hand: the handshake is right, what follows is the test's.
    struct Raw {
        Slot in, told;
        SlotWriter out, tell;
        std::unique_ptr<FrameChannel> server;
        uint64_t number = 0;

        void send(std::vector<std::byte> bytes, Kind kind = Kind::fragment) {
            const Trailer trailer{mailslot::magic, kind, ++number};
            const auto* end = reinterpret_cast<const std::byte*>(&trailer);
            bytes.insert(bytes.end(), end, end + sizeof trailer);
            ASSERT_EQ(out.send(bytes.data(), bytes.size()), IPC_OK);
        }
    };
    void connect_raw(Raw* raw) {
        static int count = 0;
        char digits[40];
        std::snprintf(digits, sizeof digits, "%024x%08x", static_cast<unsigned>(GetCurrentProcessId()),
                      static_cast<unsigned>(++count));
        Handshake hello{mailslot::magic, mailslot::version, GetCurrentProcessId(), 0, {}, {}};
        std::memcpy(hello.token, digits, sizeof hello.token);
        const std::wstring base = place_ + L"." + win32::to_wide(digits);
        ASSERT_EQ(raw->in.make(base + L".to-client", mailslot::most_in_message, security_.attributes()), 0u);
        ASSERT_EQ(raw->told.make(base + L".to-server.read", sizeof(Trailer), security_.attributes()), 0u);
        tell_listener(&hello, sizeof hello);
        Status accepted = IPC_OK;
        std::thread accepting([&] { accepted = test::accept(*listener_, &raw->server); });
        std::byte room[mailslot::most_in_message + 1];
        size_t length = 0;
        Status came = IPC_TIMED_OUT;
        for (int i = 0; i < 100 && came == IPC_TIMED_OUT; ++i)
            came = raw->in.receive(room, sizeof room, 50, nobody_, &length);
        EXPECT_EQ(came, IPC_OK);
        EXPECT_EQ(length, sizeof hello);
        EXPECT_EQ(raw->out.open(base + L".to-server"), 0u);
        EXPECT_EQ(raw->tell.open(base + L".to-client.read"), 0u);
        EXPECT_EQ(raw->out.send(&hello, sizeof hello), IPC_OK);
        accepting.join();
        ASSERT_EQ(accepted, IPC_OK);
    }
    void tell_listener(const void* bytes, size_t length) {
        SlotWriter writer;
        ASSERT_EQ(writer.open(name_), 0u);
        writer.send(bytes, length);
    }

    std::string address_;
    std::wstring place_;
    std::wstring name_;
    win32::OnlyThisUser security_;
    win32::Interrupt nobody_;
    std::unique_ptr<FrameListener> listener_;
};

std::vector<std::byte> frame(uint32_t magic, uint32_t length, uint32_t kind, size_t payload) {
    std::vector<std::byte> bytes(frame_header_size + payload);
    store_u32(bytes.data(), magic);
    store_u32(bytes.data() + 4, length);
    store_u32(bytes.data() + 8, kind);
    return bytes;
}

TEST_F(Mailslots, ASquattedNameIsRefused) {
    Slot squatter;
    ASSERT_EQ(squatter.make(name_, 64, nullptr), 0u);
    EXPECT_EQ(test::listen(address_, &listener_), IPC_NAME_IN_USE) << last_error();
}

TEST_F(Mailslots, WhatIsNoHelloIsPassedOver) {
    listen();
    Handshake hello{mailslot::magic, mailslot::version, GetCurrentProcessId(), 0, {}, {}};
    std::memset(hello.token, 'a', sizeof hello.token);
    const auto refused = [&](auto change) {
        Handshake changed = hello;
        change(changed);
        tell_listener(&changed, sizeof changed);
        std::unique_ptr<FrameChannel> channel;
        EXPECT_EQ(test::accept(*listener_, &channel, 200), IPC_TIMED_OUT) << last_error();
    };
    refused([](Handshake& m) { m.magic ^= 1; });
    refused([](Handshake& m) { m.version = 2; });
    refused([](Handshake& m) { m.token[3] = '\\'; });
    refused([](Handshake& m) { m.process = 0xFFFFFFF0; });
    refused([](Handshake&) {}); // nobody has such mailslots
    const std::vector<std::byte> garbage(63, std::byte{0xEE});
    tell_listener(garbage.data(), garbage.size());
    tell_listener(garbage.data(), 1);
    tell_listener(garbage.data(), 0);
    const std::vector<std::byte> longer(4000, std::byte{0xEE});
    tell_listener(longer.data(), longer.size());
    expect_still_serves();
}

TEST_F(Mailslots, AClientThatMeetsOnlyHalfWayHoldsNobodyUp) {
    listen();
    Handshake hello{mailslot::magic, mailslot::version, GetCurrentProcessId(), 0, {}, {}};
    std::memset(hello.token, 'b', sizeof hello.token);
    const std::wstring base = place_ + L"." + std::wstring(32, L'b');
    Slot in;
    Slot told;
    ASSERT_EQ(in.make(base + L".to-client", mailslot::most_in_message, security_.attributes()), 0u);
    ASSERT_EQ(told.make(base + L".to-server.read", sizeof(Trailer), security_.attributes()), 0u);
    tell_listener(&hello, sizeof hello);
    const test::Stopwatch watch;
    expect_still_serves();
    EXPECT_LT(watch.ms(), 5000);
}

TEST_F(Mailslots, AConnectionMadeByHandWorks) {
    listen();
    Raw raw;
    connect_raw(&raw);
    raw.send(frame(frame_magic, 5, 1, 5));
    std::vector<std::byte> got;
    EXPECT_EQ(test::receive(*raw.server, &got), IPC_OK) << last_error();
    EXPECT_EQ(got.size(), 5u);
    raw.send({}, Kind::end);
    EXPECT_EQ(test::receive(*raw.server, &got), IPC_PEER_CLOSED) << last_error();
}

// Each breaks its connection with a status of its own, and the listener goes on.
TEST_F(Mailslots, HostileFragmentsBreakTheirConnectionAlone) {
    listen();
    const auto breaks = [&](const char* what, Status status, auto act) {
        Raw raw;
        connect_raw(&raw);
        ASSERT_TRUE(raw.server) << what;
        act(raw);
        std::vector<std::byte> got;
        EXPECT_EQ(test::receive(*raw.server, &got, 2000), status) << what << ": " << last_error();
        EXPECT_EQ(test::receive(*raw.server, &got, 2000), status) << what << " again: " << last_error();
    };
    const std::vector<std::byte> bytes(100, std::byte{0xEE});
    breaks("no frame", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.send(bytes); });
    breaks("no trailer", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.out.send(bytes.data(), bytes.size()); });
    breaks("shorter than a trailer", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.out.send(bytes.data(), 3); });
    breaks("a fragment of nothing", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.send({}); });
    breaks("a missing fragment", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) {
        ++raw.number;
        raw.send(frame(frame_magic, 5, 1, 5));
    });
    breaks("an unknown kind", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.send(frame(frame_magic, 5, 1, 5), Kind{9}); });
    breaks("an end with bytes", IPC_NOT_OUR_PROTOCOL, [&](Raw& raw) { raw.send(bytes, Kind::end); });
    breaks("a lying length", IPC_PEER_TOO_LARGE, [&](Raw& raw) { raw.send(frame(frame_magic, 0xFFFFFFFF, 1, 0)); });
    breaks("an end within a message", IPC_TRUNCATED, [&](Raw& raw) {
        raw.send(frame(frame_magic, 50, 1, 5));
        raw.send({}, Kind::end);
    });
    expect_still_serves();
}

TEST_F(Mailslots, AFragmentThatIsTooLongIsNotTaken) {
    listen();
    Raw raw;
    connect_raw(&raw);
    const std::vector<std::byte> longer(mailslot::most_in_message + 100, std::byte{1});
    // Windows refuses it, Wine does not.
    const Status sent = raw.out.send(longer.data(), longer.size());
    std::vector<std::byte> got;
    EXPECT_EQ(test::receive(*raw.server, &got, 500), sent == IPC_OK ? IPC_NOT_OUR_PROTOCOL : IPC_TIMED_OUT)
        << last_error();
}

TEST_F(Mailslots, ALieAboutWhatWasReadIsFoundOut) {
    for (const uint64_t lie : {uint64_t{0}, uint64_t{1000}, ~uint64_t{0}}) {
        if (!listener_) listen();
        Raw raw;
        connect_raw(&raw);
        const Trailer told{mailslot::magic, Kind::read, lie};
        ASSERT_EQ(raw.tell.send(&told, sizeof told), IPC_OK);
        // It is looked at when the window is full.
        Status status = IPC_OK;
        for (int i = 0; i < 20 && status == IPC_OK; ++i) status = test::send(*raw.server, pattern(10), 2000);
        EXPECT_EQ(status, IPC_NOT_OUR_PROTOCOL) << lie << ": " << last_error();
    }
}

TEST_F(Mailslots, ASenderWaitsForAReader) {
    listen();
    Raw raw;
    connect_raw(&raw);
    Status status = IPC_OK;
    size_t sent = 0;
    for (; sent < 100 && status == IPC_OK; ++sent) status = test::send(*raw.server, pattern(10), 100);
    EXPECT_EQ(status, IPC_TIMED_OUT) << last_error();
    EXPECT_EQ(sent, mailslot::window + 1) << "the last one is the one that waited";
    const Trailer told{mailslot::magic, Kind::read, 4};
    ASSERT_EQ(raw.tell.send(&told, sizeof told), IPC_OK);
    EXPECT_EQ(test::send(*raw.server, pattern(10), 2000), IPC_OK) << last_error();
}

TEST_F(Mailslots, ClosingFromAnotherThreadInterruptsAll) {
    listen();
    Raw raw;
    connect_raw(&raw);
    for (const bool sending : {false, true}) {
        Raw another;
        connect_raw(&another);
        std::thread closing([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            another.server->close();
        });
        const test::Stopwatch watch;
        std::vector<std::byte> got;
        EXPECT_EQ(sending ? test::send(*another.server, pattern(3'000'000), test::forever)
                          : test::receive(*another.server, &got, test::forever),
                  IPC_CLOSED)
            << last_error();
        EXPECT_LT(watch.ms(), 2000);
        closing.join();
    }
}

} // namespace
} // namespace ipc
