#include "hostile_handover.hpp"

#include "finding.hpp"
#include "raw_peer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fuzz {
namespace {

// Shared memory whose header, size and seals the input chooses.
int make_memory(uint32_t layout, Input& input) {
    constexpr std::array<uint32_t, 10> slots{0, 1, 2, 3, 16, 64, 4096, 1u << 20, 1u << 21, 1u << 31};
    constexpr std::array<uint64_t, 8> sizes{0, 4096, 65536, 65537, 1 << 20, uint64_t{1} << 40, UINT64_MAX, 12288};
    const uint8_t lie = input.byte();
    const uint32_t slot_count = lie < 128 ? (layout == 1 ? 64 : 0) : slots[input.byte() % slots.size()];
    const uint64_t data_bytes = lie < 128 ? 65536 : sizes[input.byte() % sizes.size()];
    const int memory = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const uint64_t needed =
        std::min(4096 + ((uint64_t{2} * slot_count * 64 + 4095) & ~uint64_t{4095}) + 2 * data_bytes, uint64_t{1} << 33);
    const std::array<uint64_t, 8> lengths{
        needed, needed, needed, needed + 4096, std::max<uint64_t>(needed, 4096) - 4096, 4096, 100, 0};
    if (ftruncate(memory, static_cast<off_t>(lengths[input.byte() % lengths.size()])) != 0) return memory;
    std::array<uint32_t, 6> header{0x4D435049,
                                   version_of(layout),
                                   layout,
                                   slot_count,
                                   static_cast<uint32_t>(data_bytes),
                                   static_cast<uint32_t>(data_bytes >> 32)};
    if (const uint8_t which = input.byte(); which >= 200) header[which % header.size()] ^= input.byte() + 1u;
    (void)!pwrite(memory, header.data(), sizeof header, 0);
    const uint8_t seals = input.byte();
    fcntl(memory, F_ADD_SEALS, seals < 200 ? F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL : seals % 32);
    return memory;
}

int make_descriptor(uint32_t layout, Input& input) {
    const uint8_t kind = input.byte();
    switch (kind % 16) {
    case 0:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 1:
        return open("/dev/zero", O_RDWR | O_CLOEXEC);
    case 2:
        return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 3:
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    case 4: {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
        close(ends[1]);
        return ends[0];
    }
    case 5: {
        // The same memory, but for reading only.
        const int memory = make_memory(layout, input);
        std::array<char, 64> path{};
        std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", memory);
        const int readable = open(path.data(), O_RDONLY | O_CLOEXEC);
        close(memory);
        return readable;
    }
    default:
        return make_memory(layout, input);
    }
}

} // namespace

void greet(int socket, uint32_t layout, Input& input) {
    std::array<uint32_t, 8> greeting{0x53435049, version_of(layout), layout, 0, 0, 0, 0, 0};
    if (const uint8_t which = input.byte(); which >= 200) greeting[which % 4] ^= input.byte() + 1u;
    const uint8_t lie = input.byte();
    const size_t length = lie < 200 ? 16 : lie % 33;
    const size_t count = lie < 200 ? 1 : lie % 5;
    std::array<int, 4> descriptors{};
    for (size_t i = 0; i < count; ++i) descriptors[i] = make_descriptor(layout, input);
    // In one message, or in two.
    const size_t first = input.byte() < 224 ? length : std::min<size_t>(input.byte() % 17, length);
    if (length != 0) {
        if (first != 0) send_with(socket, greeting.data(), first, descriptors.data(), count);
        if (first < length)
            send_with(socket, reinterpret_cast<const std::byte*>(greeting.data()) + first, length - first, nullptr, 0);
    }
    for (size_t i = 0; i < count; ++i)
        if (descriptors[i] >= 0) close(descriptors[i]);
    if (const uint8_t end = input.byte(); end >= 240)
        shutdown(socket, SHUT_RDWR);
    else if (end >= 200)
        send_with(socket, "more", end % 5, nullptr, 0);
}

bool bother(int socket, Input& input) {
    const uint8_t what = input.byte();
    std::array<std::byte, 64> bytes{};
    const size_t length = 1 + what / 8 % 48;
    for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(input.byte());
    switch (what % 8) {
    case 0:
        break; // says nothing
    case 1:
        send_with(socket, bytes.data(), length, nullptr, 0);
        break;
    case 2: {
        const int descriptor = make_descriptor(1, input);
        if (descriptor < 0) break;
        send_with(socket, bytes.data(), length, &descriptor, 1);
        close(descriptor);
        break;
    }
    case 3:
        shutdown(socket, SHUT_WR);
        break;
    case 4:
        shutdown(socket, SHUT_RD);
        break;
    default:
        return true;
    }
    return input.byte() % 2 == 0;
}

// ---- fifo

Litter::~Litter() {
    for (const int descriptor : descriptors)
        if (descriptor >= 0) close(descriptor);
    for (const std::string& name : names)
        if (unlink(name.c_str()) != 0) rmdir(name.c_str());
}

namespace {

// Makes what a client would make at this name, or something else.
void make_end(const std::string& name, uint8_t what, Litter& litter) {
    switch (what % 8) {
    case 0:
        return;
    case 1:
        mkdir(name.c_str(), 0700);
        break;
    case 2:
        (void)!symlink("/dev/null", name.c_str());
        break;
    case 3:
        litter.descriptors.push_back(open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
        break;
    default:
        mkfifo(name.c_str(), 0600);
        if (what >= 64) litter.descriptors.push_back(open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        break;
    }
    litter.names.push_back(name);
}

} // namespace

void bother_handshake(const std::string& path, Input& input, Litter& litter) {
    const int handshake_fifo = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (handshake_fifo < 0) return;
    litter.descriptors.push_back(handshake_fifo);
    std::array<char, 96> record{};
    std::memcpy(record.data(), "IPCF\1\0\0\0", 8);
    std::string token(32, '0');
    for (char& digit : token) digit = "0123456789abcdef"[input.byte() % 16];
    if (const uint8_t odd = input.byte(); odd >= 200) token[odd % 32] = "/.\0G%"[input.byte() % 5];
    std::memcpy(record.data() + 8, token.data(), 32);
    if (const uint8_t lie = input.byte(); lie >= 192) record[lie % 48] = static_cast<char>(input.byte());
    const uint8_t cut = input.byte();
    if (token.find_first_not_of("0123456789abcdef") == std::string::npos) {
        make_end(path + "." + token + ".down", input.byte(), litter);
        make_end(path + "." + token + ".up", input.byte(), litter);
    }
    (void)!write(handshake_fifo, record.data(), cut < 192 ? 48 : cut % 97);
}

void answer_handshake(const std::string& path, int handshake_fifo, Input& input, Litter& litter) {
    pollfd waiting{handshake_fifo, POLLIN, 0};
    std::array<char, 48> record{};
    if (poll(&waiting, 1, 1000) <= 0 || read(handshake_fifo, record.data(), record.size()) != 48) return;
    const std::string pair = path + "." + std::string(record.data() + 8, 32);
    const int down = open((pair + ".down").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const uint8_t what = input.byte();
    const int up = what % 4 == 0 ? -1 : open((pair + ".up").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (what % 8 == 1) unlink((pair + ".up").c_str());
    std::array<char, 8> bytes{6};
    if (const uint8_t lie = input.byte(); lie >= 160) bytes[lie % 2] = static_cast<char>(input.byte());
    if (what >= 32 && down >= 0) (void)!write(down, bytes.data(), 1 + what / 32 % 4);
    litter.descriptors.push_back(up);
    if (what % 16 == 2 && down >= 0)
        close(down);
    else
        litter.descriptors.push_back(down);
}

} // namespace fuzz
