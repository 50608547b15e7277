// The bytes of MS-RPC: ours, those of the stub that the IDL compiler makes, and those that nobody honest sends.
#include "core/address.hpp"
#include "ipc_rpc.h"
#include "msrpc/handshake_win32.hpp"
#include "msrpc_support.hpp"
#include "msrpc_wire.hpp"

#include <future>

namespace ipc::test {
namespace {

using namespace wire;

const std::string token = "0123456789abcdef";
const std::string context = u32(0) + "the session's id";

// docs/wire-formats.md, "MS-RPC".
std::string exchange_request(uint32_t kind, uint32_t id, const std::string& bytes) {
    const auto length = static_cast<uint32_t>(bytes.size());
    return token + u32(kind) + u32(id) + u32(length) + u32(length) + bytes;
}
std::string exchange_reply(uint32_t kind, const std::string& bytes, uint32_t status = 0) {
    const auto length = static_cast<uint32_t>(bytes.size());
    if (length == 0) return u32(kind) + u32(0) + u32(0) + u32(status);
    std::string reply = u32(kind) + u32(length) + u32(0x20000) + u32(length) + bytes;
    reply.resize((reply.size() + 3) & ~size_t{3});
    return reply + u32(status);
}

class MsRpcWire : public testing::Test {
  protected:
    void SetUp() override { start_sockets(); }

    const std::string address_text = unique_address("msrpc-tcp");

    Address parsed() const {
        Address address;
        EXPECT_EQ(Address::parse(address_text, &address), IPC_OK);
        return address;
    }

    // The place where a client of ours looks, leading to a hand-made server.
    msrpc::Handshake meet_at(uint16_t port, msrpc::HandshakeSection* place) const {
        msrpc::Handshake handshake{msrpc::Sequence::tcp, {}, {}, std::to_wstring(port)};
        handshake.proof.fill('p');
        handshake.answer.fill('a');
        EXPECT_EQ(msrpc::HandshakeSection::make(parsed(), handshake, place), IPC_OK) << ipc_last_error();
        return handshake;
    }

    msrpc::Handshake handshake_of_server() const {
        msrpc::Handshake handshake{};
        EXPECT_EQ(msrpc::find_handshake(parsed(), msrpc::Sequence::tcp, &handshake), IPC_OK) << ipc_last_error();
        return handshake;
    }

    static uint16_t port_of(const msrpc::Handshake& handshake) {
        return static_cast<uint16_t>(std::stoi(handshake.endpoint));
    }

    void expect_service() const {
        const Channel client = connect_to(address_text);
        ASSERT_NE(client, nullptr);
        const Channel server = accept_from(listener_);
        Serving serving(server);
        EXPECT_EQ(call(client, "still here"), IPC_OK) << ipc_last_error();
        ipc_channel_close(client.get());
    }

    Listener listener_;
};

const std::string opened = std::string(32, 'a') + token + context + u32(0);

TEST_F(MsRpcWire, OurClientSendsWhatTheDocumentSays) {
    HandMadeServer server;
    msrpc::HandshakeSection place;
    meet_at(server.port(), &place);
    auto answering = std::async(std::launch::async, [&] {
        return server.answer({opened, exchange_reply(3, "reply"), exchange_reply(0, ""), context + u32(0)});
    });
    Channel client = connect_to(address_text);
    ASSERT_NE(client, nullptr);
    std::string reply;
    EXPECT_EQ(call(client, "hello", &reply), IPC_OK) << ipc_last_error();
    EXPECT_EQ(reply, "reply");
    EXPECT_EQ(ipc_send(client.get(), "", 0, 10'000), IPC_OK) << ipc_last_error();
    client.reset();
    const std::vector<std::string> requests = answering.get();
    ASSERT_EQ(requests.size(), 4u);
    EXPECT_EQ(requests[0], std::string(32, 'p'));
    EXPECT_EQ(requests[1], exchange_request(2, 1, "hello"));
    EXPECT_EQ(requests[2], exchange_request(1, 0, ""));
    EXPECT_EQ(requests[3], context);
}

TEST_F(MsRpcWire, TheStubOfTheIdlSendsAndReadsTheSame) {
    HandMadeServer server;
    auto answering = std::async(std::launch::async, [&] {
        return server.answer({opened, exchange_reply(3, "reply"), std::string(20, '\0') + u32(0)});
    });
    std::string binding = "ncacn_ip_tcp:127.0.0.1[" + std::to_string(server.port()) + "]";
    ASSERT_EQ(RpcBindingFromStringBindingA(reinterpret_cast<RPC_CSTR>(binding.data()), &ipc_rpc_binding), RPC_S_OK);
    unsigned char proof[32];
    memset(proof, 'p', sizeof proof);
    unsigned char answer[32], its_token[16];
    ipc_rpc_session session = nullptr;
    EXPECT_EQ(stub_ipc_rpc_open(proof, answer, its_token, &session), 0u);
    EXPECT_EQ(std::string(reinterpret_cast<char*>(answer), 32), std::string(32, 'a'));
    EXPECT_EQ(std::string(reinterpret_cast<char*>(its_token), 16), token);
    unsigned long kind = 0, length = 0;
    unsigned char* reply = nullptr;
    unsigned char hello[] = "hello";
    EXPECT_EQ(stub_ipc_rpc_exchange(its_token, 2, 1, 5, hello, &kind, &length, &reply), 0u);
    EXPECT_EQ(kind, 3u);
    ASSERT_EQ(length, 5u);
    EXPECT_EQ(std::string(reinterpret_cast<char*>(reply), length), "reply");
    MIDL_user_free(reply);
    EXPECT_EQ(stub_ipc_rpc_close(&session), 0u);
    RpcBindingFree(&ipc_rpc_binding);
    const std::vector<std::string> requests = answering.get();
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_EQ(requests[0], std::string(32, 'p'));
    EXPECT_EQ(requests[1], exchange_request(2, 1, "hello"));
    EXPECT_EQ(requests[2], context);
}

TEST_F(MsRpcWire, TheStubOfTheIdlCallsOurServer) {
    listener_ = listen_at(address_text);
    const msrpc::Handshake handshake = handshake_of_server();
    std::wstring binding = L"ncacn_ip_tcp:127.0.0.1[" + handshake.endpoint + L"]";
    ASSERT_EQ(RpcBindingFromStringBindingW(reinterpret_cast<RPC_WSTR>(binding.data()), &ipc_rpc_binding), RPC_S_OK);
    unsigned char answer[32], its_token[16];
    ipc_rpc_session session = nullptr;
    auto proof = handshake.proof;
    ASSERT_EQ(stub_ipc_rpc_open(proof.data(), answer, its_token, &session), 0u);
    EXPECT_TRUE(std::equal(answer, answer + 32, handshake.answer.begin()));
    const Channel server = accept_from(listener_);
    Serving serving(server);
    for (const std::string text : {"", "a", "hello, server"}) {
        unsigned long kind = 0, length = 0;
        unsigned char* reply = nullptr;
        std::string request = text;
        ASSERT_EQ(stub_ipc_rpc_exchange(its_token, 2, 9, static_cast<ULONG>(request.size()),
                                        reinterpret_cast<unsigned char*>(request.data()), &kind, &length, &reply),
                  0u);
        EXPECT_EQ(kind, 3u);
        EXPECT_EQ(std::string(reinterpret_cast<char*>(reply), length), text);
        MIDL_user_free(reply);
    }
    EXPECT_EQ(stub_ipc_rpc_close(&session), 0u);
    EXPECT_EQ(session, nullptr);
    RpcBindingFree(&ipc_rpc_binding);
    EXPECT_EQ(serving.end(), IPC_OK);
}

TEST_F(MsRpcWire, OurServerAnswersWhatTheDocumentSays) {
    listener_ = listen_at(address_text);
    const msrpc::Handshake handshake = handshake_of_server();
    Socket socket(connect_to_port(port_of(handshake)));
    socket.send_all(bind_packet(1, 1));
    ASSERT_EQ(socket.read_packet().type, bind_ack);
    socket.send_all(request_packet(2, 0, std::string(handshake.proof.begin(), handshake.proof.end())));
    const Packet open = socket.read_packet();
    ASSERT_EQ(open.type, response);
    const std::string stub = open.stub();
    ASSERT_EQ(stub.size(), 72u);
    EXPECT_EQ(stub.substr(0, 32), std::string(handshake.answer.begin(), handshake.answer.end()));
    EXPECT_EQ(read_u32(stub, 68), 0u);
    const Channel server = accept_from(listener_);
    Serving serving(server);
    std::string request = exchange_request(2, 5, "hello");
    request.replace(0, 16, stub, 32, 16);
    socket.send_all(request_packet(3, 1, request));
    const Packet echoed = socket.read_packet();
    ASSERT_EQ(echoed.type, response);
    std::string reply = echoed.stub();
    ASSERT_EQ(reply.size(), exchange_reply(3, "hello").size());
    EXPECT_NE(read_u32(reply, 8), 0u) << "the array is behind a pointer, which must not be null";
    reply.replace(8, 4, u32(0x20000));          // any number will do
    reply.replace(21, 3, std::string(3, '\0')); // so will any padding
    EXPECT_EQ(reply, exchange_reply(3, "hello"));
    socket.send_all(request_packet(4, 2, stub.substr(48, 20)));
    EXPECT_EQ(socket.read_packet().stub(), std::string(20, '\0') + u32(0));
    EXPECT_EQ(serving.end(), IPC_OK);
}

TEST_F(MsRpcWire, WhoDoesNotKnowTheProofGetsNoSession) {
    listener_ = listen_at(address_text);
    Socket socket(connect_to_port(port_of(handshake_of_server())));
    socket.send_all(bind_packet(1, 1));
    ASSERT_EQ(socket.read_packet().type, bind_ack);
    socket.send_all(request_packet(2, 0, std::string(32, 'x')));
    const std::string refused = socket.read_packet().stub();
    ASSERT_EQ(refused.size(), 72u);
    EXPECT_EQ(read_u32(refused, 68), static_cast<uint32_t>(IPC_NO_SERVER));
    EXPECT_EQ(refused.substr(0, 68), std::string(68, '\0')) << "a stranger must learn nothing";
    socket.send_all(request_packet(3, 1, exchange_request(2, 1, "hello")));
    EXPECT_EQ(socket.read_packet().stub(), exchange_reply(0, "", static_cast<uint32_t>(IPC_PEER_CLOSED)));
    expect_service();
}

TEST_F(MsRpcWire, AnArrayWhoseLengthLiesIsAFault) {
    listener_ = listen_at(address_text);
    const msrpc::Handshake handshake = handshake_of_server();
    Socket socket(connect_to_port(port_of(handshake)));
    socket.send_all(bind_packet(1, 1));
    ASSERT_EQ(socket.read_packet().type, bind_ack);
    socket.send_all(request_packet(2, 0, std::string(handshake.proof.begin(), handshake.proof.end())));
    const std::string session = socket.read_packet().stub().substr(32, 16);
    const Channel server = accept_from(listener_);
    const auto lie = [&](uint32_t length, uint32_t array) {
        const std::string request = session + u32(2) + u32(1) + u32(length) + u32(array) + "hello";
        socket.send_all(request_packet(3, 1, request));
        return socket.read_packet().type;
    };
    EXPECT_EQ(lie(5000, 5), fault) << "length over the array's";
    EXPECT_EQ(lie(5, 5000), fault) << "the array's over what came";
    EXPECT_EQ(lie(5000, 5000), fault) << "both over what came";
    EXPECT_EQ(lie(0xFFFFFFFF, 0xFFFFFFFF), fault);
    EXPECT_EQ(lie(0xFFFFFFE0, 0xFFFFFFE0), fault);
    socket.send_all(request_packet(4, 1, "short"));
    EXPECT_EQ(socket.read_packet().type, fault);
    expect_service();
}

TEST_F(MsRpcWire, AnotherVersionOfTheInterfaceIsRefused) {
    listener_ = listen_at(address_text);
    Socket socket(connect_to_port(port_of(handshake_of_server())));
    socket.send_all(bind_packet(1, 2));
    const Packet answer = socket.read_packet();
    ASSERT_EQ(answer.type, bind_ack);
    ASSERT_GE(answer.body.size(), 24u);
    EXPECT_EQ(answer.body[answer.body.size() - 24], 2) << "provider rejection";
    expect_service();
}

TEST_F(MsRpcWire, GarbageOnTheEndpointHurtsNobody) {
    listener_ = listen_at(address_text);
    const uint16_t port = port_of(handshake_of_server());
    std::string noise(3000, '\0');
    for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * 131 + 17);
    for (const std::string& garbage : {std::string("GET / HTTP/1.1\r\n\r\n"), noise, std::string(16, '\0'),
                                       packet(request, 1, "no bind before"), bind_packet(1, 1).substr(0, 30)}) {
        Socket socket(connect_to_port(port));
        socket.send_all(garbage);
    }
    expect_service();
}

TEST_F(MsRpcWire, AServerThatLiesIsNotOurProtocol) {
    const std::string lies[] = {
        u32(3) + u32(5000) + u32(0x20000) + u32(5) + "hello" + std::string(3, '\0') + u32(0),    // lengths differ
        u32(3) + u32(5000) + u32(0x20000) + u32(5000) + "hello" + std::string(3, '\0') + u32(0), // more than came
        u32(3) + u32(0xFFFFFFFF) + u32(0x20000) + u32(0xFFFFFFFF) + u32(0),
        u32(3) + u32(5) + u32(0) + u32(0), // bytes promised behind a null pointer
        "short",
        exchange_reply(77, "x"), // no reply nor fault
    };
    for (const std::string& lie : lies) {
        HandMadeServer server;
        msrpc::HandshakeSection place;
        meet_at(server.port(), &place);
        auto answering = std::async(std::launch::async, [&] { return server.answer({opened, lie}); });
        const Channel client = connect_to(address_text);
        ASSERT_NE(client, nullptr);
        EXPECT_EQ(call(client, "hello"), IPC_NOT_OUR_PROTOCOL) << ipc_last_error();
        answering.get();
    }
}

TEST_F(MsRpcWire, AServerThatDoesNotKnowTheAnswerIsRefused) {
    HandMadeServer server;
    msrpc::HandshakeSection place;
    meet_at(server.port(), &place);
    auto answering = std::async(std::launch::async,
                                [&] { return server.answer({std::string(32, 'x') + token + context + u32(0)}); });
    connect_to(address_text, IPC_NO_PERMISSION);
    answering.get();
}

TEST_F(MsRpcWire, AServerWithTooManyWaitingClientsSaysThatOneMayTryAgain) {
    HandMadeServer server;
    msrpc::HandshakeSection place;
    meet_at(server.port(), &place);
    auto answering =
        std::async(std::launch::async, [&] { return server.answer({std::string(68, '\0') + u32(IPC_NOT_AVAILABLE)}); });
    connect_to(address_text, IPC_PEER_CLOSED);
    EXPECT_NE(std::string(ipc_last_error()).find("try again"), std::string::npos) << ipc_last_error();
    answering.get();
}

} // namespace
} // namespace ipc::test
