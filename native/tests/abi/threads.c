/* A call between two threads by C11 alone, with nothing but the header. Ends with 0, or says on standard error what was
 * wrong. */
#define _POSIX_C_SOURCE 200809L /* getpid, for an address of this process's own */
#include "header.h"

#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { timeout_ms = 10000 };

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, ipc_last_error());       \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Answers a text with the same in capitals, and refuses an empty one. */
static ipc_status answer(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
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
    EXPECT(ipc_receive_reply(channel, reply, sizeof reply, &length) == IPC_OK);
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

int main(void) {
    char address[64];
    ipc_listener* listener = NULL;
    ipc_channel* channel = NULL;
    thrd_t server;
    int server_result = 1, result;

    if (about_the_library() != 0) return 1;
    (void)snprintf(address, sizeof address, "unix://abi-threads-%ld", (long)getpid());
    EXPECT(ipc_listen(address, &listener) == IPC_OK);
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
