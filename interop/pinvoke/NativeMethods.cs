using System.Runtime.InteropServices;

namespace Ipc.Native;

/// <summary>
/// ipc.h, function for function. Signatures are blittable, so a call costs a jump and the runtime's change of mode.
/// </summary>
/// <remarks>
/// Even that change of mode is left out (SuppressGCTransition) where a function only reads memory and returns: the garbage
/// collector cannot stop a thread inside such a call, so nothing that could wait, lock or enter the kernel may have it.
/// Release is not among them: giving room back may wake a parked sender, which is a system call. Nor is anything that can be called
/// first: the compiler binds such functions when it compiles their caller, which may be before the loader has found the library.
/// </remarks>
internal static unsafe partial class NativeMethods
{
    public const string Library = "libipc";

    [LibraryImport(Library, EntryPoint = "ipc_abi_version")]
    public static partial uint AbiVersion();

    [LibraryImport(Library, EntryPoint = "ipc_status_text"), SuppressGCTransition]
    public static partial byte* StatusText(IpcStatus status);

    [LibraryImport(Library, EntryPoint = "ipc_last_error"), SuppressGCTransition]
    public static partial byte* LastError();

    [LibraryImport(Library, EntryPoint = "ipc_transport_count")]
    public static partial int TransportCount();

    [LibraryImport(Library, EntryPoint = "ipc_transport_id")]
    public static partial byte* TransportId(int index);

    [LibraryImport(Library, EntryPoint = "ipc_transport_describe", StringMarshalling = StringMarshalling.Utf8)]
    public static partial byte* TransportDescribe(string transportId);

    [LibraryImport(Library, EntryPoint = "ipc_listen", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus Listen(string address, NativeListener** listener);

    [LibraryImport(Library, EntryPoint = "ipc_listener_address")]
    public static partial byte* ListenerAddress(NativeListener* listener);

    [LibraryImport(Library, EntryPoint = "ipc_accept")]
    public static partial IpcStatus Accept(NativeListener* listener, int timeoutMilliseconds, NativeChannel** channel);

    // Close may race with Dispose, and is rare: the safe handle keeps the native object until the call has returned.
    [LibraryImport(Library, EntryPoint = "ipc_listener_close")]
    public static partial void ListenerClose(ListenerHandle listener);

    [LibraryImport(Library, EntryPoint = "ipc_listener_free")]
    public static partial void ListenerFree(NativeListener* listener);

    [LibraryImport(Library, EntryPoint = "ipc_connect", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus Connect(string address, int timeoutMilliseconds, NativeChannel** channel);

    [LibraryImport(Library, EntryPoint = "ipc_channel_close")]
    public static partial void ChannelClose(ChannelHandle channel);

    [LibraryImport(Library, EntryPoint = "ipc_channel_free")]
    public static partial void ChannelFree(NativeChannel* channel);

    [LibraryImport(Library, EntryPoint = "ipc_channel_limit")]
    public static partial nuint ChannelLimit(NativeChannel* channel);

    [LibraryImport(Library, EntryPoint = "ipc_channel_fd")]
    public static partial IpcStatus ChannelDescriptor(NativeChannel* channel, nint* descriptor);

    [LibraryImport(Library, EntryPoint = "ipc_channel_interrupt")]
    public static partial IpcStatus ChannelInterrupt(NativeChannel* channel, int on);

    [LibraryImport(Library, EntryPoint = "ipc_send")]
    public static partial IpcStatus Send(NativeChannel* channel, byte* message, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_receive")]
    public static partial IpcStatus Receive(
        NativeChannel* channel, byte* buffer, nuint capacity, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_reserve")]
    public static partial IpcStatus Reserve(NativeChannel* channel, nuint length, byte** message, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_commit")]
    public static partial IpcStatus Commit(NativeChannel* channel, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_cancel")]
    public static partial IpcStatus Cancel(NativeChannel* channel);

    [LibraryImport(Library, EntryPoint = "ipc_peek")]
    public static partial IpcStatus Peek(NativeChannel* channel, byte** message, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_release")]
    public static partial IpcStatus Release(NativeChannel* channel);

    [LibraryImport(Library, EntryPoint = "ipc_send_batch")]
    public static partial IpcStatus SendBatch(NativeChannel* channel, byte* messages, uint* lengths, nuint count, nuint* sent,
        int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_receive_batch")]
    public static partial IpcStatus ReceiveBatch(NativeChannel* channel, byte* buffer, nuint capacity, uint* lengths,
        nuint maxCount, nuint* count, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_call")]
    public static partial IpcStatus Call(NativeChannel* channel, byte* request, nuint requestLength, byte* reply,
        nuint replyCapacity, nuint* replyLength, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_receive_reply")]
    public static partial IpcStatus ReceiveReply(
        NativeChannel* channel, byte* reply, nuint capacity, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_call_peek")]
    public static partial IpcStatus CallPeek(NativeChannel* channel, byte* request, nuint requestLength, byte** reply,
        nuint* replyLength, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_receive_request")]
    public static partial IpcStatus ReceiveRequest(
        NativeChannel* channel, byte** request, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_reply")]
    public static partial IpcStatus Reply(NativeChannel* channel, byte* reply, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_serve")]
    public static partial IpcStatus Serve(
        NativeChannel* channel, delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int> handler, void* user);

    [LibraryImport(Library, EntryPoint = "ipc_reserve_reply")]
    public static partial IpcStatus ReserveReply(
        NativeChannel* channel, nuint length, byte** reply, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_commit_reply")]
    public static partial IpcStatus CommitReply(NativeChannel* channel, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_fail_request", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus FailRequest(NativeChannel* channel, string text, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_submit")]
    public static partial IpcStatus Submit(NativeChannel* channel, byte* request, nuint length, ulong tag, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_complete")]
    public static partial IpcStatus Complete(
        NativeChannel* channel, ulong* tag, IpcStatus* outcome, byte* reply, nuint capacity, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_defer_request")]
    public static partial IpcStatus DeferRequest(NativeChannel* channel, ulong* token);

    [LibraryImport(Library, EntryPoint = "ipc_reply_deferred")]
    public static partial IpcStatus ReplyDeferred(NativeChannel* channel, ulong token, byte* reply, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_fail_deferred", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus FailDeferred(NativeChannel* channel, ulong token, string text, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_queue_open", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus QueueOpen(string address, int timeoutMilliseconds, NativeQueue** queue);

    [LibraryImport(Library, EntryPoint = "ipc_queue_limit")]
    public static partial nuint QueueLimit(NativeQueue* queue);

    [LibraryImport(Library, EntryPoint = "ipc_queue_enqueue")]
    public static partial IpcStatus QueueEnqueue(NativeQueue* queue, byte* message, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_queue_dequeue")]
    public static partial IpcStatus QueueDequeue(NativeQueue* queue, byte* buffer, nuint capacity, nuint* length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_queue_close")]
    public static partial void QueueClose(QueueHandle queue);

    [LibraryImport(Library, EntryPoint = "ipc_queue_free")]
    public static partial void QueueFree(NativeQueue* queue);

    [LibraryImport(Library, EntryPoint = "ipc_queue_remove", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus QueueRemove(string address);

    [LibraryImport(Library, EntryPoint = "ipc_publisher_open", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus PublisherOpen(string address, NativePublisher** publisher);

    [LibraryImport(Library, EntryPoint = "ipc_publisher_limit"), SuppressGCTransition]
    public static partial nuint PublisherLimit(NativePublisher* publisher);

    [LibraryImport(Library, EntryPoint = "ipc_publisher_subscribers")]
    public static partial IpcStatus PublisherSubscribers(NativePublisher* publisher, nuint* count);

    [LibraryImport(Library, EntryPoint = "ipc_publish")]
    public static partial IpcStatus Publish(NativePublisher* publisher, byte* message, nuint length, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_publisher_close")]
    public static partial void PublisherClose(PublisherHandle publisher);

    [LibraryImport(Library, EntryPoint = "ipc_publisher_free")]
    public static partial void PublisherFree(NativePublisher* publisher);

    [LibraryImport(Library, EntryPoint = "ipc_subscriber_open", StringMarshalling = StringMarshalling.Utf8)]
    public static partial IpcStatus SubscriberOpen(string address, int timeoutMilliseconds, NativeSubscriber** subscriber);

    [LibraryImport(Library, EntryPoint = "ipc_subscriber_receive")]
    public static partial IpcStatus SubscriberReceive(
        NativeSubscriber* subscriber, byte* buffer, nuint capacity, nuint* length, ulong* lost, int timeoutMilliseconds);

    [LibraryImport(Library, EntryPoint = "ipc_subscriber_close")]
    public static partial void SubscriberClose(SubscriberHandle subscriber);

    [LibraryImport(Library, EntryPoint = "ipc_subscriber_free")]
    public static partial void SubscriberFree(NativeSubscriber* subscriber);
}
