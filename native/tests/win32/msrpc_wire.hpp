#pragma once

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <winsock2.h>

// The packets of connection-oriented RPC (C706, chapter 12) written and read by hand over TCP.
namespace ipc::test::wire {

enum Type : uint8_t { request = 0, response = 2, fault = 3, bind = 11, bind_ack = 12 };

inline std::string u16(uint16_t value) {
    return {reinterpret_cast<const char*>(&value), 2};
}
inline std::string u32(uint32_t value) {
    return {reinterpret_cast<const char*>(&value), 4};
}
inline uint32_t read_u32(const std::string& bytes, size_t at) {
    uint32_t value = 0;
    if (at + 4 <= bytes.size()) std::memcpy(&value, bytes.data() + at, 4);
    return value;
}

inline std::string syntax(const char* uuid, uint16_t major) {
    return std::string(uuid, 16) + u16(major) + u16(0);
}
// 7d9cc6a4-1f0e-4b53-9a3c-5b8d0e6f2c41 and NDR 2.0, 8a885d04-1ceb-11c9-9fe8-08002b104860
inline std::string ipc_interface(uint16_t major = 1) {
    return syntax("\xa4\xc6\x9c\x7d\x0e\x1f\x53\x4b\x9a\x3c\x5b\x8d\x0e\x6f\x2c\x41", major);
}
inline std::string ndr() {
    return syntax("\x04\x5d\x88\x8a\xeb\x1c\xc9\x11\x9f\xe8\x08\x00\x2b\x10\x48\x60", 2);
}

inline std::string packet(Type type, uint32_t call, const std::string& body) {
    const char head[] = {5, 0, static_cast<char>(type), 3, 0x10, 0, 0, 0};
    return std::string(head, 8) + u16(static_cast<uint16_t>(16 + body.size())) + u16(0) + u32(call) + body;
}
inline std::string bind_packet(uint32_t call, uint16_t version) {
    return packet(bind, call,
                  u16(5840) + u16(5840) + u32(0) + std::string("\1\0\0\0\0\0\1\0", 8) + ipc_interface(version) + ndr());
}
inline std::string request_packet(uint32_t call, uint16_t procedure, const std::string& stub) {
    return packet(request, call, u32(static_cast<uint32_t>(stub.size())) + u16(0) + u16(procedure) + stub);
}

// A packet that came: its type, its call's number, and what follows the common header.
struct Packet {
    int type = -1; // nothing came
    uint32_t call = 0;
    std::string body;
    // Of a request or a response: the NDR.
    std::string stub() const { return body.size() >= 8 ? body.substr(8) : ""; }
};

class Socket {
  public:
    explicit Socket(SOCKET socket) : socket_(socket) {
        DWORD patience = 10'000;
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, reinterpret_cast<const char*>(&patience), sizeof patience);
    }
    ~Socket() { closesocket(socket_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    void send_all(const std::string& bytes) { ::send(socket_, bytes.data(), static_cast<int>(bytes.size()), 0); }

    std::string read(size_t length) {
        std::string bytes(length, '\0');
        size_t have = 0;
        while (have < length) {
            const int count = recv(socket_, bytes.data() + have, static_cast<int>(length - have), 0);
            if (count <= 0) return bytes.substr(0, have);
            have += static_cast<size_t>(count);
        }
        return bytes;
    }

    Packet read_packet() {
        const std::string head = read(16);
        if (head.size() < 16) return {};
        uint16_t length = 0;
        std::memcpy(&length, head.data() + 8, 2);
        return {static_cast<uint8_t>(head[2]), read_u32(head, 12), read(length - 16u)};
    }

  private:
    SOCKET socket_;
};

inline void start_sockets() {
    WSADATA data;
    ASSERT_EQ(WSAStartup(MAKEWORD(2, 2), &data), 0);
}

inline sockaddr_in loopback(uint16_t port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return place;
}

inline SOCKET connect_to_port(uint16_t port) {
    const SOCKET socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in place = loopback(port);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0) << WSAGetLastError();
    return socket;
}

// A server made by hand: it agrees to every interface, keeps the NDR of the requests and answers each with what it was given.
class HandMadeServer {
  public:
    HandMadeServer() : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const sockaddr_in place = loopback(0);
        EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
        ::listen(listening_, 1);
        sockaddr_in chosen{};
        int size = sizeof chosen;
        getsockname(listening_, reinterpret_cast<sockaddr*>(&chosen), &size);
        port_ = ntohs(chosen.sin_port);
    }
    ~HandMadeServer() { closesocket(listening_); }
    uint16_t port() const { return port_; }

    // One connection: its bind, then as many calls as there are answers. Gives the requests' NDR.
    std::vector<std::string> answer(const std::vector<std::string>& answers) {
        Socket socket(::accept(listening_, nullptr, nullptr));
        const Packet binding = socket.read_packet();
        EXPECT_EQ(binding.type, bind);
        EXPECT_TRUE(binding.body.size() >= 56 && binding.body.substr(16, 40) == ipc_interface() + ndr())
            << "the client asked for another interface, in " << testing::PrintToString(binding.body);
        const std::string place = std::to_string(port_) + std::string(1, '\0');
        std::string ack = u16(5840) + u16(5840) + u32(77) + u16(static_cast<uint16_t>(place.size())) + place;
        ack.resize((ack.size() + 3) & ~size_t{3});
        socket.send_all(packet(bind_ack, binding.call, ack + std::string("\1\0\0\0\0\0\0\0", 8) + ndr()));
        std::vector<std::string> requests;
        for (const std::string& stub : answers) {
            const Packet call = socket.read_packet();
            EXPECT_EQ(call.type, request);
            requests.push_back(call.stub());
            socket.send_all(packet(response, call.call, u32(static_cast<uint32_t>(stub.size())) + u32(0) + stub));
        }
        return requests;
    }

  private:
    SOCKET listening_;
    uint16_t port_ = 0;
};

} // namespace ipc::test::wire
