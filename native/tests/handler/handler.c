#include "ipc/ipc.h"

#include <string.h>

#if defined(_WIN32)
#    define EXPORTED __declspec(dllexport)
#else
#    define EXPORTED __attribute__((visibility("default")))
#endif

EXPORTED ipc_status IPC_CALL reversed(void* user, const void* request, size_t length, ipc_reply_writer* writer);

/* Replies with the request's bytes in reverse, and fails for the text that `user` is. */
ipc_status IPC_CALL reversed(void* user, const void* request, size_t length, ipc_reply_writer* writer) {
    const char* refused = user;
    void* reply;
    if (length == strlen(refused) && memcmp(request, refused, length) == 0)
        return ipc_reply_fail(writer, "refused by native code"), IPC_HANDLER_FAILED;
    ipc_status status = ipc_reply_reserve(writer, length, &reply);
    if (status != IPC_OK) return status;
    for (size_t i = 0; i < length; ++i) ((char*)reply)[i] = ((const char*)request)[length - 1 - i];
    return IPC_OK;
}
