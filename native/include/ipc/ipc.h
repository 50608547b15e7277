/* ipc.h - the flat C ABI of ipc, version 1.
 *
 * THREADS
 *   Listeners: any number of threads may call ipc_accept on one listener.
 *   Channels:  at most one thread sends and at most one thread receives at a time; they may be different threads.
 *              Sending: send, send_batch, reserve, commit, cancel, call, call_peek, reply, reserve_reply, commit_reply,
 *              fail_request, submit, reply_deferred, fail_deferred. Receiving: receive, receive_batch, peek, release,
 *              receive_request, defer_request, complete; call, call_peek and receive_reply receive as well. A program with
 *              more senders or receivers than that must serialise them with a lock of its own.
 *   Queues:    any number of threads may call ipc_queue_enqueue and ipc_queue_dequeue on one queue.
 *   Publishers and subscribers: one thread at a time each.
 *   *_close may be called from any thread, at any time, any number of times, even while another thread is closing. It interrupts
 *   every call blocked on the handle; the interrupted call returns IPC_CLOSED within 100 ms.
 *   Do not end a thread inside a call with pthread_cancel or TerminateThread: the former ends the process ("exception not
 *   rethrown"), the latter leaves the handle in use for ever. Close the handle instead.
 *
 * OWNERSHIP
 *   Handles are opaque and are created only by this library. *_close ends the connection but keeps the handle valid. *_free
 *   closes the handle, waits until every thread inside a call on it has left, and releases it; free(NULL) does nothing.
 *   Once free has been called, no other thread may begin a call on the handle, because its memory goes away. A thread that
 *   another thread's close has woken may therefore free at once, and a thread may free a handle while another thread is blocked
 *   in a call on it, provided that the other thread does not call again. Calling ipc_channel_free from the channel's own
 *   handler (ipc_serve) returns at once; the channel is released when ipc_serve returns.
 *   Addresses and messages passed in are copied or sent before the call returns. Memory handed out by ipc_peek, ipc_reserve
 *   and ipc_call_peek belongs to the channel and is valid until the matching release, commit or cancel.
 *
 * FORK  Every descriptor is close-on-exec. A child that is forked without exec does not get them either: in the child each of these
 *   descriptor numbers refers to an empty placeholder. So peers notice when the parent dies even if the child lives on, and the
 *   parent's names and locks become free. The child must not use the parent's handles, not even to free them, and must end with
 *   _exit. It may open handles of its own.
 *   Not covered: clone and vfork called by the program itself, and a fork at the very moment another thread opens or
 *   closes a descriptor.
 *
 * TIME-OUTS are in milliseconds: IPC_FOREVER waits without limit, 0 does not wait. A time-out bounds the whole call, whatever the
 *   peer does. A send that times out part-way leaves a cut message; the channel is then broken and says so. A receive that
 *   times out loses nothing: the part of a large message that has arrived is kept, and the next call continues with it.
 *
 * STATUSES  Every function returns an ipc_status (IPC_OK is 0) unless its comment says otherwise. ipc_last_error() describes the
 *   calling thread's latest failure: what failed and what to do about it. No exception or signal crosses the ABI.
 *   Any function may return IPC_INVALID_ARGUMENT, IPC_OUT_OF_MEMORY and IPC_SYSTEM. A function on a channel returns IPC_CLOSED once the
 *   channel has been closed on this side; otherwise, if the channel is broken, it returns the failure that broke it: IPC_TRUNCATED,
 *   IPC_NOT_OUR_PROTOCOL, IPC_PEER_TOO_LARGE, IPC_SYSTEM, or IPC_TIMED_OUT for a message that was cut. A broken channel repeats
 *   this first failure, status and error message, in every later call; messages that had arrived before a send was cut by its
 *   time-out may still be received. After IPC_PEER_CLOSED nothing more can be sent; receiving continues until everything the peer
 *   sent before has been read. The comment of each function lists its further statuses in brackets.
 *
 * OUT-PARAMETERS after a failure: a handle is NULL; counts (sent, count) say how much was done; after IPC_BUFFER_TOO_SMALL a length
 *   says how much room the message needs; everything else is unspecified.
 *
 * MESSAGES  A channel carries either calls (ipc_call against ipc_serve or ipc_receive_request/ipc_reply) or plain messages
 *   (ipc_send against ipc_receive). Order and message boundaries are kept. An empty message is a message.
 *   Calls are made one at a time (ipc_call) or many at once (ipc_submit, ipc_complete), against any server.
 *   Over transports of kind "call" only the client sends, and ipc_send returns once the server has received the message;
 *   ipc_send at the server and ipc_receive at the client return IPC_WRONG_STATE.
 *   The byte formats are described in docs/wire-formats.md.
 *
 * LINKING  A program that links the library statically defines IPC_STATIC. Functions and handlers are __cdecl on 32-bit Windows,
 *   whatever the program's own default is.
 */
#ifndef IPC_IPC_H
#define IPC_IPC_H

#include <stddef.h>
#include <stdint.h>

#if defined(IPC_STATIC)
#    define IPC_API
#elif defined(_WIN32)
#    if defined(IPC_BUILDING)
#        define IPC_API __declspec(dllexport)
#    else
#        define IPC_API __declspec(dllimport)
#    endif
#else
#    define IPC_API __attribute__((visibility("default")))
#endif
#if defined(_WIN32)
#    define IPC_CALL __cdecl
#else
#    define IPC_CALL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The minor part grows when a function is added, the major part when one is changed or removed. */
#define IPC_ABI_VERSION_MAJOR 1
#define IPC_ABI_VERSION_MINOR 1
#define IPC_FOREVER (-1)
/* How many calls of one channel may be submitted and not yet completed. */
#define IPC_MOST_IN_FLIGHT 256

typedef int32_t ipc_status;

/* Caller's mistakes: the program must be changed (1..31). */
enum {
    IPC_OK = 0,
    IPC_INVALID_ARGUMENT = 1,  /* a null pointer, a negative time-out other than IPC_FOREVER ... */
    IPC_BAD_ADDRESS = 2,       /* not of the form transport://name?option=value, or a name the transport cannot use */
    IPC_UNKNOWN_TRANSPORT = 3, /* no such transport in the registry */
    IPC_BAD_OPTION = 4,        /* unknown option, or a value it does not take */
    IPC_MESSAGE_TOO_LARGE = 5, /* longer than the channel's limit (option max=); nothing was sent */
    IPC_BUFFER_TOO_SMALL = 6,  /* the message is kept and its length is returned: call again with enough room */
    IPC_WRONG_STATE = 7,       /* commit without reserve, release without peek, reply without request ... */
    /* IPC_MOST_IN_FLIGHT calls are in flight: complete one, then submit again; nothing was sent */
    IPC_TOO_MANY_CALLS = 8,

    /* The environment: the program may be correct, but something outside it failed (32..). */
    IPC_NAME_IN_USE = 32,      /* another listener has the name */
    IPC_NO_SERVER = 33,        /* nobody listens at the address */
    IPC_NO_PERMISSION = 34,    /* the other side belongs to another user, or the system refuses access */
    IPC_TIMED_OUT = 35,        /* the time-out expired */
    IPC_PEER_CLOSED = 36,      /* the peer closed or died between two messages */
    IPC_CLOSED = 37,           /* this handle was closed on this side by ipc_*_close */
    IPC_TRUNCATED = 38,        /* the peer closed or died in the middle of a message */
    IPC_NOT_OUR_PROTOCOL = 39, /* the peer speaks something else, or sent damaged bytes; the channel is broken */
    IPC_PEER_TOO_LARGE = 40,   /* the peer announced a message over this channel's limit; the channel is broken */
    IPC_NOT_AVAILABLE = 41,    /* the transport does not exist on this system or a library it needs is missing */
    IPC_HANDLER_FAILED = 42,   /* the peer's handler reported a failure; ipc_last_error() gives its text */
    IPC_OUT_OF_MEMORY = 43,
    IPC_SYSTEM = 44 /* any other failure of a system call; ipc_last_error() gives the text */
};

typedef struct ipc_listener ipc_listener;
typedef struct ipc_channel ipc_channel;
typedef struct ipc_reply_writer ipc_reply_writer;
typedef struct ipc_queue ipc_queue;           /* since 1.1 */
typedef struct ipc_publisher ipc_publisher;   /* since 1.1 */
typedef struct ipc_subscriber ipc_subscriber; /* since 1.1 */

/* ---- about the library ------------------------------------------------------------------------------------------ */

/* (major << 16) | minor of the library loaded. A program built against 1.m runs with any 1.n where n >= m. */
IPC_API uint32_t IPC_CALL ipc_abi_version(void);
/* A short constant English text for a status, never NULL. */
IPC_API const char* IPC_CALL ipc_status_text(ipc_status status);
/* 1 if the status is a caller's mistake, 0 otherwise. */
IPC_API int32_t IPC_CALL ipc_status_is_callers_mistake(ipc_status status);
/* The calling thread's latest failure as an error message; "" if none. Valid until the thread's next failing call. */
IPC_API const char* IPC_CALL ipc_last_error(void);
/* How many transports the registry has, and the id of each (0-based; NULL past the end). Constant for a build. */
IPC_API int32_t IPC_CALL ipc_transport_count(void);
IPC_API const char* IPC_CALL ipc_transport_id(int32_t index);
/* One transport's registry entry as JSON text (UTF-8, constant); NULL if there is no such transport. */
IPC_API const char* IPC_CALL ipc_transport_describe(const char* transport_id);

/* ---- making channels -------------------------------------------------------------------------------------------- */

/* [BAD_ADDRESS, UNKNOWN_TRANSPORT, BAD_OPTION, NAME_IN_USE, NO_PERMISSION, NOT_AVAILABLE, WRONG_STATE: another kind of transport] */
IPC_API ipc_status IPC_CALL ipc_listen(const char* address, ipc_listener** listener);
/* Where clients connect: the address given, with the port filled in that the system chose for port 0 (tcp). Owned by the listener. */
IPC_API const char* IPC_CALL ipc_listener_address(const ipc_listener* listener);
/* IPC_SYSTEM at the end of the time-out: a client came that the system had too little for (descriptors, memory), and no other.
   [TIMED_OUT, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_accept(ipc_listener* listener, int32_t timeout_ms, ipc_channel** channel);
IPC_API void IPC_CALL ipc_listener_close(ipc_listener* listener);
IPC_API void IPC_CALL ipc_listener_free(ipc_listener* listener);

/* Returns IPC_NO_SERVER at once when nobody listens; the time-out bounds the handshake with a slow server.
   [those of ipc_listen except NAME_IN_USE; NO_SERVER, TIMED_OUT, PEER_CLOSED, NOT_OUR_PROTOCOL] */
IPC_API ipc_status IPC_CALL ipc_connect(const char* address, int32_t timeout_ms, ipc_channel** channel);
IPC_API void IPC_CALL ipc_channel_close(ipc_channel* channel);
IPC_API void IPC_CALL ipc_channel_free(ipc_channel* channel);
/* The largest message in bytes that this channel sends or accepts (option max=, default 64 MiB). */
IPC_API size_t IPC_CALL ipc_channel_limit(const ipc_channel* channel);
/* What an event loop waits on: a descriptor that becomes readable when there may be something to receive or the peer has gone; on
   Windows the SOCKET. The channel owns it: the caller may only wait on it, and only after a receiving function with a time-out of 0
   has returned IPC_TIMED_OUT, because several messages may have arrived together. IPC_NOT_AVAILABLE for pipes on Windows and for
   transports in shared memory, whose peer makes no system call that could wake a loop: receive on a separate thread there.
   [NOT_AVAILABLE, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_channel_fd(ipc_channel* channel, intptr_t* descriptor);
/* Calls a receiver back without closing its channel: from on = 1 until on = 0 every receiving function, including one that is waiting
   now, behaves as if its time-out were 0; it, and ipc_serve, returns IPC_TIMED_OUT when there is nothing to receive. Sending is
   unaffected, and so is the part of ipc_call that sends. May be called from any thread, like close. For transports in shared memory
   (shm, shm-event), where ipc_channel_fd has nothing to wait on, and on Windows for pipe and tcp; IPC_NOT_AVAILABLE elsewhere.
   [NOT_AVAILABLE, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_channel_interrupt(ipc_channel* channel, int32_t on);

/* ---- messages, copied ------------------------------------------------------------------------------------------- */

/* [MESSAGE_TOO_LARGE, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a room is reserved] */
IPC_API ipc_status IPC_CALL ipc_send(ipc_channel* channel, const void* message, size_t length, int32_t timeout_ms);
/* Copies the next message to buffer and its length to *length. IPC_BUFFER_TOO_SMALL: *length is the room it needs.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_receive(ipc_channel* channel, void* buffer, size_t capacity, size_t* length,
                                        int32_t timeout_ms);

/* ---- messages in place: written and read without a copy where the transport can (registry: zero_copy), else in a buffer - */

/* Reserves room for one message of at most `length` bytes. There is one room at a time: a second reserve gives the first one back,
   even if it fails or the channel is closed. Until the commit or cancel every other sending function returns IPC_WRONG_STATE.
   [MESSAGE_TOO_LARGE, TIMED_OUT, PEER_CLOSED] */
IPC_API ipc_status IPC_CALL ipc_reserve(ipc_channel* channel, size_t length, void** message, int32_t timeout_ms);
/* Sends the first `length` bytes of the reserved room. After IPC_TIMED_OUT on a channel that is not broken, and after
   IPC_INVALID_ARGUMENT (more than was reserved), nothing was sent and the room keeps its contents: commit again, or cancel.
   After any other failure of the channel, including IPC_CLOSED, the room has been given back.
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: no room, or one from ipc_reserve_reply] */
IPC_API ipc_status IPC_CALL ipc_commit(ipc_channel* channel, size_t length, int32_t timeout_ms);
/* Gives the reserved room, also a reply's, back without sending it. Never waits, and works on a closed channel. [WRONG_STATE: no room] */
IPC_API ipc_status IPC_CALL ipc_cancel(ipc_channel* channel);
/* The next message, in place until ipc_release. The peer of a zero-copy transport can still write to it:
   copy whatever must be checked before it is used. Peeking again without a release gives the same message.
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: a reply or request is held] */
IPC_API ipc_status IPC_CALL ipc_peek(ipc_channel* channel, const void** message, size_t* length, int32_t timeout_ms);
/* Gives back the message of ipc_peek or the reply of ipc_call_peek. Never waits, and works on a
   closed channel. [WRONG_STATE: there is none] */
IPC_API ipc_status IPC_CALL ipc_release(ipc_channel* channel);

/* ---- batches of small messages (since 1.1): one publication and at most one wake-up for all of them ------------- */

/* Sends `count` messages that lie back to back in `messages`, lengths[i] bytes each, in order. *sent says how many were sent,
   even if the call fails: the messages sent before a time-out stay sent, and the channel stays usable. [those of ipc_send] */
IPC_API ipc_status IPC_CALL ipc_send_batch(ipc_channel* channel, const void* messages, const uint32_t* lengths,
                                           size_t count, size_t* sent, int32_t timeout_ms);
/* Waits for a message, then takes it and those that have already arrived, at most max_count and as long as the next one fits:
   back to back in buffer, with their lengths in lengths[0..*count). IPC_BUFFER_TOO_SMALL: not even the first one fits;
   it is kept, and lengths[0] is the room it needs. [those of ipc_receive] */
IPC_API ipc_status IPC_CALL ipc_receive_batch(ipc_channel* channel, void* buffer, size_t capacity, uint32_t* lengths,
                                              size_t max_count, size_t* count, int32_t timeout_ms);

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Sends a request and copies its reply. The time-out covers the whole call. A reply that comes later is dropped by the next receiving
   call, not before, and the channel stays usable: a server that is still sending such a reply, if it is too long for the transport's
   buffers, receives nothing meanwhile, so that a long next request may be cut by its time-out. IPC_BUFFER_TOO_SMALL: *reply_length is
   the room that the reply needs; it is kept until the next receiving call: fetch it with ipc_receive_reply.
   [MESSAGE_TOO_LARGE, BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED, HANDLER_FAILED; WRONG_STATE: a room is
   reserved, or a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_call(ipc_channel* channel, const void* request, size_t request_length, void* reply,
                                     size_t reply_capacity, size_t* reply_length, int32_t timeout_ms);
/* Copies the reply kept by an ipc_call that returned IPC_BUFFER_TOO_SMALL. It stays kept after BUFFER_TOO_SMALL and TIMED_OUT.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: none is kept] */
IPC_API ipc_status IPC_CALL ipc_receive_reply(ipc_channel* channel, void* reply, size_t capacity, size_t* length,
                                              int32_t timeout_ms);
/* Like ipc_call, but the reply is read in place, until ipc_release. [those of ipc_call except BUFFER_TOO_SMALL] */
IPC_API ipc_status IPC_CALL ipc_call_peek(ipc_channel* channel, const void* request, size_t request_length,
                                          const void** reply, size_t* reply_length, int32_t timeout_ms);

/* A handler gets one request in place and answers through the writer: it calls ipc_reply_reserve and fills exactly that room.
   It returns IPC_OK, or any other status to fail the call: the client's call then returns IPC_HANDLER_FAILED with the text given
   to ipc_reply_fail. If it returns IPC_OK without having reserved room, the reply is empty. It must not use the channel
   except for ipc_channel_close and ipc_channel_free. */
typedef ipc_status(IPC_CALL* ipc_handler)(void* user, const void* request, size_t request_length,
                                          ipc_reply_writer* writer);
/* [MESSAGE_TOO_LARGE, PEER_CLOSED] */
IPC_API ipc_status IPC_CALL ipc_reply_reserve(ipc_reply_writer* writer, size_t length, void** reply);
IPC_API ipc_status IPC_CALL ipc_reply_fail(ipc_reply_writer* writer, const char* text);

/* Answers calls until the peer closes (returns IPC_OK), the handle is closed (IPC_CLOSED) or the channel fails. Over a transport
   of kind "call" the handler runs on the transport's threads, one request at a time, while ipc_serve waits.
   [WRONG_STATE: a room is reserved, or a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_serve(ipc_channel* channel, ipc_handler handler, void* user);

/* The same step by step, for bindings and event loops. Waits for a request, which is in place until the reply is sent.
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_receive_request(ipc_channel* channel, const void** request, size_t* length,
                                                int32_t timeout_ms);
/* Answers it with a copy, or in place (ipc_reserve_reply, then ipc_commit_reply), or fails it with a text. After IPC_TIMED_OUT on a
   channel that is not broken the request is kept and can be answered again; after any other failure it cannot.
   A room for a reply follows the rules of ipc_reserve: cancel it before answering in another way.
   [those of ipc_send, ipc_reserve and ipc_commit; WRONG_STATE: no request, a room is reserved, or one from ipc_reserve] */
IPC_API ipc_status IPC_CALL ipc_reply(ipc_channel* channel, const void* reply, size_t length, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_reserve_reply(ipc_channel* channel, size_t length, void** reply, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_commit_reply(ipc_channel* channel, size_t length, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_fail_request(ipc_channel* channel, const char* text, int32_t timeout_ms);

/* ---- many calls in flight (since 1.1); the server may answer them in any order ----------------------------------- */

/* Sends a request without waiting for its reply. ipc_complete returns the reply together with `tag`, a value of the caller's choice
   such as an index or a pointer; several calls may share one. One thread may submit while another completes, or one thread may do
   both in turn. If there is no room for the request, ipc_submit waits, and meanwhile takes in replies (unless another thread is
   inside ipc_complete, which does so), so that client and server do not deadlock when both directions are full; over `pipe` on
   Windows, mailslot, boost-mq and iceoryx it only waits. After IPC_TIMED_OUT on a channel that is not broken nothing was sent.
   A request that was cut breaks the channel, even with a time-out of 0, since the system may have taken a part of it. While calls are
   in flight, ipc_call and every receiving function but ipc_complete return IPC_WRONG_STATE. Transports of kind "call" return
   IPC_NOT_AVAILABLE. [MESSAGE_TOO_LARGE, TOO_MANY_CALLS, TIMED_OUT, PEER_CLOSED, NOT_AVAILABLE; WRONG_STATE: a room is reserved] */
IPC_API ipc_status IPC_CALL ipc_submit(ipc_channel* channel, const void* request, size_t length, uint64_t tag,
                                       int32_t timeout_ms);
/* Waits until a call in flight has ended and returns its tag. Every submitted call is reported exactly once. *outcome is IPC_OK, with
   the reply in `reply`; IPC_HANDLER_FAILED; or the reason why the channel ended (IPC_CLOSED, IPC_PEER_CLOSED ...), with which all
   calls in flight end one after the other. If *outcome is not IPC_OK, ipc_last_error() describes it. IPC_BUFFER_TOO_SMALL: *length is
   the room that the reply to *tag needs; the call stays in flight until ipc_complete is called again with enough room.
   IPC_TIMED_OUT: no call has ended. A call in flight has no time-out of its own; to abandon one, ignore its completion. If no call
   is in flight, ipc_complete waits for one that another thread submits, or returns the channel's failure. An event loop calls it with
   a time-out of 0 and waits on ipc_channel_fd after IPC_TIMED_OUT.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_complete(ipc_channel* channel, uint64_t* tag, ipc_status* outcome, void* reply,
                                         size_t capacity, size_t* length, int32_t timeout_ms);

/* For servers that answer out of order, perhaps from several threads: sets the request from ipc_receive_request aside under a token,
   so that the next one can be received. The memory of the request is given back at once: copy what is needed first. Answer each
   token once; its value may then be used again for a later request.
   [WRONG_STATE: no request; NOT_AVAILABLE: over transports of kind "call"] */
IPC_API ipc_status IPC_CALL ipc_defer_request(ipc_channel* channel, uint64_t* token);
/* Answers a deferred request, or fails it with a text. Both count as sending: threads that answer over one channel need a common lock.
   After IPC_TIMED_OUT on a channel that is not broken the request can be answered again; after any other failure it cannot.
   [those of ipc_send; WRONG_STATE: no request is deferred; INVALID_ARGUMENT: not a token of this channel] */
IPC_API ipc_status IPC_CALL ipc_reply_deferred(ipc_channel* channel, uint64_t token, const void* reply, size_t length,
                                               int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_fail_deferred(ipc_channel* channel, uint64_t token, const char* text,
                                              int32_t timeout_ms);

/* ---- queues (since 1.1): one way, many writers and many readers, each message to one reader; registry kind "queue" --- */

/* Opens the queue of this name and creates it if there is none. The option size= of whoever creates the queue holds.
   IPC_WRONG_STATE for a transport of another kind. [TIMED_OUT; those of ipc_listen except NAME_IN_USE] */
IPC_API ipc_status IPC_CALL ipc_queue_open(const char* address, int32_t timeout_ms, ipc_queue** queue);
/* The largest message in bytes that this queue takes. */
IPC_API size_t IPC_CALL ipc_queue_limit(const ipc_queue* queue);
/* Copies the message into the queue. Waits while the queue is full; after IPC_TIMED_OUT nothing was added.
   [MESSAGE_TOO_LARGE, TIMED_OUT, CLOSED, NOT_OUR_PROTOCOL: the queue's memory is damaged] */
IPC_API ipc_status IPC_CALL ipc_queue_enqueue(ipc_queue* queue, const void* message, size_t length, int32_t timeout_ms);
/* Takes the oldest message. Waits while the queue is empty. IPC_BUFFER_TOO_SMALL: the message stays in the queue for the next
   reader, and *length is the room it needs. [BUFFER_TOO_SMALL, TIMED_OUT, CLOSED, NOT_OUR_PROTOCOL] */
IPC_API ipc_status IPC_CALL ipc_queue_dequeue(ipc_queue* queue, void* buffer, size_t capacity, size_t* length,
                                              int32_t timeout_ms);
IPC_API void IPC_CALL ipc_queue_close(ipc_queue* queue);
IPC_API void IPC_CALL ipc_queue_free(ipc_queue* queue);
/* Removes the queue's name and its messages. Processes that have it open keep using it without a name. IPC_NO_SERVER if there is
   no such queue. [those of ipc_listen except NAME_IN_USE; NO_SERVER] */
IPC_API ipc_status IPC_CALL ipc_queue_remove(const char* address);

/* ---- broadcast (since 1.1): one publisher, many subscribers, each message to all; registry kind "broadcast" ---------- */

/* Takes the name. IPC_NAME_IN_USE while another publisher has it. [those of ipc_listen] */
IPC_API ipc_status IPC_CALL ipc_publisher_open(const char* address, ipc_publisher** publisher);
IPC_API size_t IPC_CALL ipc_publisher_limit(const ipc_publisher* publisher);
/* How many subscribers there are now. */
IPC_API ipc_status IPC_CALL ipc_publisher_subscribers(ipc_publisher* publisher, size_t* count);
/* Publishes a copy of the message to all subscribers. Waits only for subscribers with policy=wait;
   after IPC_TIMED_OUT nothing was published. [MESSAGE_TOO_LARGE, TIMED_OUT, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_publish(ipc_publisher* publisher, const void* message, size_t length,
                                        int32_t timeout_ms);
IPC_API void IPC_CALL ipc_publisher_close(ipc_publisher* publisher);
IPC_API void IPC_CALL ipc_publisher_free(ipc_publisher* publisher);

/* Subscribes to what is published from now on. Option policy= says whether the publisher waits for this subscriber.
   IPC_NOT_AVAILABLE while the publisher already has the most subscribers it can have (64). [those of ipc_connect] */
IPC_API ipc_status IPC_CALL ipc_subscriber_open(const char* address, int32_t timeout_ms, ipc_subscriber** subscriber);
/* Copies the next message. *lost says how many messages this subscriber missed just before it (always 0 with policy=wait).
   IPC_PEER_CLOSED once the publisher has ended and everything it published has been read.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED, CLOSED, NOT_OUR_PROTOCOL, PEER_TOO_LARGE] */
IPC_API ipc_status IPC_CALL ipc_subscriber_receive(ipc_subscriber* subscriber, void* buffer, size_t capacity,
                                                   size_t* length, uint64_t* lost, int32_t timeout_ms);
IPC_API void IPC_CALL ipc_subscriber_close(ipc_subscriber* subscriber);
IPC_API void IPC_CALL ipc_subscriber_free(ipc_subscriber* subscriber);

#ifdef __cplusplus
}
#endif
#endif
