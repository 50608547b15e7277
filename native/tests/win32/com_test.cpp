// `com` below its channel: what other callers may do to the objects, both apartments, names, time-outs. The conformance suite has
// the rest.
#include "core/conversation.hpp"
#include "core/frame_header.hpp"
#include "support.hpp"
#include "transports/com/dispatch_win32.hpp"

#include <cstring>

namespace ipc {
namespace {

using namespace com;
using test::elapsed_ms;
using Clock = std::chrono::steady_clock;

class Com : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        entered_ = CoInitializeEx(nullptr, COINIT_MULTITHREADED);
        name_ = test::unique_name();
        address_ = "com://" + name_ + "?apartment=" + GetParam();
        ASSERT_EQ(test::listen(address_, &listener_), IPC_OK) << last_error();
    }
    void TearDown() override {
        listener_.reset();
        if (SUCCEEDED(entered_)) CoUninitialize();
    }
    // The object that clients find.
    Reference<IDispatch> door() const {
        Reference<IMoniker> moniker;
        Reference<IRunningObjectTable> table;
        Reference<IUnknown> found;
        Reference<IDispatch> dispatch;
        EXPECT_EQ(make_moniker(name_, &moniker), S_OK);
        EXPECT_EQ(GetRunningObjectTable(0, table.receive()), S_OK);
        if (FAILED(table->GetObject(moniker.get(), found.receive())) || !found) return dispatch;
        found->QueryInterface(IID_IDispatch, reinterpret_cast<void**>(dispatch.receive()));
        return dispatch;
    }
    static HRESULT connect(IDispatch* object, LONG with_version, LONG process, VARIANT* made) {
        VARIANT given[2]{};
        given[0].vt = given[1].vt = VT_I4;
        given[0].lVal = with_version;
        given[1].lVal = process;
        return call_method(object, L"Connect", given, made);
    }
    static HRESULT exchange(IDispatch* session, const std::vector<std::byte>& bytes) {
        Value request;
        request.vt = VT_ARRAY | VT_UI1;
        request.parray = SafeArrayCreateVector(VT_UI1, 0, static_cast<ULONG>(bytes.size()));
        if (!bytes.empty()) std::memcpy(request.parray->pvData, bytes.data(), bytes.size());
        Value reply;
        VARIANT given[1] = {request};
        return call_method(session, L"Exchange", given, &reply);
    }
    void expect_still_serves() {
        std::unique_ptr<FrameChannel> server;
        std::unique_ptr<FrameChannel> client;
        test::connect_pair(*listener_, &server, &client);
        ASSERT_TRUE(server && client);
        std::thread answering([&] {
            FrameInfo info{};
            char bytes[3];
            EXPECT_EQ(server->next(&info, Deadline(5000)), IPC_OK) << last_error();
            EXPECT_EQ(server->take(bytes, Deadline(5000)), IPC_OK) << last_error();
        });
        EXPECT_EQ(client->send(FrameKind::message, 0, "abc", 3, Deadline(5000)), IPC_OK) << last_error();
        answering.join();
    }

    HRESULT entered_ = E_FAIL;
    std::string name_;
    std::string address_;
    std::unique_ptr<FrameListener> listener_;
};

INSTANTIATE_TEST_SUITE_P(Apartments, Com, testing::Values("mta", "sta"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(Com, StrangeCallsAreRefused) {
    const auto object = door();
    ASSERT_TRUE(object);
    Value made;
    const auto own = static_cast<LONG>(GetCurrentProcessId());
    EXPECT_EQ(connect(object.get(), version + 1, own, &made), to_result(IPC_NOT_OUR_PROTOCOL));
    EXPECT_EQ(connect(object.get(), version, -16, &made), to_result(IPC_PEER_CLOSED)) << "there is no such process";
    EXPECT_TRUE(FAILED(call_method(object.get(), L"Connect", {}, &made)));
    EXPECT_TRUE(FAILED(call_method(object.get(), L"Format", {}, &made)));
    ASSERT_EQ(connect(object.get(), version, own, &made), S_OK);
    ASSERT_EQ(made.vt, VT_DISPATCH);
    const auto frame = [](uint32_t frame_magic_number, uint32_t length, uint32_t kind, size_t payload) {
        std::vector<std::byte> bytes(frame_header_size + payload);
        store_u32(bytes.data(), frame_magic_number);
        store_u32(bytes.data() + 4, length);
        store_u32(bytes.data() + 8, kind);
        return bytes;
    };
    const HRESULT not_ours = to_result(IPC_NOT_OUR_PROTOCOL);
    EXPECT_EQ(exchange(made.pdispVal, {}), not_ours);
    EXPECT_EQ(exchange(made.pdispVal, std::vector<std::byte>(15)), not_ours);
    EXPECT_EQ(exchange(made.pdispVal, frame(frame_magic ^ 1, 4, 1, 4)), not_ours);
    EXPECT_EQ(exchange(made.pdispVal, frame(frame_magic, 0xFFFFFFFF, 1, 4)), not_ours);
    EXPECT_EQ(exchange(made.pdispVal, frame(frame_magic, 3, 1, 4)), not_ours);
    EXPECT_EQ(exchange(made.pdispVal, frame(frame_magic, 4, 9, 4)), not_ours);
    VARIANT number{};
    number.vt = VT_I4;
    Value reply;
    EXPECT_EQ(call_method(made.pdispVal, L"Exchange", {&number, 1}, &reply), not_ours);
    // A reply where a request is due ends the session, and nothing else.
    EXPECT_EQ(exchange(made.pdispVal, frame(frame_magic, 4, 3, 4)), not_ours);
    std::unique_ptr<FrameChannel> server;
    ASSERT_EQ(test::accept(*listener_, &server), IPC_OK) << last_error();
    FrameInfo info{};
    EXPECT_EQ(server->next(&info, Deadline(1000)), IPC_NOT_OUR_PROTOCOL) << last_error();
    expect_still_serves();
}

// A client that leaves while its session ends here must not be left in a call to a thread that is gone.
TEST_P(Com, BothEndsMayCloseAtOnce) {
    for (int i = 0; i < 30; ++i) {
        Value made;
        const auto object = door();
        ASSERT_TRUE(object);
        ASSERT_EQ(connect(object.get(), version, static_cast<LONG>(GetCurrentProcessId()), &made), S_OK);
        std::unique_ptr<FrameChannel> server;
        ASSERT_EQ(test::accept(*listener_, &server), IPC_OK) << last_error();
        std::thread closing([&] { server.reset(); });
        Value nothing;
        call_method(made.pdispVal, L"Close", {}, &nothing);
        VariantClear(&made);
        closing.join();
    }
}

TEST_P(Com, AMessageOverTheLimitEndsTheSession) {
    listener_.reset();
    ASSERT_EQ(test::listen(address_ + "&max=1k", &listener_), IPC_OK) << last_error();
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    std::thread connecting([&] { EXPECT_EQ(test::connect(address_, &client), IPC_OK) << last_error(); });
    ASSERT_EQ(test::accept(*listener_, &server), IPC_OK) << last_error();
    connecting.join();
    const auto long_one = test::pattern(100'000);
    EXPECT_EQ(client->send(FrameKind::message, 0, long_one.data(), long_one.size(), Deadline(5000)), IPC_PEER_CLOSED)
        << last_error();
    FrameInfo info{};
    EXPECT_EQ(server->next(&info, Deadline(1000)), IPC_PEER_TOO_LARGE) << last_error();
}

TEST_P(Com, AClientThatWaitsHoldsNoOtherUp) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    std::thread waiting([&] {
        EXPECT_EQ(client->send(FrameKind::message, 0, "x", 1, Deadline(IPC_FOREVER)), IPC_CLOSED) << last_error();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_still_serves();
    const auto start = Clock::now();
    client->close();
    waiting.join();
    EXPECT_LT(elapsed_ms(start), 2000);
}

TEST_P(Com, ATimedOutCallsLateAnswerIsDropped) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    const auto caller = client->converse(std::move(client));
    const auto answerer = server->converse(std::move(server));
    char reply[10];
    size_t length = 0;
    EXPECT_EQ(caller->call("1", 1, reply, sizeof reply, &length, Deadline(100)), IPC_TIMED_OUT) << last_error();
    std::thread answering([&] {
        for (int i = 0; i < 2; ++i) {
            const void* request = nullptr;
            size_t size = 0;
            ASSERT_EQ(answerer->receive_request(&request, &size, Deadline(5000)), IPC_OK) << last_error();
            EXPECT_EQ(answerer->reply(request, size, Deadline(5000)), IPC_OK) << last_error();
        }
    });
    EXPECT_EQ(caller->call("22", 2, reply, sizeof reply, &length, Deadline(5000)), IPC_OK) << last_error();
    EXPECT_EQ(length, 2u);
    answering.join();
}

TEST_P(Com, ClosingTheServersChannelEndsAWaitingCall) {
    std::unique_ptr<FrameChannel> server;
    std::unique_ptr<FrameChannel> client;
    test::connect_pair(*listener_, &server, &client);
    std::thread closing([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        server.reset();
    });
    const auto start = Clock::now();
    EXPECT_EQ(client->send(FrameKind::request, 1, "x", 1, Deadline(IPC_FOREVER)), IPC_PEER_CLOSED) << last_error();
    EXPECT_LT(elapsed_ms(start), 2000);
    closing.join();
}

TEST_P(Com, ClosingRevokesTheName) {
    std::unique_ptr<FrameListener> second;
    EXPECT_EQ(test::listen(address_, &second), IPC_NAME_IN_USE) << last_error();
    listener_->close();
    EXPECT_FALSE(door());
    std::unique_ptr<FrameChannel> channel;
    EXPECT_EQ(test::connect(address_, &channel), IPC_NO_SERVER) << last_error();
    EXPECT_EQ(test::listen(address_, &second), IPC_OK) << last_error();
}

TEST_P(Com, TheCallersApartmentDoesNotMatter) {
    std::thread of_its_own([&] {
        ASSERT_EQ(CoInitializeEx(nullptr, COINIT_APARTMENTTHREADED), S_OK);
        expect_still_serves();
        CoUninitialize();
    });
    of_its_own.join();
    std::thread without([&] { expect_still_serves(); });
    without.join();
}

} // namespace
} // namespace ipc
