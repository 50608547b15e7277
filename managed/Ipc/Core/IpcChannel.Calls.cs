namespace Ipc;

// Calls: requests with their replies.
public abstract partial class IpcChannel
{
    /// <summary>Sends a request, waits for its reply and copies it into a buffer.</summary>
    /// <remarks>After a time-out the channel is still usable: the late reply is dropped by the next operation that receives. Until then a server whose late
    /// reply exceeds what the transport buffers is stuck sending it, and a next request of that size times out, too.</remarks>
    /// <param name="request">The request.</param>
    /// <param name="reply">Receives the reply.</param>
    /// <param name="timeoutMilliseconds">The longest that the whole call may take, in milliseconds.</param>
    /// <returns>The length of the reply in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.HandlerFailed"/>: the server's handler threw, and the message is its message.
    /// <see cref="IpcStatus.BufferTooSmall"/>: the reply is kept; get it with <see cref="ReceiveReply(Span{byte}, int)"/>.
    /// <see cref="IpcStatus.MessageTooLarge"/>, <see cref="IpcStatus.TimedOut"/>, <see cref="IpcStatus.PeerClosed"/>, <see cref="IpcStatus.Truncated"/>,
    /// <see cref="IpcStatus.Closed"/>, or <see cref="IpcStatus.WrongState"/> while submitted calls are in flight.</exception>
    public abstract int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Copies the reply that was kept when a call failed with <see cref="IpcStatus.BufferTooSmall"/>.</summary>
    /// <param name="reply">Receives the reply.</param>
    /// <param name="timeoutMilliseconds">The longest wait for the rest of the reply, in milliseconds.</param>
    /// <returns>The length of the reply in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.WrongState"/> if no reply was kept; otherwise as for
    /// <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>.</exception>
    public abstract int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Sends a request, waits for its reply and returns it in place. Call <see cref="Release"/> when you have read it.</summary>
    /// <param name="request">The request.</param>
    /// <param name="timeoutMilliseconds">The longest that the whole call may take, in milliseconds.</param>
    /// <returns>The reply, valid until <see cref="Release"/>.</returns>
    /// <exception cref="IpcException">As for <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>.</exception>
    public abstract ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Timeout.Infinite);

    // ---- the server's half, step by step

    /// <summary>Waits for the next request and returns it in place. Reply, fail or defer it next.</summary>
    /// <param name="timeoutMilliseconds">The longest wait for a request, in milliseconds.</param>
    /// <returns>The request, valid until it has been answered or deferred.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>; <see cref="IpcStatus.PeerClosed"/> when the client has closed;
    /// <see cref="IpcStatus.Truncated"/>, <see cref="IpcStatus.Closed"/>; <see cref="IpcStatus.WrongState"/> if the previous request is still to be
    /// answered.</exception>
    public abstract ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Answers the request received last.</summary>
    /// <param name="reply">The reply; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <exception cref="IpcException">As for <see cref="Send(ReadOnlySpan{byte}, int)"/>; <see cref="IpcStatus.WrongState"/> if there is no request to
    /// answer.</exception>
    public abstract void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Reserves room for the reply to the request received last, to be sent by <see cref="CommitReply(int, int)"/> or given back by
    /// <see cref="Cancel"/>.</summary>
    /// <param name="length">The room in bytes; the reply may be shorter.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <returns>The room, exactly <paramref name="length"/> bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="Reserve(int, int)"/>; <see cref="IpcStatus.WrongState"/> if there is no request to
    /// answer.</exception>
    public abstract Span<byte> ReserveReply(int length, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Sends the first bytes of the reserved room as the reply.</summary>
    /// <param name="length">The length of the reply in bytes.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds.</param>
    /// <exception cref="IpcException">As for <see cref="Commit(int, int)"/>.</exception>
    public abstract void CommitReply(int length, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Fails the request received last: the client's call throws <see cref="IpcStatus.HandlerFailed"/> with this text.</summary>
    /// <param name="text">The error message for the client.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <exception cref="IpcException">As for <see cref="Reply(ReadOnlySpan{byte}, int)"/>.</exception>
    public abstract void FailRequest(string text, int timeoutMilliseconds = Timeout.Infinite);

    // ---- many calls in flight

    /// <summary>Sends a request without waiting for its reply. <see cref="Complete(Span{byte}, int)"/> returns the reply together with
    /// <paramref name="tag"/> when the server has answered, in whatever order it answers.</summary>
    /// <remarks>At most 256 calls are in flight at a time. One thread may submit while another completes, or one thread does both in turn. While there is
    /// no room to send, this method takes in replies, so that two processes whose buffers are both full make progress. While calls are in flight, other
    /// calls and all other receiving fail with <see cref="IpcStatus.WrongState"/>.</remarks>
    /// <param name="request">The request; it is copied before the method returns.</param>
    /// <param name="tag">Any number by which you will recognize the call.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds. If nothing was sent, the channel is still usable after a time-out; half
    /// a request breaks it, which can happen with a time-out of 0 as well.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.TooManyCalls"/>: complete one first. <see cref="IpcStatus.NotAvailable"/> over transports of
    /// kind "call". Otherwise as for <see cref="Send(ReadOnlySpan{byte}, int)"/>.</exception>
    public virtual void Submit(ReadOnlySpan<byte> request, ulong tag, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Waits until any call in flight is over. Each submitted call is reported exactly once, even if the channel ends.</summary>
    /// <remarks>If no call is in flight, it waits for one that another thread submits.</remarks>
    /// <param name="reply">Receives the reply.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds. Calls themselves have no time-out: to give one up, ignore its
    /// completion.</param>
    /// <returns>Which call it was, and how it ended.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>; once no call is left, why the channel ended.
    /// <see cref="IpcStatus.NotAvailable"/> over transports of kind "call".</exception>
    public IpcCompletion Complete(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite) =>
        TryComplete(reply, out var completion, timeoutMilliseconds)
            ? completion
            : throw new IpcException(IpcStatus.TimedOut, "no call in flight was over within the time-out");

    /// <summary>Reports a call that is over within the time-out; nothing is thrown if none is.</summary>
    /// <param name="reply">Receives the reply.</param>
    /// <param name="completion">Which call it was, and how it ended.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if a call was over, <see langword="false"/> if the time-out expired.</returns>
    /// <exception cref="IpcException">As for <see cref="Complete(Span{byte}, int)"/>, except the time-out.</exception>
    public virtual bool TryComplete(Span<byte> reply, out IpcCompletion completion, int timeoutMilliseconds = 0) => throw OneAtATime();

    /// <summary>Puts off the request received last, so that the next one can be received. The request's memory is given back: copy what you need
    /// first.</summary>
    /// <returns>A token by which <see cref="ReplyDeferred(ulong, ReadOnlySpan{byte}, int)"/> or <see cref="FailDeferred(ulong, string, int)"/> answers the
    /// request later, in any order and from any thread, one at a time.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.WrongState"/> if there is no request to put off; <see cref="IpcStatus.TooManyCalls"/>;
    /// <see cref="IpcStatus.NotAvailable"/> over transports of kind "call"; <see cref="IpcStatus.Closed"/>.</exception>
    public virtual ulong DeferRequest() => throw OneAtATime();

    /// <summary>Answers a request that was put off. This counts as sending.</summary>
    /// <param name="token">The token from <see cref="DeferRequest"/>.</param>
    /// <param name="reply">The reply; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds. Unless the channel is broken, you can try again after a
    /// time-out.</param>
    /// <exception cref="IpcException">As for <see cref="Send(ReadOnlySpan{byte}, int)"/>; <see cref="IpcStatus.WrongState"/> if no request has this
    /// token.</exception>
    public virtual void ReplyDeferred(ulong token, ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Fails a request that was put off: the client's call throws <see cref="IpcStatus.HandlerFailed"/> with this text.</summary>
    /// <param name="token">The token from <see cref="DeferRequest"/>.</param>
    /// <param name="text">The error message for the client.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <exception cref="IpcException">As for <see cref="ReplyDeferred(ulong, ReadOnlySpan{byte}, int)"/>.</exception>
    public virtual void FailDeferred(ulong token, string text, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Whether several requests may be on their way, and be answered in any order.</summary>
    private protected virtual bool HasCallsInFlight => false;

    private static IpcException OneAtATime() => new(IpcStatus.NotAvailable, "this channel has one call at a time: use Call and Reply");
}
