namespace Ipc;

/// <summary>Answers one request: reads it in place and writes the reply through <paramref name="reply"/>.
/// An exception it throws fails the call at the client with <see cref="IpcStatus.HandlerFailed"/> and the exception's message.</summary>
public delegate void RequestHandler(ReadOnlySpan<byte> request, ReplyWriter reply);

/// <summary>Where a handler writes its reply: reserve once, fill exactly that room. Nothing reserved means an empty reply.</summary>
public abstract class ReplyWriter
{
    /// <summary>Room for a reply of exactly <paramref name="length"/> bytes, sent when the handler returns.</summary>
    public abstract Span<byte> Reserve(int length);
}

/// <summary>
/// A connected, ordered, message-preserving, two-way connection to one peer.
/// </summary>
/// <remarks>
/// Threads: at most one sends and at most one receives at a time. <see cref="Close"/> and <see cref="Dispose()"/> may come from any
/// thread, at any time and more than once; both interrupt with <see cref="IpcStatus.Closed"/>. Time-outs are milliseconds; <see cref="Timeout.Infinite"/>
/// waits without end, 0 does not wait. Failures are <see cref="IpcException"/>s; a broken channel repeats the first. A span given out (Reserve, Peek,
/// CallInPlace,
/// ReceiveRequest) is valid until the matching Commit, Cancel, Release or Reply, and must outlive neither that nor Dispose. No method allocates per
/// message.
/// A channel carries either calls or plain messages at a time. Over transports of kind "call" only the client calls or sends, and Send
/// returns once the server has received the message; a server's Send and a client's Receive are <see cref="IpcStatus.WrongState"/>.
/// </remarks>
public abstract partial class IpcChannel : IDisposable
{
    /// <summary>The largest message in bytes this channel sends or accepts (option max=).</summary>
    public abstract int MaxMessageLength { get; }

    /// <summary>Sends one message (copied before return). A time-out half-way through a message breaks the channel.</summary>
    public abstract void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Copies the next message to <paramref name="buffer"/> and returns its length in bytes.
    /// <see cref="IpcStatus.BufferTooSmall"/> leaves the message in place: <see cref="Peek"/> gives its length.</summary>
    public abstract int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>As <see cref="Receive(Span{byte}, int)"/>, but false instead of a failure when the time-out passed: for those who look again and
    /// again.</summary>
    public virtual bool TryReceive(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        try
        {
            length = Receive(buffer, timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            length = 0;
            return false;
        }
    }

    /// <summary>Room for one message of at most <paramref name="length"/> bytes, in place where the transport can. Until it is committed or
    /// given back by <see cref="Cancel"/>, whatever else sends is <see cref="IpcStatus.WrongState"/>; another Reserve gives it back, whether it
    /// succeeds or not.</summary>
    public abstract Span<byte> Reserve(int length, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Sends the first <paramref name="length"/> bytes of the reserved room. After <see cref="IpcStatus.TimedOut"/> nothing was sent and
    /// the room is still lent, unless the channel is broken; after any other failure of the channel, <see cref="IpcStatus.Closed"/> too, there is no
    /// room any more.</summary>
    public abstract void Commit(int length, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Gives room of <see cref="Reserve"/> or <see cref="ReserveReply"/> back unsent; <see cref="IpcStatus.WrongState"/> if none is
    /// lent.</summary>
    public abstract void Cancel();
    /// <summary>The next message in place until <see cref="Release"/>. The peer of a zero-copy transport can still write there.</summary>
    public abstract ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Gives a peeked message, or the reply of <see cref="CallInPlace"/>, back. Never waits.</summary>
    public abstract void Release();

    /// <summary>Sends messages that lie back to back in <paramref name="messages"/>, <paramref name="lengths"/>[i] bytes each, in order,
    /// with one publication and at most one wake-up where the transport can. Returns how many went out: fewer than asked for only
    /// when the time-out passed, and the channel then stays good.</summary>
    public abstract int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Waits for a message, then takes it and those already there as long as the next fits whole: back to back in
    /// <paramref name="buffer"/>, their lengths in <paramref name="lengths"/>. Returns how many.
    /// <see cref="IpcStatus.BufferTooSmall"/>: not even the first fits; it stays.</summary>
    public abstract int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Sends a request and copies its reply; returns the reply's length in bytes. The time-out covers the whole call;
    /// a late reply is dropped and the channel stays good. It is dropped by the next receiving call: while a server still sends one longer than what is
    /// kept on the way, it receives nothing, and a next request as long is cut by its time-out. <see cref="IpcStatus.BufferTooSmall"/> loses the reply's place no more
    /// than the message: <see cref="ReceiveReply"/> gets it.</summary>
    public abstract int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>The reply kept by a <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/> that ended in
    /// <see cref="IpcStatus.BufferTooSmall"/>.</summary>
    public abstract int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>As <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>, with the reply in place until <see cref="Release"/>.</summary>
    public abstract ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Waits for the next request; it stays in place until the reply is sent.</summary>
    public abstract ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Answers the request received last.</summary>
    public abstract void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Room for the reply to the request received last, written in place.</summary>
    public abstract Span<byte> ReserveReply(int length, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Sends the first <paramref name="length"/> bytes of the reserved reply.</summary>
    public abstract void CommitReply(int length, int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Fails the request received last: the client gets <see cref="IpcStatus.HandlerFailed"/> with this text.</summary>
    public abstract void FailRequest(string text, int timeoutMilliseconds = Timeout.Infinite);

    // ---- many calls in flight

    /// <summary>Sends a request and does not wait for its reply, which <see cref="Complete(Span{byte}, int)"/> gives together with
    /// <paramref name="tag"/> whenever the server answers. At most 256 may be in flight: <see cref="IpcStatus.TooManyCalls"/>. One thread may submit
    /// while another completes, or one does both by turns; while there is no room this takes in replies, so that two ends whose ways are both full
    /// go on. While calls are in flight, other calls are <see cref="IpcStatus.WrongState"/>, and so is receiving anything but completions. Transports of
    /// kind "call" have <see cref="IpcStatus.NotAvailable"/>.</summary>
    /// <param name="request">Copied before return.</param>
    /// <param name="tag">The caller's own word.</param>
    /// <param name="timeoutMilliseconds">After <see cref="IpcStatus.TimedOut"/> of a channel that is not broken nothing was sent; a request that was cut
    /// breaks the channel, also one with a time-out of 0, of which the system may have taken a part.</param>
    public virtual void Submit(ReadOnlySpan<byte> request, ulong tag, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Waits until some call in flight is over and says which: each that was submitted is told of exactly once, also when the channel ends.
    /// With none in flight it waits for what another thread submits.</summary>
    /// <param name="reply">Where the reply goes.</param>
    /// <param name="timeoutMilliseconds">Of this wait; a call has none of its own, and whoever gives one up ignores its completion.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>; once no call is left, the channel's failure.</exception>
    public IpcCompletion Complete(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite) =>
        TryComplete(reply, out var completion, timeoutMilliseconds)
            ? completion
            : throw new IpcException(IpcStatus.TimedOut, "no call in flight was over within the time-out");

    /// <summary>As <see cref="Complete(Span{byte}, int)"/>, but false instead of a failure when the time-out passed.</summary>
    public virtual bool TryComplete(Span<byte> reply, out IpcCompletion completion, int timeoutMilliseconds = 0) => throw OneAtATime();

    /// <summary>Puts the request received last off, under a token, and gives its memory back: copy what is needed before. The next request can then
    /// be received, and this one be answered by <see cref="ReplyDeferred"/> at any time, in any order and by any thread, one at a time.</summary>
    public virtual ulong DeferRequest() => throw OneAtATime();

    /// <summary>Answers a request that was put off. It counts as sending; after <see cref="IpcStatus.TimedOut"/> of a channel that is not broken it
    /// can be answered again.</summary>
    public virtual void ReplyDeferred(ulong token, ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Fails a request that was put off: the client gets <see cref="IpcStatus.HandlerFailed"/> with this text.</summary>
    public virtual void FailDeferred(ulong token, string text, int timeoutMilliseconds = Timeout.Infinite) => throw OneAtATime();

    /// <summary>Whether several requests may be on their way, and be answered in any order.</summary>
    private protected virtual bool HasCallsInFlight => false;

    private static IpcException OneAtATime() => new(IpcStatus.NotAvailable, "this channel has one call at a time: use Call and Reply");

    /// <summary>Answers calls until the peer closes (returns) or the channel fails or is closed here (throws). Over a transport of kind
    /// "call" the handler runs on the transport's threads, one request at a time, while this waits.</summary>
    /// <param name="handler">Answers one request. It may close and dispose this channel.</param>
    /// <param name="handlerFailed">Is told what the handler threw, on the handler's thread, after the client has been: for a log. What it throws itself
    /// ends Serve.</param>
    public void Serve(RequestHandler handler, Action<Exception>? handlerFailed = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        var serving = new Serving(this, handler, handlerFailed);
        BeginServing();
        try
        {
            if (ServesElsewhere)
                ServeElsewhere(serving.One);
            while (true)
                serving.One();
        }
        catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && !serving.ListenerFailed)
        {
            // The client has all it wanted.
        }
        finally
        {
            EndServing();
        }
    }

    /// <summary>Whether requests are answered on the threads of the transport that deliver them.</summary>
    private protected virtual bool ServesElsewhere => false;

    /// <summary>Blocks while <paramref name="answerOne"/> is run for each request on whatever thread that came, never twice at once; throws
    /// what ends the channel.</summary>
    private protected virtual void ServeElsewhere(Action answerOne) => throw new NotSupportedException();

    /// <summary>Waits for one request and answers it, each time it is run. Whoever closes the channel disposes it only when that has
    /// returned.</summary>
    internal Action AnswerOneBy(RequestHandler handler) => new Serving(this, handler, null).One;

    /// <summary>From here to <see cref="EndServing"/> nothing that a handler may be looking at is given back.</summary>
    private protected virtual void BeginServing() { }

    /// <summary>Serve is over, on the thread that called it; after a Dispose by the handler the resources go now.</summary>
    private protected virtual void EndServing() { }

    /// <summary>Whether this thread is the one that runs the handler of <see cref="Serve"/>: it cannot wait for itself to leave.</summary>
    private protected bool RunsHandlerHere => _handlerThread == Environment.CurrentManagedThreadId;

    private int _handlerThread;

    /// <summary>Ends the connection and interrupts every blocked call on it. The peer reads what was sent, then the end.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until every other thread has left its call on this channel (a handler its request), and releases everything. A call
    /// that comes later fails with <see cref="IpcStatus.Closed"/>. By the handler of <see cref="Serve"/>: does not wait, and Serve releases.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    protected abstract void Dispose(bool disposing);

    private sealed class Serving(IpcChannel channel, RequestHandler handler, Action<Exception>? handlerFailed)
    {
        private readonly ChannelReplyWriter _writer = new(channel);

        /// <summary>What ends Serve was thrown by the one who is told of failures, whatever it looks like.</summary>
        public bool ListenerFailed { get; private set; }

        public void One()
        {
            var request = channel.ReceiveRequest();
            _writer.Begin();
            channel._handlerThread = Environment.CurrentManagedThreadId;
            try
            {
                handler(request, _writer);
            }
            // Whatever the handler throws belongs to the client that called it, not to this loop; should the channel itself
            // have failed under the handler, telling the client fails the same way.
            catch (Exception e)
            {
                try
                {
                    _writer.GiveBack();
                    channel.FailRequest(e.Message);
                }
                finally
                {
                    Tell(e);
                }
                return;
            }
            finally
            {
                channel._handlerThread = 0;
            }
            _writer.End();
        }

        private void Tell(Exception e)
        {
            if (handlerFailed is null)
                return;
            ListenerFailed = true;
            handlerFailed(e);
            ListenerFailed = false;
        }
    }

    private sealed class ChannelReplyWriter(IpcChannel channel) : ReplyWriter
    {
        private int _reserved;

        public void Begin() => _reserved = -1;

        public override Span<byte> Reserve(int length)
        {
            var room = channel.ReserveReply(length);
            _reserved = length;
            return room;
        }

        /// <summary>The handler failed after it had reserved room.</summary>
        public void GiveBack()
        {
            if (_reserved < 0)
                return;
            _reserved = -1;
            channel.Cancel();
        }

        public void End()
        {
            if (_reserved < 0)
                channel.Reply([]);
            else
                channel.CommitReply(_reserved);
        }
    }
}
