/* Two threads and one transport, which the command line names, by C11 alone, with nothing but the header. Ends with 0, with 77 if the
 * transport's module or what it needs is missing here, or says on standard error what was wrong. */
#define _POSIX_C_SOURCE 200809L /* getpid, for an address of this process's own */
#include "header.h"

#include <stdio.h>
#include <string.h>

#if defined(_WIN32) /* where C11's threads come late */
#    include <windows.h>
typedef struct {
    HANDLE handle;
    int (*run)(void*);
    void* argument;
} thrd_t;
enum { thrd_success = 0 };
static DWORD WINAPI run_thread(void* thread) {
    thrd_t* self = thread;
    return (DWORD)self->run(self->argument);
}
static int thrd_create(thrd_t* thread, int (*run)(void*), void* argument) {
    thread->run = run;
    thread->argument = argument;
    thread->handle = CreateThread(NULL, 0, run_thread, thread, 0, NULL);
    return thread->handle != NULL ? thrd_success : 1;
}
static int thrd_join(thrd_t thread, int* result) {
    DWORD code = 1;
    WaitForSingleObject(thread.handle, INFINITE);
    GetExitCodeThread(thread.handle, &code);
    CloseHandle(thread.handle);
    *result = (int)code;
    return thrd_success;
}
static long own_process(void) {
    return (long)GetCurrentProcessId();
}
#else
#    include <threads.h>
#    include <unistd.h>
static long own_process(void) {
    return (long)getpid();
}
#endif

enum { timeout_ms = 10000, not_here = 77 };

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, ipc_last_error());       \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Answers a text with the same in capitals, and refuses an empty one. */
static ipc_status IPC_CALL answer(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
    const char* text = request;
    void* reply = NULL;
    size_t i;
    ++*(int*)user;
    if (length == 0) {
        ipc_status status = ipc_reply_fail(writer, "an empty text has no capitals");
        return status == IPC_OK ? IPC_INVALID_ARGUMENT : status;
    }
    if (ipc_reply_reserve(writer, length, &reply) != IPC_OK) return IPC_SYSTEM;
    for (i = 0; i < length; ++i) {
        char c = text[i];
        ((char*)reply)[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return IPC_OK;
}

static int serve(void* argument) {
    ipc_listener* listener = argument;
    ipc_channel* channel = NULL;
    int answered = 0;
    EXPECT(ipc_accept(listener, timeout_ms, &channel) == IPC_OK);
    EXPECT(ipc_serve(channel, answer, &answered) == IPC_OK);
    ipc_channel_free(channel);
    EXPECT(answered == 4);
    return 0;
}

static int calls(ipc_channel* channel) {
    char reply[16];
    const void* in_place = NULL;
    size_t length = 0;

    EXPECT(ipc_call(channel, "hello", 5, reply, sizeof reply, &length, timeout_ms) == IPC_OK);
    EXPECT(length == 5 && memcmp(reply, "HELLO", 5) == 0);

    EXPECT(ipc_call(channel, "world", 5, reply, 2, &length, timeout_ms) == IPC_BUFFER_TOO_SMALL);
    EXPECT(length == 5);
    EXPECT(ipc_receive_reply(channel, reply, sizeof reply, &length, timeout_ms) == IPC_OK);
    EXPECT(length == 5 && memcmp(reply, "WORLD", 5) == 0);

    EXPECT(ipc_call_peek(channel, "in place", 8, &in_place, &length, timeout_ms) == IPC_OK);
    EXPECT(length == 8 && memcmp(in_place, "IN PLACE", 8) == 0);
    EXPECT(ipc_release(channel) == IPC_OK);

    EXPECT(ipc_call(channel, "", 0, reply, sizeof reply, &length, timeout_ms) == IPC_HANDLER_FAILED);
    EXPECT(strstr(ipc_last_error(), "capitals") != NULL);
    return 0;
}

/* What needs no peer. */
static int about_the_library(void) {
    ipc_channel* channel = NULL;
    int32_t i;
    EXPECT(ipc_abi_version() >> 16 == IPC_ABI_VERSION_MAJOR);
    EXPECT(ipc_abi_version() >= ((uint32_t)IPC_ABI_VERSION_MAJOR << 16 | IPC_ABI_VERSION_MINOR));
    EXPECT(ipc_transport_count() > 0);
    for (i = 0; i < ipc_transport_count(); ++i) EXPECT(ipc_transport_describe(ipc_transport_id(i)) != NULL);
    EXPECT(ipc_transport_id(ipc_transport_count()) == NULL);
    EXPECT(ipc_connect("pigeon://loft", 0, &channel) == IPC_UNKNOWN_TRANSPORT);
    EXPECT(ipc_status_is_callers_mistake(IPC_UNKNOWN_TRANSPORT) == 1);
    EXPECT(ipc_status_is_callers_mistake(IPC_TIMED_OUT) == 0);
    EXPECT(strlen(ipc_status_text(IPC_TIMED_OUT)) > 0);
    EXPECT(strlen(ipc_last_error()) > 0);
    return 0;
}

/* A transport in a module, or one with a daemon, may be missing, and says what to do. */
static int is_missing(const char* transport, ipc_status status) {
    if (status != IPC_NOT_AVAILABLE || strstr(ipc_transport_describe(transport), "\"module\"") == NULL) return 0;
    (void)fprintf(stderr, "left out: %s\n", ipc_last_error());
    return 1;
}

#if IPC_ABI_VERSION_MINOR >= 1
/* The transport's kind stands first of all kinds in its description, before those of its options. */
static int is_of_kind(const char* transport, const char* kind) {
    const char* found = strstr(ipc_transport_describe(transport), "\"kind\" : \"");
    return found != NULL && strncmp(found + 10, kind, strlen(kind)) == 0;
}

static int queue(const char* transport, const char* address) {
    ipc_queue* one = NULL;
    ipc_queue* other = NULL;
    char message[16];
    size_t length = 0;
    ipc_status status = ipc_queue_open(address, timeout_ms, &one);
    if (is_missing(transport, status)) return not_here;
    EXPECT(status == IPC_OK);
    EXPECT(ipc_queue_open(address, timeout_ms, &other) == IPC_OK);
    EXPECT(ipc_queue_limit(one) > 0);
    EXPECT(ipc_queue_dequeue(other, message, sizeof message, &length, 0) == IPC_TIMED_OUT);
    EXPECT(ipc_queue_enqueue(one, "hello", 5, timeout_ms) == IPC_OK);
    EXPECT(ipc_queue_dequeue(other, message, 2, &length, timeout_ms) == IPC_BUFFER_TOO_SMALL && length == 5);
    EXPECT(ipc_queue_dequeue(other, message, sizeof message, &length, timeout_ms) == IPC_OK);
    EXPECT(length == 5 && memcmp(message, "hello", 5) == 0);
    ipc_queue_close(other);
    EXPECT(ipc_queue_dequeue(other, message, sizeof message, &length, timeout_ms) == IPC_CLOSED);
    EXPECT(ipc_queue_remove(address) == IPC_OK);
    ipc_queue_free(other);
    ipc_queue_free(one);
    return 0;
}

static int broadcast(const char* transport, const char* address) {
    ipc_publisher* publisher = NULL;
    ipc_subscriber* subscriber = NULL;
    char message[16];
    size_t length = 0, subscribers = 0;
    uint64_t lost = 1;
    ipc_status status = ipc_publisher_open(address, &publisher);
    if (is_missing(transport, status)) return not_here;
    EXPECT(status == IPC_OK);
    EXPECT(ipc_subscriber_open(address, timeout_ms, &subscriber) == IPC_OK);
    EXPECT(ipc_publisher_limit(publisher) > 0);
    EXPECT(ipc_publisher_subscribers(publisher, &subscribers) == IPC_OK && subscribers == 1);
    EXPECT(ipc_publish(publisher, "hello", 5, timeout_ms) == IPC_OK);
    EXPECT(ipc_subscriber_receive(subscriber, message, sizeof message, &length, &lost, timeout_ms) == IPC_OK);
    EXPECT(length == 5 && memcmp(message, "hello", 5) == 0 && lost == 0);
    ipc_publisher_free(publisher);
    EXPECT(ipc_subscriber_receive(subscriber, message, sizeof message, &length, &lost, timeout_ms) == IPC_PEER_CLOSED);
    ipc_subscriber_free(subscriber);
    return 0;
}
#endif

int main(int count, char** arguments) {
    const char* transport = count > 1 ? arguments[1] : "unix";
    char address[96];
    ipc_listener* listener = NULL;
    ipc_channel* channel = NULL;
    thrd_t server;
    ipc_status status;
    int server_result = 1, result;

    if (about_the_library() != 0) return 1;
    EXPECT(ipc_transport_describe(transport) != NULL);
    if (strcmp(transport, "tcp") == 0)
        (void)snprintf(address, sizeof address, "tcp://127.0.0.1:0");
    else
        (void)snprintf(address, sizeof address, "%s://abi-threads-%ld", transport, own_process());
#if IPC_ABI_VERSION_MINOR >= 1
    if (is_of_kind(transport, "queue")) return queue(transport, address);
    if (is_of_kind(transport, "broadcast")) return broadcast(transport, address);
#endif
    status = ipc_listen(address, &listener);
    if (is_missing(transport, status)) return not_here;
    EXPECT(status == IPC_OK);
    EXPECT(thrd_create(&server, serve, listener) == thrd_success);
    EXPECT(ipc_connect(ipc_listener_address(listener), timeout_ms, &channel) == IPC_OK);
    EXPECT(ipc_channel_limit(channel) == 64u << 20);

    result = calls(channel);
    ipc_channel_close(channel);
    EXPECT(thrd_join(server, &server_result) == thrd_success);
    ipc_channel_free(channel);
    ipc_listener_close(listener);
    ipc_listener_free(listener);
    return result + server_result;
}
