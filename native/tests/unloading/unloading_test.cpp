// A plug-in brings the library into a program and takes it away again, while the program's threads, which have used it, live on.
#include "ipc/ipc.h"
#include "loaded_library.hpp"

#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int32_t patience_ms = 10'000;

// The functions that the cases need.
struct Ipc {
    explicit Ipc(const LoadedLibrary& library) : library_(library) {}
#define IPC_FUNCTION(name) decltype(::ipc_##name)* name = library_.get<decltype(::ipc_##name)>("ipc_" #name)
    const LoadedLibrary& library_;
    IPC_FUNCTION(transport_count);
    IPC_FUNCTION(transport_id);
    IPC_FUNCTION(transport_describe);
    IPC_FUNCTION(last_error);
    IPC_FUNCTION(listen);
    IPC_FUNCTION(listener_address);
    IPC_FUNCTION(listener_close);
    IPC_FUNCTION(listener_free);
    IPC_FUNCTION(accept);
    IPC_FUNCTION(connect);
    IPC_FUNCTION(serve);
    IPC_FUNCTION(reply_reserve);
    IPC_FUNCTION(call);
    IPC_FUNCTION(channel_free);
    IPC_FUNCTION(queue_open);
    IPC_FUNCTION(queue_enqueue);
    IPC_FUNCTION(queue_dequeue);
    IPC_FUNCTION(queue_remove);
    IPC_FUNCTION(queue_free);
    IPC_FUNCTION(publisher_open);
    IPC_FUNCTION(publish);
    IPC_FUNCTION(publisher_free);
    IPC_FUNCTION(subscriber_open);
    IPC_FUNCTION(subscriber_receive);
    IPC_FUNCTION(subscriber_free);
#undef IPC_FUNCTION
};

// A thread of the program's own: it carries out what it is given, one task after another, and ends with this object.
class Worker {
  public:
    ~Worker() {
        give({});
        thread_.join();
    }
    void run(const std::function<void()>& task) {
        std::promise<void> done;
        give([&] {
            task();
            done.set_value();
        });
        done.get_future().get();
    }

  private:
    using Task = std::function<void()>;

    void give(Task task) {
        const std::lock_guard lock(mutex_);
        given_ = std::move(task);
        changed_.notify_one();
    }
    Task take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return given_.has_value(); });
        Task task = std::move(*given_);
        given_.reset();
        return task;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Task> given_; // an empty one: end
    std::thread thread_{[this] {
        while (const Task task = take()) task();
    }};
};

std::string kind_of(const Ipc& ipc, const char* transport) {
    const std::string entry = ipc.transport_describe(transport);
    const size_t kind = entry.find("\"kind\" : \"") + 10;
    return entry.substr(kind, entry.find('"', kind) - kind);
}

ipc_status IPC_CALL echo(void* ipc, const void* request, size_t length, ipc_reply_writer* writer) {
    void* reply = nullptr;
    const ipc_status status = static_cast<const Ipc*>(ipc)->reply_reserve(writer, length, &reply);
    if (status == IPC_OK) std::memcpy(reply, request, length);
    return status;
}

// Whether there is such a transport here: it may be another system's, or need a module or a daemon that is missing.
bool works(const Ipc& ipc, ipc_status opened) {
    if (opened == IPC_NOT_AVAILABLE) return false;
    EXPECT_EQ(opened, IPC_OK) << ipc.last_error();
    return opened == IPC_OK;
}

void calls(Ipc& ipc, Worker& worker, const std::string& address) {
    ipc_listener* listener = nullptr;
    if (!works(ipc, ipc.listen(address.c_str(), &listener))) return;
    std::thread serving([&] {
        ipc_channel* channel = nullptr;
        EXPECT_EQ(ipc.accept(listener, patience_ms, &channel), IPC_OK) << ipc.last_error();
        EXPECT_EQ(ipc.serve(channel, echo, &ipc), IPC_OK) << ipc.last_error();
        ipc.channel_free(channel);
    });
    worker.run([&] {
        ipc_channel* channel = nullptr;
        EXPECT_EQ(ipc.connect(ipc.listener_address(listener), patience_ms, &channel), IPC_OK) << ipc.last_error();
        char reply[16];
        size_t length = 0;
        EXPECT_EQ(ipc.call(channel, "hello", 5, reply, sizeof reply, &length, patience_ms), IPC_OK) << ipc.last_error();
        EXPECT_EQ(std::string(reply, length), "hello");
        ipc.channel_free(channel);
    });
    serving.join();
    ipc.listener_close(listener);
    ipc.listener_free(listener);
    // What a failure leaves with its thread.
    worker.run([&] {
        ipc_channel* channel = nullptr;
        EXPECT_NE(ipc.connect(address.c_str(), 0, &channel), IPC_OK);
    });
}

void enqueue(Ipc& ipc, Worker& worker, const std::string& address) {
    ipc_queue* queue = nullptr;
    if (!works(ipc, ipc.queue_open(address.c_str(), patience_ms, &queue))) return;
    worker.run([&] { EXPECT_EQ(ipc.queue_enqueue(queue, "hello", 5, patience_ms), IPC_OK) << ipc.last_error(); });
    char message[16];
    size_t length = 0;
    EXPECT_EQ(ipc.queue_dequeue(queue, message, sizeof message, &length, patience_ms), IPC_OK) << ipc.last_error();
    EXPECT_EQ(ipc.queue_remove(address.c_str()), IPC_OK) << ipc.last_error();
    ipc.queue_free(queue);
}

void publish(Ipc& ipc, Worker& worker, const std::string& address) {
    ipc_publisher* publisher = nullptr;
    if (!works(ipc, ipc.publisher_open(address.c_str(), &publisher))) return;
    ipc_subscriber* subscriber = nullptr;
    worker.run(
        [&] { EXPECT_EQ(ipc.subscriber_open(address.c_str(), patience_ms, &subscriber), IPC_OK) << ipc.last_error(); });
    EXPECT_EQ(ipc.publish(publisher, "hello", 5, patience_ms), IPC_OK) << ipc.last_error();
    worker.run([&] {
        char message[16];
        size_t length = 0;
        uint64_t lost = 0;
        EXPECT_EQ(ipc.subscriber_receive(subscriber, message, sizeof message, &length, &lost, patience_ms), IPC_OK)
            << ipc.last_error();
        ipc.subscriber_free(subscriber);
    });
    ipc.publisher_free(publisher);
}

// Windows that the library made for a thread stay with the thread, and anybody may send them something.
void send_to_what_is_left([[maybe_unused]] Worker& worker) {
#if defined(_WIN32)
    std::vector<HWND> own;
    for (HWND window = nullptr; (window = FindWindowExW(HWND_MESSAGE, window, nullptr, nullptr)) != nullptr;) {
        DWORD process = 0;
        GetWindowThreadProcessId(window, &process);
        if (process == GetCurrentProcessId()) own.push_back(window);
    }
    for (const HWND window : own) SendNotifyMessageW(window, WM_APP, 0, 0);
    worker.run([] {
        MSG message;
        while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) DispatchMessageW(&message);
    });
#endif
}

TEST(Unloading, ThreadsThatUsedTheLibraryLiveOn) {
    Worker worker;
    const std::string process = std::to_string(std::random_device{}());
    for (int round = 0; round < 5; ++round) {
        {
            const LoadedLibrary library(IPC_LIBRARY_FILE);
            Ipc ipc(library);
            for (int32_t i = 0; i < ipc.transport_count(); ++i) {
                const std::string id = ipc.transport_id(i);
                SCOPED_TRACE(id);
                const std::string kind = kind_of(ipc, id.c_str());
                const std::string address = id == "tcp" ? "tcp://127.0.0.1:0" : id + "://unloading-" + process;
                if (kind == "queue")
                    enqueue(ipc, worker, address);
                else if (kind == "broadcast")
                    publish(ipc, worker, address);
                else
                    calls(ipc, worker, address);
            }
        }
        send_to_what_is_left(worker);
    }
}

} // namespace
