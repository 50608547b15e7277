using System.Buffers;
using System.Runtime.CompilerServices;
using System.Text;

namespace Ipc;

/// <summary>Answers one request asynchronously. What has been written to <paramref name="reply"/> when the task completes is the reply.</summary>
/// <remarks>The request and the reply belong to the channel and are valid until the task completes. An exception fails the call at the client, with
/// <see cref="IpcStatus.HandlerFailed"/> and the exception's message.</remarks>
/// <param name="request">The request.</param>
/// <param name="reply">Takes the reply, from its beginning.</param>
/// <param name="cancellationToken">The token of whoever serves.</param>
/// <returns>A task that completes when the reply has been written.</returns>
public delegate ValueTask AsyncRequestHandler(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken);

// The asynchronous forms of what waits. .NET 10 only: docs/dotnet.md.
public abstract partial class IpcChannel
{
    private const int FirstBuffer = 4096;

    private ChannelOperation? _sending;
    private ChannelOperation? _receiving;
    private CallsUnderWay? _calls;

    /// <summary>Sends a message. No thread waits for room, and nothing is allocated.</summary>
    /// <param name="message">The message; it must not change until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait at once. If no byte has been sent, nothing is; in the middle of a message the channel breaks, as after a
    /// time-out.</param>
    /// <returns>A task that completes when the message has been handed to the transport. Await it exactly once.</returns>
    /// <remarks>One send and one receive, or one call, may be in progress at a time; another fails with <see cref="IpcStatus.WrongState"/>.</remarks>
    /// <exception cref="IpcException">As for <see cref="Send(ReadOnlySpan{byte}, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> message, CancellationToken cancellationToken = default) =>
        BeginSending(Take(ref _sending), OperationKind.Send, default, message, cancellationToken);

    /// <summary>Waits for the next message and copies it into a buffer. No thread waits, and nothing is allocated.</summary>
    /// <param name="buffer">Receives the message; it belongs to the channel until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait at once; no message is lost.</param>
    /// <returns>The length of the message in bytes. Await the task exactly once.</returns>
    /// <remarks>One receive or call may be in progress at a time; another fails with <see cref="IpcStatus.WrongState"/>.</remarks>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<int> ReceiveAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        BeginReceiving(OperationKind.Receive, default, buffer, cancellationToken);

    /// <summary>Sends a request, waits for its reply and copies it into a buffer. No thread waits, and nothing is allocated.</summary>
    /// <param name="request">The request; it must not change until the task completes.</param>
    /// <param name="reply">Receives the reply; it belongs to the channel until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait at once; through the C library, once the request has been sent. The server may have the request; its
    /// late reply is dropped, and the channel is still usable.</param>
    /// <returns>The length of the reply in bytes. Await the task exactly once.</returns>
    /// <remarks>Any number of threads may call at a time. Up to 256 calls are in flight and the others wait for their turn; the server answers them in any
    /// order.
    /// Meanwhile nothing else may be in progress on the channel. Over transports of kind "call" one call is made at a time. After
    /// <see cref="IpcStatus.BufferTooSmall"/> the reply is kept for <see cref="ReceiveReply(Span{byte}, int)"/> if no other call was in progress, and dropped
    /// otherwise.</remarks>
    /// <exception cref="IpcException">As for <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<int> CallAsync(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken cancellationToken = default) =>
        HasCallsInFlight
            ? (Volatile.Read(ref _calls) ?? MakeCalls()).Begin(request, reply, cancellationToken)
            : BeginReceiving(OperationKind.Call, request, reply, cancellationToken);

    /// <summary>Waits for the next request and copies it into a buffer; no thread waits. <see cref="ReplyAsync"/>, <see cref="FailRequestAsync"/> or
    /// <see cref="DeferRequest"/> comes next.</summary>
    /// <param name="buffer">Receives the request; it belongs to the channel until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait at once; no request is lost.</param>
    /// <returns>The length of the request in bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="ReceiveRequest(int)"/>; <see cref="IpcStatus.BufferTooSmall"/>, after which the request stays in the
    /// channel.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask<int> ReceiveRequestAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        BeginReceiving(OperationKind.ReceiveRequest, default, buffer, cancellationToken);

    /// <summary>Answers the request received last. No thread waits for room.</summary>
    /// <param name="reply">The reply; it must not change until the task completes.</param>
    /// <param name="cancellationToken">As for <see cref="SendAsync"/>. If no byte has been sent, the request is still to be answered.</param>
    /// <returns>A task that completes when the reply has been handed to the transport.</returns>
    /// <exception cref="IpcException">As for <see cref="Reply(ReadOnlySpan{byte}, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask ReplyAsync(ReadOnlyMemory<byte> reply, CancellationToken cancellationToken = default) =>
        BeginSending(Take(ref _receiving), OperationKind.Answer, FrameKind.Reply, reply, cancellationToken);

    /// <summary>Fails the request received last: the client's call throws <see cref="IpcStatus.HandlerFailed"/> with this text.</summary>
    /// <param name="text">The error message for the client.</param>
    /// <param name="cancellationToken">As for <see cref="ReplyAsync"/>.</param>
    /// <returns>A task that completes when the answer has been handed to the transport.</returns>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="IpcException">As for <see cref="FailRequest(string, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask FailRequestAsync(string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Fail(null, text, cancellationToken);
    }

    // The request received last, or the deferred one with this token.
    private async ValueTask Fail(ulong? token, string text, CancellationToken cancellationToken)
    {
        using var fault = new FaultText(text, MaxMessageLength);
        var sending = token is { } deferred
            ? BeginAnswer(deferred, FrameKind.Fault, fault.Memory, cancellationToken)
            : BeginSending(Take(ref _receiving), OperationKind.Answer, FrameKind.Fault, fault.Memory, cancellationToken);
        await sending.ConfigureAwait(false);
    }

    /// <summary>Receives messages until the peer closes. Each message is valid until the next one is asked for.</summary>
    /// <param name="cancellationToken">Ends the wait at once; no message is lost.</param>
    /// <returns>The messages, which end when the peer has closed.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>, except <see cref="IpcStatus.PeerClosed"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<ReadOnlyMemory<byte>> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var buffer = new byte[FirstBuffer];
        while (true)
        {
            int length;
            try
            {
                length = await ReceiveAsync(buffer, cancellationToken).ConfigureAwait(false);
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && buffer.Length < MaxMessageLength)
            {
                buffer = Grow(buffer, MaxMessageLength);
                continue;
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                yield break;
            }
            yield return buffer.AsMemory(0, length);
        }
    }

    /// <summary>Answers calls one after another until the client closes. No thread waits between them.</summary>
    /// <param name="handler">Answers one request. What it throws fails the call at the client and ends nothing here.</param>
    /// <param name="handlerFailed">Receives what the handler threw, after the client has been told: for a log.</param>
    /// <param name="cancellationToken">Ends the wait for requests at once, and is passed to the handler.</param>
    /// <returns>A task that completes when the client has closed.</returns>
    /// <exception cref="ArgumentNullException">The handler is null.</exception>
    /// <exception cref="IpcException">The channel failed, or was closed on this side (<see cref="IpcStatus.Closed"/>).</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async Task ServeAsync(AsyncRequestHandler handler, Action<Exception>? handlerFailed = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handler);
        var request = new byte[FirstBuffer];
        var reply = new ArrayBufferWriter<byte>(FirstBuffer);
        while (true)
        {
            int length;
            try
            {
                length = await ReceiveRequestAsync(request, cancellationToken).ConfigureAwait(false);
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && request.Length < MaxMessageLength)
            {
                request = Grow(request, MaxMessageLength);
                continue;
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                return;
            }
            reply.ResetWrittenCount();
            Exception? failure = null;
            try
            {
                await handler(request.AsMemory(0, length), reply, cancellationToken).ConfigureAwait(false);
                if (reply.WrittenCount > MaxMessageLength)
                {
                    failure = new IpcException(IpcStatus.MessageTooLarge,
                        $"the reply has {reply.WrittenCount} bytes, over this channel's limit of {MaxMessageLength}: raise it with max= at both ends");
                }
            }
            // Whatever the handler throws belongs to the client that called it, not to this loop.
            catch (Exception e)
            {
                failure = e;
            }
            try
            {
                if (failure is null)
                    await ReplyAsync(reply.WrittenMemory, CancellationToken.None).ConfigureAwait(false);
                else
                    await FailRequestAsync(failure.Message, CancellationToken.None).ConfigureAwait(false);
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                return;
            }
            finally
            {
                if (failure is not null)
                    handlerFailed?.Invoke(failure);
            }
        }
    }

    // ---- for the two kinds of channels

    /// <summary>Tries what the operation says and waits for so long; false: it would have to wait longer. Throws its failure. Of a channel that says
    /// nothing else, by the blocking functions: what sends blocks without end unless the time-out is 0, and then nothing is tried.</summary>
    internal virtual bool Attempt(ChannelOperation operation, int timeoutMilliseconds)
    {
        switch (operation.Kind)
        {
            case OperationKind.Receive:
                return TryReceive(operation.Incoming.Span, out operation.Result, timeoutMilliseconds);
            case OperationKind.ReceiveRequest:
                return AttemptRequest(operation, timeoutMilliseconds);
            case OperationKind.Complete:
                return operation.Owner!.HandOut(timeoutMilliseconds);
            case var _ when timeoutMilliseconds == 0:
                return false;
            case OperationKind.Call:
                operation.Result = Call(operation.Outgoing.Span, operation.Incoming.Span);
                return true;
            default:
                CarryOut(operation, Timeout.Infinite);
                return true;
        }
    }

    /// <summary>Does what only sends, by the blocking functions.</summary>
    internal void CarryOut(ChannelOperation operation, int timeoutMilliseconds)
    {
        var bytes = operation.Outgoing.Span;
        switch (operation.Kind)
        {
            case OperationKind.Send:
                Send(bytes, timeoutMilliseconds);
                return;
            case OperationKind.Submit:
                Submit(bytes, operation.Tag, timeoutMilliseconds);
                return;
            case OperationKind.AnswerDeferred when operation.AnswerKind == FrameKind.Fault:
                FailDeferred(operation.Tag, Encoding.UTF8.GetString(bytes), timeoutMilliseconds);
                return;
            case OperationKind.AnswerDeferred:
                ReplyDeferred(operation.Tag, bytes, timeoutMilliseconds);
                return;
            case var _ when operation.AnswerKind == FrameKind.Fault:
                FailRequest(Encoding.UTF8.GetString(bytes), timeoutMilliseconds);
                return;
            default:
                Reply(bytes, timeoutMilliseconds);
                return;
        }
    }

    private bool AttemptRequest(ChannelOperation operation, int timeoutMilliseconds)
    {
        try
        {
            var request = ReceiveRequest(timeoutMilliseconds);
            operation.Result = request.Length;
            if (request.TryCopyTo(operation.Incoming.Span))
                return true;
            // Held in place it can only be answered.
            FailRequest($"the server has room for {operation.Incoming.Length} bytes and the request has {request.Length}");
            throw new IpcException(IpcStatus.MessageTooLarge,
                $"the request has {request.Length} bytes and the buffer room for {operation.Incoming.Length}: give more room");
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            return false;
        }
    }

    /// <summary>What tells when to try again; null: nothing does, and a thread of its own blocks.</summary>
    internal virtual Readiness? ReadinessOf(bool sending) => null;

    /// <summary>Where that is null: how long, in ticks of the clock, an operation spins on its caller's thread before it blocks another one.</summary>
    internal virtual long SpinTicks => 0;

    /// <summary>Until it is turned off again, receiving gives up at once, as at the end of a time-out, on whatever thread it waits. False: this channel
    /// cannot do that.</summary>
    internal virtual bool InterruptReceiving(bool on) => false;

    /// <summary>The operation ends because its token was cancelled; it is not being tried.</summary>
    internal virtual void Cancelled(ChannelOperation operation) { }

    /// <summary>After a failure: whether nothing can be called any more, as far as this channel can tell.</summary>
    internal virtual bool IsBroken => true;

    /// <summary>Whether the peer has gone while nobody was in a call. Only a look, and only where that is cheap.</summary>
    internal virtual bool HasEnded() => false;

    /// <summary>What waits tries again: something has become of the channel.</summary>
    internal void WakeOperations()
    {
        Volatile.Read(ref _sending)?.Wake();
        Volatile.Read(ref _receiving)?.Wake();
    }

    // ---- calls of which several are in flight

    private CallsUnderWay MakeCalls() => Interlocked.CompareExchange(ref _calls, new CallsUnderWay(this), null) ?? _calls;

    internal ChannelOperation? TakeSender() => Take(ref _sending);

    internal ChannelOperation? TakeReceiver() => Take(ref _receiving);

    /// <summary>Whether nothing else is being received.</summary>
    internal bool MayCall => Volatile.Read(ref _receiving) is null or { IsIdle: true };

    internal void WakeReceiver() => Volatile.Read(ref _receiving)?.Wake();

    /// <summary>Of a Submit that is not being tried: whether nothing of it is out; then it will never have been.</summary>
    internal virtual bool GiveUpSubmit(ChannelOperation operation) => false;

    /// <summary>Whether a call that is alone is best begun by <see cref="TryCallSoon"/>.</summary>
    internal virtual bool AnswersSoon => false;

    internal const int NoReplyYet = -1;

    /// <summary>If nothing is in flight and the request goes at once: sends it, as a call with this tag, and takes its reply if that is there within a
    /// moment and fits. False: nothing was sent. Throws nothing.</summary>
    /// <param name="request">The request.</param>
    /// <param name="tag">The call's, while it is in flight.</param>
    /// <param name="reply">Receives the reply.</param>
    /// <param name="place">Of the call, as <see cref="ChannelOperation.Place"/>.</param>
    /// <param name="length">Of the reply; <see cref="NoReplyYet"/>: the call stays in flight.</param>
    internal virtual bool TryCallSoon(ReadOnlySpan<byte> request, ulong tag, Span<byte> reply, out (uint Id, int At) place, out int length)
    {
        (place, length) = (default, NoReplyYet);
        return false;
    }

    /// <summary>As TryComplete, of a reply that is there within a moment and fits.</summary>
    internal virtual bool TryCompleteSoon(Span<byte> reply, out IpcCompletion completion)
    {
        completion = default;
        return false;
    }

    /// <summary>Whether TryComplete may have something to say; a reply is then here whole, where the channel can see to that.</summary>
    internal virtual bool TryAwaitReply(int timeoutMilliseconds) => true;

    /// <summary>A call that is in flight is over; its late reply will be dropped. For who completes.</summary>
    internal virtual bool TryForget((uint Id, int At) place) => false;

    /// <summary>The reply that an asynchronous call with too little room left.</summary>
    private protected bool TryTakeKept(Span<byte> reply, out int length)
    {
        length = 0;
        return Volatile.Read(ref _calls)?.TryTakeKept(reply, out length) == true;
    }

    // ---- beginning

    private ChannelOperation? Take(ref ChannelOperation? half)
    {
        var operation = half ?? Interlocked.CompareExchange(ref half, new ChannelOperation(this), null) ?? half;
        return operation.TryTake() ? operation : null;
    }

    private static ValueTask BeginSending(
        ChannelOperation? operation, OperationKind kind, FrameKind answer, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        if (operation is null)
            return ValueTask.FromException(UnderWay());
        operation.Set(kind, answer, message, default);
        try
        {
            return operation.TryFinish(cancellationToken) ? default : new ValueTask(operation, operation.Version);
        }
        catch (OperationCanceledException)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }
        catch (Exception e)
        {
            return ValueTask.FromException(e);
        }
    }

    private ValueTask<int> BeginReceiving(OperationKind kind, ReadOnlyMemory<byte> request, Memory<byte> buffer, CancellationToken cancellationToken)
    {
        if (Take(ref _receiving) is not { } operation)
            return ValueTask.FromException<int>(UnderWay());
        operation.Set(kind, default, request, buffer);
        try
        {
            return operation.TryFinish(cancellationToken) ? new ValueTask<int>(operation.Result) : new ValueTask<int>(operation, operation.Version);
        }
        catch (OperationCanceledException)
        {
            return ValueTask.FromCanceled<int>(cancellationToken);
        }
        catch (Exception e)
        {
            return ValueTask.FromException<int>(e);
        }
    }

    internal static IpcException UnderWay() =>
        new(IpcStatus.WrongState, "an asynchronous operation of the same kind is under way on this channel: await it first");
}
