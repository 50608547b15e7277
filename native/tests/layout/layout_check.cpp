// Layouts in shared memory and bytes on the wire, as this build of the library has them, against golden/layouts.txt and the golden
// files. Builds for 32 and for 64 bits, for Linux and for Windows are all held to the same files, so they agree.
//   layout-check FOLDER            compares; exit code 1 and each difference if there is one
//   layout-check FOLDER --write    writes FOLDER/layouts.txt anew
#include "codecs/custom.hpp"
#include "core/frame_header.hpp"
#include "puppet/payload.hpp"
#include "shared_memory/layout.hpp"
#include "transports/broadcast/layout.hpp"
#include "transports/queue/layout.hpp"
#include "transports/ring/layout.hpp"
#include "transports/ring/lifo.hpp"
#include "transports/shm/ring_reader.hpp"
#include "transports/shm/ring_writer.hpp"

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string>
#include <type_traits>

namespace {

std::string text;
int wrong = 0;

void line(const std::string& name, unsigned long long value) {
    text += name + ' ' + std::to_string(value) + '\n';
}

void field(const std::string& name, size_t offset, size_t size) {
    text += name + " at " + std::to_string(offset) + ", " + std::to_string(size) + " bytes\n";
}

void bytes(const std::string& name, const void* data, size_t length) {
    text += name;
    for (size_t i = 0; i < length; ++i) {
        char hex[4];
        std::snprintf(hex, sizeof hex, " %02x", static_cast<const unsigned char*>(data)[i]);
        text += hex;
    }
    text += '\n';
}

#define FIELD(name, type, member) field(name "." #member, offsetof(type, member), sizeof(type::member))

void shared_header() {
    using namespace ipc::shared_memory;
    line("header bytes", header_bytes);
    FIELD("header", Header, magic);
    FIELD("header", Header, version);
    FIELD("header", Header, layout);
    FIELD("header", Header, slot_count);
    FIELD("header", Header, data_bytes);
    FIELD("header", Header, ring);
    FIELD("header", Header, event);
    FIELD("ring control", RingControl, slots_read);
    FIELD("ring control", RingControl, data_read);
    FIELD("ring control", RingControl, reader_parked);
    FIELD("ring control", RingControl, writer_parked);
    FIELD("ring control", RingControl, waits_by);
    FIELD("ring control", RingControl, closed);
    FIELD("event control", EventControl, state);
    FIELD("event control", EventControl, length);
    FIELD("event control", EventControl, kind);
    FIELD("event control", EventControl, id);
    line("ring control size", sizeof(RingControl));
    line("event control size", sizeof(EventControl));
}

void shm() {
    using namespace ipc::shm;
    FIELD("slot", Slot, sequence_and_length);
    FIELD("slot", Slot, kind_and_id);
    FIELD("slot", Slot, rest);
    line("slot size", sizeof(Slot));
    const uint64_t sequence = Slot::word(sequence_of(0x1234567FFull), 0x01020304);
    bytes("slot word of position 0x1234567FF, length 0x01020304:", &sequence, sizeof sequence);
    for (const size_t length : std::initializer_list<size_t>{0, 48, 49, 112, 113, 2032})
        line("slots for " + std::to_string(length), slots_for(length));
    for (const size_t length : std::initializer_list<size_t>{1, 64, 65, 1'000'003})
        line("data footprint of " + std::to_string(length), RingMemory::footprint(length));
    const RingMemory beyond_4g{nullptr, 256, nullptr, 65536};
    line("place of 40000 at 2^32 + 40000", beyond_4g.place((1ull << 32) + 40000, 40000));
    line("largest in slots", beyond_4g.longest_in_slots());
}

void queue() {
    using namespace ipc::queue;
    line("queue header bytes", header_bytes);
    FIELD("queue", Header, format);
    FIELD("queue file format", FileFormat, magic);
    FIELD("queue file format", FileFormat, version);
    FIELD("queue file format", FileFormat, size);
    FIELD("queue file format", FileFormat, zero);
    FIELD("queue", Header, wake_name);
    FIELD("queue", Header, next_participant);
    FIELD("queue", Header, writer_lock);
    FIELD("queue", Header, head_seen);
    FIELD("queue", Header, tail);
    FIELD("queue", Header, readers_parked);
    FIELD("queue", Header, readers_woken);
    FIELD("queue", Header, reader_lock);
    FIELD("queue", Header, tail_seen);
    FIELD("queue", Header, head);
    FIELD("queue", Header, writers_parked);
    FIELD("queue", Header, writers_woken);
    for (const uint32_t length : {0u, 1u, 8u, 9u, 100'000u})
        line("queue footprint of " + std::to_string(length), footprint_of(length));
    line("queue longest message of 1M", longest_message(1 << 20));
}

void ring() {
    using namespace ipc::ring;
    line("ring header bytes", header_bytes);
    FIELD("ring", Header, magic);
    FIELD("ring", Header, version);
    FIELD("ring", Header, order);
    FIELD("ring", Header, block_count);
    FIELD("ring", Header, block_bytes);
    FIELD("ring", Header, wake_name);
    FIELD("ring", Header, cursors);
    FIELD("ring", Header, heads);
    FIELD("ring", Header, parked);
    FIELD("ring block", Block, state);
    FIELD("ring block", Block, length);
    FIELD("ring block", Block, next);
    line("ring line of 64 bits size", sizeof(Line64));
    FIELD("ring parked", Line32, word);
    FIELD("ring parked", Line32, woken);
    line("ring line of 32 bits size", sizeof(Line32));
    line("ring block header size", sizeof(Block));
    for (const uint32_t size : {1u, 48u, 49u, 4096u, largest_block})
        line("ring stride of " + std::to_string(size), block_stride(size));
    line("ring file of 65536 blocks of 1G", file_bytes(most_blocks, largest_block));
    const uint64_t state = state_word(0x123456789ABCull, 0xDEF, Phase::reading);
    bytes("ring state of turn 0x123456789ABC, owner 0xDEF, reading:", &state, sizeof state);
    const uint64_t head = head_word(0x1'2345'6789, 65536, 0xABC, ListStep::push);
    bytes("ring head of tag 0x123456789, first 65536, owner 0xABC, push:", &head, sizeof head);
    alignas(128) static std::byte memory[header_bytes + 4 * 64];
    format(memory, Order::lifo, 4, 48, 0xFFFF'FFFFull);
    bytes("ring formatted, first word of the header on:", memory, 20);
    bytes("ring formatted, write-end:", memory + 128, 8);
    bytes("ring formatted, free list:", memory + 640, 8);
    for (size_t i = 0; i < 4; ++i) bytes("ring formatted, block:", memory + header_bytes + 64 * i, 16);
}

void broadcast() {
    using namespace ipc::broadcast;
    FIELD("broadcast join", Join, magic);
    FIELD("broadcast join", Join, version);
    FIELD("broadcast join", Join, policy);
    FIELD("broadcast join", Join, waits_by);
    FIELD("broadcast greeting", Greeting, magic);
    FIELD("broadcast greeting", Greeting, version);
    FIELD("broadcast greeting", Greeting, layout);
    FIELD("broadcast greeting", Greeting, answer);
    FIELD("broadcast greeting", Greeting, position);
    FIELD("broadcast greeting", Greeting, number);
    line("broadcast greeting size", sizeof(Greeting));
    FIELD("broadcast data", DataHeader, magic);
    FIELD("broadcast data", DataHeader, version);
    FIELD("broadcast data", DataHeader, layout);
    FIELD("broadcast data", DataHeader, zero);
    FIELD("broadcast data", DataHeader, ring_bytes);
    FIELD("broadcast data", DataHeader, waits_by);
    FIELD("broadcast data", DataHeader, published);
    FIELD("broadcast data", DataHeader, claimed);
    FIELD("broadcast data", DataHeader, resume);
    FIELD("broadcast data", DataHeader, wakes);
    FIELD("broadcast data", DataHeader, closed);
    FIELD("broadcast page", ReaderPage, cursor);
    FIELD("broadcast page", ReaderPage, parked);
    FIELD("broadcast page", ReaderPage, room_wanted);
    FIELD("broadcast record", Record, length);
    FIELD("broadcast record", Record, zero);
    FIELD("broadcast record", Record, number);
    line("broadcast record size", sizeof(Record));
    for (const size_t length : std::initializer_list<size_t>{0, 1, 16, 17})
        line("broadcast footprint of " + std::to_string(length), footprint(length));
    line("broadcast data of a ring of 64k", data_file_bytes(65536));
    line("broadcast data of a ring of 4G", data_file_bytes(1ull << 32));
}

void frames() {
    using namespace ipc;
    std::byte frame[frame_header_size];
    write_frame_header(frame, FrameKind::reply, 0xA1B2C3D4, 0x7FFFFFFF);
    bytes("frame of a reply, id 0xA1B2C3D4, length 0x7FFFFFFF:", frame, sizeof frame);
    FrameInfo info{};
    if (!read_frame_header(frame, &info) || info.kind != FrameKind::reply || info.id != 0xA1B2C3D4 ||
        info.length != 0x7FFFFFFF) {
        std::puts("the frame's header is not read back as it was written");
        ++wrong;
    }
}

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::printf("cannot read %s\n", path.c_str());
        ++wrong;
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

void differs_from(const std::string& path, const std::string& golden, const void* made, size_t length) {
    if (golden == std::string_view(static_cast<const char*>(made), length)) return;
    std::printf("this build does not make the %zu bytes of %s but %zu others\n", golden.size(), path.c_str(), length);
    ++wrong;
}

// What the codec reads out of a golden file it must write again as it was.
template <class Object>
void check_custom(const std::string& path) {
    const std::string golden = content_of(path);
    Object object;
    ipc::codecs::Custom codec;
    const std::string why = codec.decode({reinterpret_cast<const uint8_t*>(golden.data()), golden.size()}, object);
    if (!why.empty()) {
        std::printf("%s: %s\n", path.c_str(), why.c_str());
        ++wrong;
        return;
    }
    ipc::codecs::Buffer made;
    ipc::codecs::encode(codec, object, made);
    differs_from(path, golden, made.data(), made.size());
}

void compare(const std::string& path) {
    std::istringstream expected(content_of(path)), found(text);
    std::string want, have;
    while (true) {
        const bool more = static_cast<bool>(std::getline(expected, want)),
                   here = static_cast<bool>(std::getline(found, have));
        if (!more && !here) return;
        if (!want.empty() && want.back() == '\r') want.pop_back(); // a checkout on Windows may have added it
        if (!more || !here || want != have) {
            std::printf("%s says  '%s'\nthis build has '%s'\n", path.c_str(), more ? want.c_str() : "(nothing more)",
                        here ? have.c_str() : "(nothing more)");
            ++wrong;
        }
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::puts("give the folder of the golden files");
        return 2;
    }
    const std::string folder = arguments[1];
    shared_header();
    shm();
    queue();
    ring();
    broadcast();
    frames();
    const std::string layouts = folder + "/layouts.txt";
    if (count > 2 && arguments[2] == std::string_view("--write")) {
        std::ofstream file(layouts, std::ios::binary);
        file << text;
        return file ? 0 : 2;
    }
    compare(layouts);
    for (const char* name : {"/request.custom", "/request-edge.custom"})
        check_custom<ipc::codecs::Custom::Request>(folder + name);
    for (const char* name : {"/reply.custom", "/reply-edge.custom"})
        check_custom<ipc::codecs::Custom::Reply>(folder + name);
    const std::string raw = folder + "/raw-request.bin";
    const auto payload = puppet::bytes_of({100, 42, 1});
    differs_from(raw, content_of(raw), payload.data(), payload.size());
    std::printf("%zu-bit build: %d differences\n", sizeof(void*) * 8, wrong);
    return wrong == 0 ? 0 : 1;
}
