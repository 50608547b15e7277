/* The C ABI alone: a server's thread and a client's. */
#include <ipc/ipc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ipc_status answer(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
    void* reply;
    ipc_status status = ipc_reply_reserve(writer, length, &reply);
    (void)user;
    if (status == IPC_OK) memcpy(reply, request, length);
    return status;
}

static void* serve(void* listener) {
    ipc_channel* client;
    if (ipc_accept(listener, 10000, &client) != IPC_OK) return NULL;
    ipc_serve(client, answer, NULL);
    ipc_channel_free(client);
    return NULL;
}

int main(void) {
    char address[64], reply[16];
    size_t length = 0;
    ipc_listener* listener;
    ipc_channel* channel;
    pthread_t server;
    ipc_status status;

    if ((ipc_abi_version() >> 16) != IPC_ABI_VERSION_MAJOR) return 1;
    snprintf(address, sizeof address, "pipe://consumer-c-%ld", (long)getpid());
    if (ipc_listen(address, &listener) != IPC_OK) return puts(ipc_last_error()), 1;
    pthread_create(&server, NULL, serve, listener);
    status = ipc_connect(address, 10000, &channel);
    if (status == IPC_OK) status = ipc_call(channel, "question", 8, reply, sizeof reply, &length, 10000);
    if (status != IPC_OK) puts(ipc_last_error());
    ipc_channel_free(channel);
    pthread_join(server, NULL);
    ipc_listener_free(listener);
    return status == IPC_OK && length == 8 && memcmp(reply, "question", 8) == 0 ? 0 : 1;
}
