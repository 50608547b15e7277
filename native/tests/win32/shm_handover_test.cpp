// A server that lies about what it hands over, and what else may come over the pipe: each lie gets a status, none a crash.
#include "core/status.hpp"
#include "ipc/ipc.h"
#include "shared_memory/segment.hpp"
#include "win32/handle.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <windows.h>

using namespace ipc::shared_memory;
using ipc::win32::Handle;

namespace {

struct Greeting {
    uint32_t magic = handover_magic;
    uint32_t version = ipc::shared_memory::version_of(ipc::shared_memory::Layout::slots);
    uint32_t layout = 1;
    uint32_t zero = 0;
    uint64_t memory = 0;
    uint64_t events[4] = {};
};
static_assert(sizeof(Greeting) == 56);

uint64_t number_of(const Handle& handle) {
    return reinterpret_cast<uintptr_t>(handle.get());
}

struct Pipe {
    Handle server, client;
    Pipe() {
        static std::atomic<unsigned> number{0};
        const std::wstring name = L"\\\\.\\pipe\\ipc-test-handover-" + std::to_wstring(GetCurrentProcessId()) + L"-" +
                                  std::to_wstring(number.fetch_add(1));
        server.reset(CreateNamedPipeW(name.c_str(), PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1, 4096,
                                      4096, 0, nullptr));
        client.reset(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                                 FILE_FLAG_OVERLAPPED, nullptr));
        EXPECT_TRUE(server && client);
    }
    void write(const Handle& end, const void* bytes, size_t length) {
        OVERLAPPED step{};
        const Handle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
        step.hEvent = event.get();
        DWORD written = 0;
        WriteFile(end.get(), bytes, static_cast<DWORD>(length), nullptr, &step);
        EXPECT_TRUE(GetOverlappedResult(end.get(), &step, &written, TRUE));
    }
};

// A server's own things, as an honest one has them.
struct Things {
    Handle section{CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0, 1 << 20, nullptr)};
    Handle events[4];
    Greeting greeting;

    Things() {
        void* view = MapViewOfFile(section.get(), FILE_MAP_WRITE, 0, 0, 0);
        auto* header = static_cast<Header*>(view);
        header->magic = mapping_magic;
        header->version = ipc::shared_memory::version_of(ipc::shared_memory::Layout::slots);
        header->layout = 1;
        header->slot_count = 16;
        header->data_bytes = 65536;
        UnmapViewOfFile(view);
        greeting.memory = number_of(section);
        for (int i = 0; i < 4; ++i) {
            events[i].reset(CreateEventW(nullptr, FALSE, FALSE, nullptr));
            greeting.events[i] = number_of(events[i]);
        }
    }
};

ipc::Status take_up(Pipe& pipe, int timeout_ms = 2000) {
    Segment* segment = nullptr;
    const ipc::Status status = Segment::take_up(pipe.client.release(), Layout::slots, {WaitMode::block, 0}, {},
                                                ipc::Deadline(timeout_ms), &segment);
    delete segment;
    return status;
}

ipc::Status after(const std::function<void(Things&)>& lie, size_t length = sizeof(Greeting), bool then_close = false) {
    Things things;
    lie(things);
    Pipe pipe;
    pipe.write(pipe.server, &things.greeting, length);
    if (then_close) pipe.server.reset();
    return take_up(pipe);
}

} // namespace

TEST(ShmHandover, TakesWhatAnHonestServerGives) {
    EXPECT_EQ(IPC_OK, after([](Things&) {})) << ipc::last_error();
}

TEST(ShmHandover, RefusesAnotherGreeting) {
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.magic = 1; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { --t.greeting.version; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { ++t.greeting.version; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.layout = 2; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things&) {}, 20, true)) << "cut short";
}

TEST(ShmHandover, RefusesNumbersThatAreNoHandlesOrOthers) {
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.memory = 0; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.memory = 0x7FFFFF00; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.memory = UINT64_MAX; })) << "this process itself";
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.memory = t.greeting.events[0]; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.events[2] = 0; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([](Things& t) { t.greeting.events[3] = 0x7FFFFF00; }));
}

TEST(ShmHandover, RefusesMemoryOfAnotherForm) {
    const auto other_section = [](DWORD kind, DWORD bytes) {
        return after([&](Things& t) {
            const Handle old(t.section.release());
            t.section.reset(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, kind, 0, bytes, nullptr));
            if (void* view = MapViewOfFile(t.section.get(), FILE_MAP_WRITE, 0, 0, 0)) {
                void* honest = MapViewOfFile(old.get(), FILE_MAP_READ, 0, 0, 0);
                if ((kind & SEC_RESERVE) == 0) std::memcpy(view, honest, bytes < 4096 ? bytes : 4096);
                UnmapViewOfFile(honest);
                UnmapViewOfFile(view);
            }
            t.greeting.memory = number_of(t.section);
        });
    };
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, other_section(PAGE_READWRITE, 8192)) << "smaller than its header says";
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, other_section(PAGE_READWRITE | SEC_RESERVE, 1 << 20)) << "touching it would end us";
    EXPECT_EQ(IPC_OK, other_section(PAGE_READWRITE, 1 << 21)) << "larger does no harm";
    const auto lying_header = [](const std::function<void(Header&)>& lie) {
        return after([&](Things& t) {
            void* view = MapViewOfFile(t.section.get(), FILE_MAP_WRITE, 0, 0, 0);
            lie(*static_cast<Header*>(view));
            UnmapViewOfFile(view);
        });
    };
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, lying_header([](Header& h) { h.slot_count = 1u << 31; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, lying_header([](Header& h) { h.slot_count = 0; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, lying_header([](Header& h) { h.data_bytes = uint64_t{1} << 40; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, lying_header([](Header& h) { h.data_bytes = 1 << 20; }));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, lying_header([](Header& h) { h.magic = 0; }));
}

TEST(ShmHandover, RefusesMemoryOfAFile) {
    wchar_t folder[MAX_PATH], path[MAX_PATH];
    GetTempPathW(MAX_PATH, folder);
    GetTempFileNameW(folder, L"ipc", 0, path);
    const Handle file(
        CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, nullptr));
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL, after([&](Things& t) {
                  t.section.reset(CreateFileMappingW(file.get(), nullptr, PAGE_READWRITE, 0, 1 << 20, nullptr));
                  t.greeting.memory = number_of(t.section);
              }));
}

TEST(ShmHandover, ServerThatClosesOrSaysNothing) {
    Pipe closed;
    closed.server.reset();
    EXPECT_EQ(IPC_PEER_CLOSED, take_up(closed));
    Pipe silent;
    EXPECT_EQ(IPC_TIMED_OUT, take_up(silent, 50));
}

TEST(ShmHandover, BytesOnThePipeBreakOnlyTheirChannel) {
    Pipe pipe;
    Segment* server = nullptr;
    ASSERT_EQ(IPC_OK, Segment::offer(pipe.server.release(), Layout::slots, 16, 65536, {WaitMode::block, 0}, &server));
    const std::unique_ptr<Segment> segment(server);
    pipe.write(pipe.client, "GET ", 4);
    SpinBudget budget;
    EXPECT_EQ(IPC_NOT_OUR_PROTOCOL,
              segment->wait(segment->incoming().reader_parked, budget, ipc::Deadline(2000), [] { return false; }));
}

// Nothing is left of a connection: not in this process's table of handles either.
TEST(ShmHandover, LeavesNoHandles) {
    const std::string address = "shm://test-handles-" + std::to_string(GetCurrentProcessId());
    ipc_listener* listener = nullptr;
    ASSERT_EQ(IPC_OK, ipc_listen(address.c_str(), &listener)) << ipc_last_error();
    DWORD before = 0, now = 0;
    for (int round = 0; round < 30; ++round) {
        ipc_channel *server = nullptr, *client = nullptr;
        std::thread accepting([&] { EXPECT_EQ(IPC_OK, ipc_accept(listener, 5000, &server)) << ipc_last_error(); });
        EXPECT_EQ(IPC_OK, ipc_connect(address.c_str(), 5000, &client)) << ipc_last_error();
        accepting.join();
        ipc_channel_free(client);
        ipc_channel_free(server);
        if (round == 9) GetProcessHandleCount(GetCurrentProcess(), &before);
    }
    GetProcessHandleCount(GetCurrentProcess(), &now);
    EXPECT_LE(now, before + 3);
    ipc_listener_free(listener);
}
