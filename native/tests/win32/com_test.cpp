// `com` below its channel: what other callers may do to the objects, both apartments. What it shares with
// `wm-copydata` is in frames_by_calls_test.cpp, the rest in the conformance suite.
#include "core/frame_header.hpp"
#include "support.hpp"
#include "transports/com/dispatch_win32.hpp"

#include <cstring>

namespace ipc {
namespace {

using namespace com;

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
    void expect_still_serves() { test::expect_serves(*listener_); }

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

TEST_P(Com, ClosingRevokesTheName) {
    EXPECT_TRUE(door());
    listener_->close();
    EXPECT_FALSE(door());
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
