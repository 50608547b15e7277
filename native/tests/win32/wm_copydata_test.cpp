// `wm-copydata` below its channel: what other windows may send. What it shares with `com` is in frames_by_calls_test.cpp, the rest in the
// conformance suite.
#include "support.hpp"
#include "transports/wm_copydata/window_win32.hpp"
#include "win32/utf.hpp"

#include <cstring>

namespace ipc {
namespace {

using namespace wm_copydata;

class WindowMessages : public testing::Test {
  protected:
    void SetUp() override {
        name_ = test::unique_name();
        address_ = "wm-copydata://" + name_;
        ASSERT_EQ(test::listen(address_, &listener_), IPC_OK) << last_error();
        ASSERT_EQ(make_window(L"ipc.test", DefWindowProcW, L"", nullptr, &own_), IPC_OK) << last_error();
    }
    void TearDown() override {
        if (own_ != nullptr) DestroyWindow(own_);
    }
    HWND listener_window() const {
        return FindWindowExW(HWND_MESSAGE, nullptr, listener_class, win32::to_wide(name_).c_str());
    }
    // What the window's procedure answers to these bytes.
    LRESULT send(HWND to, const void* bytes, size_t length, ULONG_PTR mark = magic, HWND from = nullptr) const {
        COPYDATASTRUCT copied{mark, static_cast<DWORD>(length), const_cast<void*>(bytes)};
        DWORD_PTR result = 99;
        const LRESULT sent =
            SendMessageTimeoutW(to, WM_COPYDATA, reinterpret_cast<WPARAM>(from != nullptr ? from : own_),
                                reinterpret_cast<LPARAM>(&copied), SMTO_NORMAL, 5000, &result);
        EXPECT_NE(sent, 0) << "the window did not answer";
        return static_cast<LRESULT>(result);
    }
    // A session made by hand.
    HWND say_hello(const Token& token) const {
        const Head hello = make_head(Kind::hello, 0, 0, token, 0);
        return reinterpret_cast<HWND>(send(listener_window(), &hello, sizeof hello));
    }
    void expect_still_serves() { test::expect_serves(*listener_); }

    std::string name_;
    std::string address_;
    std::unique_ptr<FrameListener> listener_;
    HWND own_ = nullptr;
};

constexpr Token token{{1, 2, 3, 4}};

TEST_F(WindowMessages, WhatIsNoHelloIsRefused) {
    const auto refused = [&](auto change, size_t length = sizeof(Head), ULONG_PTR mark = magic) {
        Head head = make_head(Kind::hello, 0, 0, token, 0);
        change(head);
        std::byte bytes[200]{};
        std::memcpy(bytes, &head, sizeof head);
        EXPECT_EQ(send(listener_window(), bytes, length, mark), 0);
    };
    refused([](Head& h) { h.magic ^= 1; });
    refused([](Head& h) { h.version = 2; });
    refused([](Head& h) { h.kind = Kind::request; });
    refused([](Head& h) { h.length = 50; });
    refused([](Head&) {}, sizeof(Head) - 1);
    refused([](Head&) {}, 0);
    refused([](Head&) {}, sizeof(Head) + 20);
    refused([](Head&) {}, sizeof(Head), magic + 1);
    std::unique_ptr<FrameChannel> channel;
    EXPECT_EQ(test::accept(*listener_, &channel, 50), IPC_TIMED_OUT);
    expect_still_serves();
}

TEST_F(WindowMessages, NobodyEndsAListenerFromOutside) {
    for (const UINT message : {WM_CLOSE, WM_DESTROY, WM_NCDESTROY, WM_QUIT, WM_ENDSESSION}) {
        PostMessageW(listener_window(), message, 0, 0);
        PostThreadMessageW(GetWindowThreadProcessId(listener_window(), nullptr), message, 0, 0);
    }
    expect_still_serves();
}

TEST_F(WindowMessages, ASessionTakesOnlyItsClientsMessages) {
    const HWND session = say_hello(token);
    ASSERT_NE(session, nullptr);
    std::unique_ptr<FrameChannel> server;
    ASSERT_EQ(test::accept(*listener_, &server), IPC_OK) << last_error();
    const auto refused = [&](auto change, size_t payload = 0, HWND from = nullptr) {
        Head head = make_head(Kind::message, 0, 1, token, payload);
        change(head);
        std::byte bytes[200]{};
        std::memcpy(bytes, &head, sizeof head);
        EXPECT_EQ(send(session, bytes, sizeof head + payload, magic, from), 0);
    };
    refused([](Head& h) { h.token.words[3] = 5; });
    refused([](Head& h) { h.kind = Kind::reply; });
    refused([](Head& h) { h.kind = Kind{77}; });
    refused([](Head& h) { h.length = 0xFFFFFFFF; }, 0);
    refused([](Head& h) { h.length = 5; }, 0);
    refused([](Head& h) { h.length = 5; }, 10);
    refused([](Head& h) { h.offset = 3; }, 10);
    refused([](Head& h) { h.offset = 0xFFFFFFFF; }, 10);
    refused([](Head&) {}, 10, GetDesktopWindow());
    // The right one still goes, a fragment at a time, and twice is once.
    Head head = make_head(Kind::message, 0, 1, token, 6);
    std::byte bytes[sizeof head + 3];
    const auto send_fragment = [&](uint32_t offset) {
        head.offset = offset;
        std::memcpy(bytes, &head, sizeof head);
        std::memcpy(bytes + sizeof head, offset == 0 ? "abc" : "def", 3);
        EXPECT_EQ(send(session, bytes, sizeof bytes), 1) << offset;
    };
    for (const uint32_t offset : {0u, 0u, 3u}) send_fragment(offset);
    FrameInfo info{};
    ASSERT_EQ(server->next(&info, Deadline(5000)), IPC_OK) << last_error();
    ASSERT_EQ(info.length, 6u);
    char got[7] = "";
    EXPECT_EQ(server->take(got, Deadline(5000)), IPC_OK) << last_error();
    EXPECT_STREQ(got, "abcdef");
    for (const uint32_t offset : {3u, 0u}) send_fragment(offset);
    EXPECT_EQ(server->next(&info, Deadline(50)), IPC_TIMED_OUT) << "a repeated fragment was taken for a new message";
}

TEST_F(WindowMessages, ClosingTakesTheWindowAway) {
    EXPECT_NE(listener_window(), nullptr);
    listener_->close();
    EXPECT_EQ(listener_window(), nullptr);
}

} // namespace
} // namespace ipc
