namespace Ipc;

/// <summary>Where a transport wants the answer to one exchange. Called on the thread that called <see cref="CallSession.Answer"/>, before
/// that returns, for a request and not for a message; must not throw.</summary>
internal interface IReplySink
{
    void Put(FrameKind kind, uint id, ReadOnlySpan<byte> reply);
}

/// <summary>
/// One client of a transport that has calls only, at the server: where the threads on which the transport delivers exchanges meet
/// the thread that serves the channel. Shared by both; each side may end first. Twin of native/src/calls/call_session.hpp.
/// </summary>
/// <remarks>Exchanges are answered one at a time, in the order in which they came. While a thread is in <see cref="Serve"/>, they are
/// answered on the threads that deliver them, which spares two switches of threads for each; else they wait for Next.</remarks>
internal sealed partial class CallSession(IpcAddress address)
{
    private readonly object _lock = new();
    private readonly List<Exchange> _exchanges = []; // the first is the one being answered
    private readonly Stack<Exchange> _unused = new();
    private Exchange? _told;          // the first, once Next has told of it and until it is answered or taken
    private bool _closed;             // here, by Close
    private bool _gone;               // the client
    private IpcException? _failure;   // what the client sent ended the session
    private Action? _answerOne;       // a thread is in Serve
    private bool _running;            // _answerOne is, on the first exchange's thread ...
    private int _runningThread;       // ... which has this number
    private Exception? _stopped;      // _answerOne has failed

    private sealed class Exchange
    {
        public FrameKind Kind;
        public uint Id;
        public unsafe byte* Bytes;
        public int Length;
        public IReplySink Sink = null!;
        public bool BeingRead; // bytes must stay although the session has ended
        public bool Viewed;    // bytes are in _request
        public bool Done;      // answered or taken
        public bool HasReply;  // still to be given to the sink, in _reply
        public FrameKind ReplyKind;
        public int ReplyLength;
    }

    /// <summary>Whether this thread is the transport's and answers a request: it may finish although the channel is closed meanwhile.</summary>
    public bool RunsHere => _running && _runningThread == Environment.CurrentManagedThreadId;

    /// <summary>The limit on messages in bytes.</summary>
    public int MaxMessageLength => address.MaxMessageLength;

    /// <summary>Called once, by Close on its thread: a transport that keeps something for the session lets it go. Set before the session is
    /// admitted.</summary>
    public Action? WhenClosed { get; set; }

    // ---- for the transport's threads

    /// <summary>Delivers an exchange and waits until it is answered. <paramref name="bytes"/> must stay until this returns, and then may go.
    /// Throws nothing. Ok: the request's answer went to the sink, or the message was taken. <see cref="IpcStatus.PeerClosed"/>: the
    /// server's channel has ended, and the client must be told so. <see cref="IpcStatus.PeerTooLarge"/>: over the limit, which ends the
    /// session; likewise <see cref="IpcStatus.NotOurProtocol"/> for a wrong kind.</summary>
    public unsafe IpcStatus Answer(FrameKind kind, uint id, byte* bytes, uint length, IReplySink sink)
    {
        lock (_lock)
        {
            if (_closed)
                return IpcStatus.PeerClosed;
            if (_failure is not null)
                return _failure.Status;
            if (kind is not (FrameKind.Message or FrameKind.Request) || length > (uint)MaxMessageLength)
                return RefuseExchange(kind, length);
            var exchange = _unused.Count > 0 ? _unused.Pop() : new Exchange();
            exchange.Kind = kind;
            exchange.Id = id;
            exchange.Bytes = bytes;
            exchange.Length = (int)length;
            exchange.Sink = sink;
            exchange.BeingRead = exchange.Viewed = exchange.Done = exchange.HasReply = false;
            _exchanges.Add(exchange);
            Monitor.PulseAll(_lock);
            AwaitAnswer(exchange);
            var answered = exchange.Done;
            _exchanges.Remove(exchange);
            if (_told == exchange)
                _told = null;
            _unused.Push(exchange);
            Monitor.PulseAll(_lock);
            return answered ? IpcStatus.Ok : IpcStatus.PeerClosed;
        }
    }

    private void AwaitAnswer(Exchange exchange)
    {
        while (!exchange.Done)
        {
            if (_exchanges[0] == exchange && _answerOne is { } answerOne && _stopped is null && !_running && !_closed)
            {
                RunHere(answerOne);
                return;
            }
            if (_closed && !exchange.BeingRead)
                return;
            Monitor.Wait(_lock);
        }
        if (!exchange.HasReply)
            return;
        // The first exchange stays first until its reply is out of _reply: Next tells of no other meanwhile.
        Monitor.Exit(_lock);
        try
        {
            exchange.Sink.Put(exchange.ReplyKind, exchange.Id, _reply.AsSpan(0, exchange.ReplyLength));
        }
        finally
        {
            Monitor.Enter(_lock);
        }
    }

    // Lets answerOne answer the first exchange on this thread, which is the transport's.
    private void RunHere(Action answerOne)
    {
        Exception? stopped = null;
        _running = true;
        _runningThread = Environment.CurrentManagedThreadId;
        Monitor.Exit(_lock);
        try
        {
            answerOne();
        }
        catch (Exception e) // thrown on in Serve, to whom it belongs
        {
            stopped = e;
        }
        finally
        {
            Monitor.Enter(_lock);
        }
        _running = false;
        _stopped = stopped;
        Monitor.PulseAll(_lock);
    }

    // What no client of ours sends; the thread that serves learns of it from Next.
    private IpcStatus RefuseExchange(FrameKind kind, uint length)
    {
        _failure = kind is FrameKind.Message or FrameKind.Request
            ? new IpcException(IpcStatus.PeerTooLarge,
                $"a client of {address} sent {length} bytes, over this side's limit of {MaxMessageLength}: raise it with option max=")
            : new IpcException(IpcStatus.NotOurProtocol, $"a client of {address} sent what is neither a request nor a message");
        Monitor.PulseAll(_lock);
        return _failure.Status;
    }

    /// <summary>The client has closed or died: what it sent before is still received, then <see cref="IpcStatus.PeerClosed"/>.</summary>
    public void ClientGone()
    {
        lock (_lock)
        {
            _gone = true;
            Monitor.PulseAll(_lock);
        }
    }

    /// <summary>Ends the session: its channel goes, or nobody accepted it.</summary>
    public void Close()
    {
        Action? tell;
        lock (_lock)
        {
            _closed = true;
            Monitor.PulseAll(_lock);
            (tell, WhenClosed) = (WhenClosed, null);
        }
        tell?.Invoke();
    }
}
