/* ipc.h - the flat C ABI of ipc, version 1.
 *
 * THREADS
 *   Listeners: any number of threads may call ipc_accept on one listener.
 *   Channels:  at most one thread sends and at most one thread receives at a time; the two may be different threads.
 *              Sending: send, send_batch, reserve, commit, cancel, call, call_peek, reply, reserve_reply, commit_reply,
 *              fail_request, submit, reply_deferred, fail_deferred. Receiving: receive, receive_batch, peek, release,
 *              receive_request, defer_request, complete; call, call_peek and receive_reply receive as well. A second sender or
 *              receiver needs the caller's own lock.
 *   Queues:    any number of threads may call ipc_queue_enqueue and ipc_queue_dequeue on one queue.
 *   Publishers and subscribers: one thread at a time each.
 *   *_close may be called from any thread, at any time, any number of times, also while another thread closes. It interrupts
 *   every call that is blocked on the handle: that returns IPC_CLOSED within 100 ms.
 *
 * OWNERSHIP
 *   Handles are opaque and made only by this library. *_close ends the connection but keeps the handle valid. *_free closes,
 *   waits until every thread that is inside a call on the handle has left it, and releases the handle; free(NULL) does
 *   nothing. From the moment free is called no other thread may begin a call on the handle: it is a pointer to memory
 *   that goes away. So a thread that was woken by another one's close may free at once, and one thread may free under
 *   the blocked call of another, provided that the other does not call again. ipc_channel_free from the channel's own
 *   handler (ipc_serve) returns at once; the channel is released when ipc_serve returns.
 *   Addresses and messages passed in are copied or sent before the call returns. Memory given out by ipc_peek,
 *   ipc_reserve and ipc_call_peek belongs to the channel and is valid until the matching release, commit or cancel.
 *
 * FORK  Every descriptor is close-on-exec. A child forked without exec gets none of them either (each number stands for nothing there), so
 *   that peers notice its parent's death although the child lives, and names and locks of the dead are free. Such a child must not use
 *   its parent's handles, not even free them: leave them be and end by _exit. It may make handles of its own.
 *   Not covered: clone and vfork called by the program itself, and the instant in which another thread is just opening something.
 *
 * TIME-OUTS are in milliseconds: IPC_FOREVER waits without end, 0 does not wait. They bound the whole call, whatever the
 *   peer does. A send that timed out half-way has cut a message: the channel is then broken and says so. A receive that
 *   timed out has lost nothing: a large message of which a part has come stays, and the next call goes on with it.
 *
 * STATUSES  Every function returns an ipc_status (IPC_OK is 0) unless its comment says otherwise. ipc_last_error() gives the
 *   thread's latest failure as an error message that names the thing and what to do. No exception and no signal crosses the ABI.
 *   Any function may return IPC_INVALID_ARGUMENT, IPC_OUT_OF_MEMORY and IPC_SYSTEM. Functions on a channel may return, before
 *   anything else, IPC_CLOSED once it was closed here, and else the failure that broke it: IPC_TRUNCATED, IPC_NOT_OUR_PROTOCOL,
 *   IPC_PEER_TOO_LARGE, IPC_SYSTEM, or IPC_TIMED_OUT for a message that was cut. A broken channel repeats its first failure,
 *   status and error message, in every later call; but what had come before a time-out cut a message sent here may still be received.
 *   IPC_PEER_CLOSED ends sending at once; receiving goes on until all that the peer sent before has been read. What else a function
 *   returns is in brackets after it.
 *
 * OUT-PARAMETERS after a failure: a handle is NULL; counts (sent, count) say what was done; a length is what the message
 *   needs after IPC_BUFFER_TOO_SMALL; everything else is not to be used.
 *
 * MESSAGES  A channel carries either calls (ipc_call against ipc_serve or ipc_receive_request/ipc_reply) or plain messages
 *   (ipc_send against ipc_receive); order is kept, boundaries are kept, an empty message is a message.
 *   Calls go one at a time (ipc_call) or many at once (ipc_submit, ipc_complete), against any server.
 *   Over transports of kind "call" only the client calls or sends, and ipc_send returns once the server has received the message;
 *   a server's ipc_send and a client's ipc_receive are IPC_WRONG_STATE.
 *   The byte formats are in docs/wire-formats.md.
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

/* Raised when a function is added; the major part when one is changed or removed. */
#define IPC_ABI_VERSION_MAJOR 1
#define IPC_ABI_VERSION_MINOR 1
#define IPC_FOREVER (-1)
/* So many calls of one channel may be submitted and not completed. */
#define IPC_MOST_IN_FLIGHT 256

typedef int32_t ipc_status;

/* Caller's mistakes: the program is wrong and must change (1..31). */
enum {
    IPC_OK = 0,
    IPC_INVALID_ARGUMENT = 1,  /* a null pointer, a negative time-out other than IPC_FOREVER ... */
    IPC_BAD_ADDRESS = 2,       /* not of the form transport://name?option=value, or a name the transport cannot use */
    IPC_UNKNOWN_TRANSPORT = 3, /* no such transport in the registry */
    IPC_BAD_OPTION = 4,        /* unknown option, or a value it does not take */
    IPC_MESSAGE_TOO_LARGE = 5, /* longer than the channel's limit (option max=); nothing was sent */
    IPC_BUFFER_TOO_SMALL = 6,  /* the message stays and its length is given: ask again with room for it */
    IPC_WRONG_STATE = 7,       /* commit without reserve, release without peek, reply without request ... */
    IPC_TOO_MANY_CALLS =
        8, /* IPC_MOST_IN_FLIGHT calls are in flight: complete one, then submit again; nothing was sent */

    /* The environment: the program may be right and the world is not (32..). */
    IPC_NAME_IN_USE = 32,      /* another listener has the name */
    IPC_NO_SERVER = 33,        /* nobody listens at the address */
    IPC_NO_PERMISSION = 34,    /* the other side belongs to another user, or the system refuses access */
    IPC_TIMED_OUT = 35,        /* the time-out passed */
    IPC_PEER_CLOSED = 36,      /* the peer closed or died between two messages */
    IPC_CLOSED = 37,           /* this handle was closed, here, by ipc_*_close */
    IPC_TRUNCATED = 38,        /* the peer closed or died in the middle of a message */
    IPC_NOT_OUR_PROTOCOL = 39, /* the peer speaks something else, or sent damaged bytes; the channel is broken */
    IPC_PEER_TOO_LARGE = 40,   /* the peer announced a message over this channel's limit; the channel is broken */
    IPC_NOT_AVAILABLE = 41,    /* the transport does not exist on this system or a library it needs is missing */
    IPC_HANDLER_FAILED = 42,   /* the peer's handler reported a failure; ipc_last_error() gives its text */
    IPC_OUT_OF_MEMORY = 43,
    IPC_SYSTEM = 44 /* any other refusal of the system; ipc_last_error() gives its words */
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
/* Where clients connect: the address given, with what the system chose put in (tcp port 0). Owned by the listener. */
IPC_API const char* IPC_CALL ipc_listener_address(const ipc_listener* listener);
/* [TIMED_OUT, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_accept(ipc_listener* listener, int32_t timeout_ms, ipc_channel** channel);
IPC_API void IPC_CALL ipc_listener_close(ipc_listener* listener);
IPC_API void IPC_CALL ipc_listener_free(ipc_listener* listener);

/* IPC_NO_SERVER comes at once when nobody listens; the time-out bounds the handover with a slow server.
   [those of ipc_listen but NAME_IN_USE; NO_SERVER, TIMED_OUT, PEER_CLOSED, NOT_OUR_PROTOCOL] */
IPC_API ipc_status IPC_CALL ipc_connect(const char* address, int32_t timeout_ms, ipc_channel** channel);
IPC_API void IPC_CALL ipc_channel_close(ipc_channel* channel);
IPC_API void IPC_CALL ipc_channel_free(ipc_channel* channel);
/* The largest message in bytes this channel sends or accepts (option max=, 64 MiB unless said). */
IPC_API size_t IPC_CALL ipc_channel_limit(const ipc_channel* channel);
/* What an event loop waits on: a descriptor that is readable when there may be something to receive, or the peer has gone; on
   Windows the SOCKET. It is the channel's own: only wait for it, and only after a receiving function returned IPC_TIMED_OUT
   to a time-out of 0, for a message may have arrived together with an earlier one. IPC_NOT_AVAILABLE where there is none:
   pipes on Windows, and transports in shared memory, whose peer makes no system call that could wake a loop:
   receive there on a thread of its own. [NOT_AVAILABLE, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_channel_fd(ipc_channel* channel, intptr_t* descriptor);

/* ---- messages, copied ------------------------------------------------------------------------------------------- */

/* [MESSAGE_TOO_LARGE, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a room is reserved] */
IPC_API ipc_status IPC_CALL ipc_send(ipc_channel* channel, const void* message, size_t length, int32_t timeout_ms);
/* Copies the next message to buffer and its length to *length. IPC_BUFFER_TOO_SMALL: *length is what it needs.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_receive(ipc_channel* channel, void* buffer, size_t capacity, size_t* length,
                                        int32_t timeout_ms);

/* ---- messages, lent: written and read in place where the transport can (registry: zero_copy), else through a buffer - */

/* Room for one message of at most `length` bytes. One at a time: a second reserve gives the first room back, whether it
   succeeds or not, also on a closed channel. From here to the commit or cancel every other sending function returns IPC_WRONG_STATE.
   [MESSAGE_TOO_LARGE, TIMED_OUT, PEER_CLOSED] */
IPC_API ipc_status IPC_CALL ipc_reserve(ipc_channel* channel, size_t length, void** message, int32_t timeout_ms);
/* Sends the first `length` bytes of the room that ipc_reserve gave. After IPC_TIMED_OUT of a channel that is not broken, and after
   IPC_INVALID_ARGUMENT (more than was reserved), nothing was sent and the room is kept with what was written into it: commit
   again, or cancel. After any other failure of the channel, IPC_CLOSED too, the room has been given back.
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: no room, or one from ipc_reserve_reply] */
IPC_API ipc_status IPC_CALL ipc_commit(ipc_channel* channel, size_t length, int32_t timeout_ms);
/* Gives the reserved room back unsent, a reply's too. Never waits, also on a closed channel. [WRONG_STATE: no room] */
IPC_API ipc_status IPC_CALL ipc_cancel(ipc_channel* channel);
/* The next message in place, kept until ipc_release. The peer of a zero-copy transport can still write there:
   copy what you must check before you use it. Peeking again without release gives the same message.
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: a reply or request is held] */
IPC_API ipc_status IPC_CALL ipc_peek(ipc_channel* channel, const void** message, size_t* length, int32_t timeout_ms);
/* Gives back the message of ipc_peek or the reply of ipc_call_peek. Never waits, also on a closed channel.
   [WRONG_STATE: there is none] */
IPC_API ipc_status IPC_CALL ipc_release(ipc_channel* channel);

/* ---- batches of small messages (since 1.1): one publication and at most one wake-up for all of them ------------- */

/* Sends `count` messages that lie back to back in `messages`, lengths[i] bytes each, in order. *sent tells how many went
   out, also when the call fails: those before a time-out are sent and the channel stays good. [those of ipc_send] */
IPC_API ipc_status IPC_CALL ipc_send_batch(ipc_channel* channel, const void* messages, const uint32_t* lengths,
                                           size_t count, size_t* sent, int32_t timeout_ms);
/* Waits for a message, then takes it and those that are already there, up to max_count and as long as the next fits whole:
   back to back in buffer, with their lengths in lengths[0..*count). IPC_BUFFER_TOO_SMALL: not even the first fits;
   it stays, and lengths[0] is what it needs. [those of ipc_receive] */
IPC_API ipc_status IPC_CALL ipc_receive_batch(ipc_channel* channel, void* buffer, size_t capacity, uint32_t* lengths,
                                              size_t max_count, size_t* count, int32_t timeout_ms);

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* Sends a request and copies its reply. The time-out covers the whole call; a late reply is dropped, the channel stays
   good. It is dropped by the next receiving call, not before: while a server still sends one that is longer than what is kept on the
   way, it receives nothing, and a next request that is as long is cut by its time-out. IPC_BUFFER_TOO_SMALL: the reply is kept until the next receiving call, *reply_length is what it needs: get it with
   ipc_receive_reply. [MESSAGE_TOO_LARGE, BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED, HANDLER_FAILED; WRONG_STATE: a room is
   reserved, or a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_call(ipc_channel* channel, const void* request, size_t request_length, void* reply,
                                     size_t reply_capacity, size_t* reply_length, int32_t timeout_ms);
/* The reply kept by an ipc_call that returned IPC_BUFFER_TOO_SMALL; kept on after BUFFER_TOO_SMALL and TIMED_OUT.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: none is kept] */
IPC_API ipc_status IPC_CALL ipc_receive_reply(ipc_channel* channel, void* reply, size_t capacity, size_t* length,
                                              int32_t timeout_ms);
/* As ipc_call, with the reply in place until ipc_release. [those of ipc_call but BUFFER_TOO_SMALL] */
IPC_API ipc_status IPC_CALL ipc_call_peek(ipc_channel* channel, const void* request, size_t request_length,
                                          const void** reply, size_t* reply_length, int32_t timeout_ms);

/* A handler gets one request in place and answers through the writer: ipc_reply_reserve, then fill exactly that room.
   It returns IPC_OK, or any other status to fail the call at the client (IPC_HANDLER_FAILED there; the text given to
   ipc_reply_fail travels along). No room reserved and IPC_OK: the reply is empty. It must not touch the channel, but for
   ipc_channel_close and ipc_channel_free. */
typedef ipc_status(IPC_CALL* ipc_handler)(void* user, const void* request, size_t request_length,
                                          ipc_reply_writer* writer);
/* [MESSAGE_TOO_LARGE, PEER_CLOSED] */
IPC_API ipc_status IPC_CALL ipc_reply_reserve(ipc_reply_writer* writer, size_t length, void** reply);
IPC_API ipc_status IPC_CALL ipc_reply_fail(ipc_reply_writer* writer, const char* text);

/* Answers calls until the peer closes (returns IPC_OK), the handle is closed (IPC_CLOSED) or the channel fails. Over a transport
   of kind "call" the handler runs on the transport's threads, one request at a time, while this waits.
   [WRONG_STATE: a room is reserved, or a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_serve(ipc_channel* channel, ipc_handler handler, void* user);

/* The same a step at a time, for bindings and event loops: wait for a request (in place until the reply is sent) ...
   [TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_receive_request(ipc_channel* channel, const void** request, size_t* length,
                                                int32_t timeout_ms);
/* ... and answer it, copied, or written in place: ipc_reserve_reply then ipc_commit_reply; or fail it with a text. After
   IPC_TIMED_OUT of a channel that is not broken the request stays and can be answered again, after any other failure not.
   A reply's room is lent as that of ipc_reserve: cancel it before answering otherwise.
   [those of ipc_send, ipc_reserve and ipc_commit; WRONG_STATE: no request, a room is reserved, or one from ipc_reserve] */
IPC_API ipc_status IPC_CALL ipc_reply(ipc_channel* channel, const void* reply, size_t length, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_reserve_reply(ipc_channel* channel, size_t length, void** reply, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_commit_reply(ipc_channel* channel, size_t length, int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_fail_request(ipc_channel* channel, const char* text, int32_t timeout_ms);

/* ---- many calls in flight (since 1.1); the server may answer them in any order ----------------------------------- */

/* Sends a request and does not wait for its reply, which ipc_complete gives together with `tag`, the caller's own word: a number, a
   pointer, the same for two calls if that is of use. One thread may submit while another completes, or one does both by turns. While
   there is no room the call waits, and takes in replies meanwhile (unless another thread is inside ipc_complete and does), so that two
   ends whose ways are both full go on; over `pipe` on Windows, mailslot, boost-mq and iceoryx it only waits. After IPC_TIMED_OUT of a channel that is not
   broken nothing was sent; a request that was cut breaks the channel, also one with a time-out of 0, of which the system may have taken a
   part. While calls are in flight, other calls are IPC_WRONG_STATE, and so is receiving anything but completions. Over transports
   of kind "call" IPC_NOT_AVAILABLE. [MESSAGE_TOO_LARGE, TOO_MANY_CALLS, TIMED_OUT, PEER_CLOSED, NOT_AVAILABLE; WRONG_STATE: a room is reserved] */
IPC_API ipc_status IPC_CALL ipc_submit(ipc_channel* channel, const void* request, size_t length, uint64_t tag,
                                       int32_t timeout_ms);
/* Waits until some call in flight is over and tells which by its tag: each that was submitted is told of exactly once. *outcome: IPC_OK,
   with the reply in `reply`; IPC_HANDLER_FAILED; or why the channel ended (IPC_CLOSED, IPC_PEER_CLOSED ...), which in turn ends all that are
   in flight. ipc_last_error tells of an outcome that is not IPC_OK. IPC_BUFFER_TOO_SMALL: *length is what the reply of *tag needs; it
   stays and the call is in flight until ipc_complete is asked again. IPC_TIMED_OUT: none was over; a call has no time-out of its own,
   and whoever gives one up ignores its completion. With none in flight it waits for what another thread submits, or returns the
   channel's failure. After IPC_TIMED_OUT to a time-out of 0 an event loop waits for ipc_channel_fd.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED; WRONG_STATE: a message or request is held] */
IPC_API ipc_status IPC_CALL ipc_complete(ipc_channel* channel, uint64_t* tag, ipc_status* outcome, void* reply,
                                         size_t capacity, size_t* length, int32_t timeout_ms);

/* A server that answers out of order, perhaps from several threads: puts the request that ipc_receive_request gave off, under a token.
   Its memory goes back at once, so copy what is needed before; the next request can then be received. Answer each token once; after that
   it may come again. [WRONG_STATE: no request; NOT_AVAILABLE: over transports of kind "call"] */
IPC_API ipc_status IPC_CALL ipc_defer_request(ipc_channel* channel, uint64_t* token);
/* Answers it, or fails it with a text. Sending: threads that answer over one channel take turns by a lock of their own. After
   IPC_TIMED_OUT of a channel that is not broken it can be answered again, after any other failure not.
   [those of ipc_send; WRONG_STATE: no request is put off; INVALID_ARGUMENT: not a token of this channel] */
IPC_API ipc_status IPC_CALL ipc_reply_deferred(ipc_channel* channel, uint64_t token, const void* reply, size_t length,
                                               int32_t timeout_ms);
IPC_API ipc_status IPC_CALL ipc_fail_deferred(ipc_channel* channel, uint64_t token, const char* text,
                                              int32_t timeout_ms);

/* ---- queues (since 1.1): one way, many writers and many readers, each message to one reader; registry kind "queue" --- */

/* Opens the queue of this name, making it if there is none (its size is then this address's, else the maker's).
   IPC_WRONG_STATE for a transport of another kind. [TIMED_OUT; those of ipc_listen but NAME_IN_USE] */
IPC_API ipc_status IPC_CALL ipc_queue_open(const char* address, int32_t timeout_ms, ipc_queue** queue);
/* The largest message in bytes that this queue takes. */
IPC_API size_t IPC_CALL ipc_queue_limit(const ipc_queue* queue);
/* Copies the message in. Waits while the queue is full: IPC_TIMED_OUT with nothing put in; 0 tries once.
   [MESSAGE_TOO_LARGE, TIMED_OUT, CLOSED, NOT_OUR_PROTOCOL: the queue's memory is damaged] */
IPC_API ipc_status IPC_CALL ipc_queue_enqueue(ipc_queue* queue, const void* message, size_t length, int32_t timeout_ms);
/* Takes the oldest message out. Waits while the queue is empty; 0 tries once. IPC_BUFFER_TOO_SMALL: the message stays for
   whoever comes next and *length is what it needs. [BUFFER_TOO_SMALL, TIMED_OUT, CLOSED, NOT_OUR_PROTOCOL] */
IPC_API ipc_status IPC_CALL ipc_queue_dequeue(ipc_queue* queue, void* buffer, size_t capacity, size_t* length,
                                              int32_t timeout_ms);
IPC_API void IPC_CALL ipc_queue_close(ipc_queue* queue);
IPC_API void IPC_CALL ipc_queue_free(ipc_queue* queue);
/* Removes the name and what waits under it; who has the queue open goes on with the nameless rest. IPC_NO_SERVER if there
   is none. [those of ipc_listen but NAME_IN_USE; NO_SERVER] */
IPC_API ipc_status IPC_CALL ipc_queue_remove(const char* address);

/* ---- broadcast (since 1.1): one publisher, many subscribers, each message to all; registry kind "broadcast" ---------- */

/* Takes the name. IPC_NAME_IN_USE while another publisher has it. [those of ipc_listen] */
IPC_API ipc_status IPC_CALL ipc_publisher_open(const char* address, ipc_publisher** publisher);
IPC_API size_t IPC_CALL ipc_publisher_limit(const ipc_publisher* publisher);
/* How many subscribers are there now. */
IPC_API ipc_status IPC_CALL ipc_publisher_subscribers(ipc_publisher* publisher, size_t* count);
/* Copies the message to where all subscribers read it. Waits only for subscribers that asked to be waited for:
   IPC_TIMED_OUT with nothing published. [MESSAGE_TOO_LARGE, TIMED_OUT, CLOSED] */
IPC_API ipc_status IPC_CALL ipc_publish(ipc_publisher* publisher, const void* message, size_t length,
                                        int32_t timeout_ms);
IPC_API void IPC_CALL ipc_publisher_close(ipc_publisher* publisher);
IPC_API void IPC_CALL ipc_publisher_free(ipc_publisher* publisher);

/* Joins: what is published from now on arrives. The address's options say whether the publisher waits for this reader.
   IPC_NOT_AVAILABLE while the publisher has all the subscribers it can have (64). [those of ipc_connect] */
IPC_API ipc_status IPC_CALL ipc_subscriber_open(const char* address, int32_t timeout_ms, ipc_subscriber** subscriber);
/* Copies the next message. *lost: how many messages were dropped for this reader just before it (0 if it is waited for).
   IPC_PEER_CLOSED once the publisher has ended and all it published has been read.
   [BUFFER_TOO_SMALL, TIMED_OUT, PEER_CLOSED, CLOSED, NOT_OUR_PROTOCOL, PEER_TOO_LARGE] */
IPC_API ipc_status IPC_CALL ipc_subscriber_receive(ipc_subscriber* subscriber, void* buffer, size_t capacity,
                                                   size_t* length, uint64_t* lost, int32_t timeout_ms);
IPC_API void IPC_CALL ipc_subscriber_close(ipc_subscriber* subscriber);
IPC_API void IPC_CALL ipc_subscriber_free(ipc_subscriber* subscriber);

#ifdef __cplusplus
}
#endif
#endif
