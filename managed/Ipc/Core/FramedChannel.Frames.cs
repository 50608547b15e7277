using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The half that transports see: the frame primitives they implement, and how a channel ends.</summary>
internal abstract partial class FramedChannel
{
    private HandleGate<TwoDoors> _gate;
    private IpcException? _failure;
    private int _closeStarted;
    private bool _disposedInside; // by a handler: the serving thread goes through with it
    private int _peerGoneTold;
    private volatile bool _closed;
    // Closed or failed: the one word that every operation looks at.
    private volatile bool _stopped;

    // ---- primitives; lengths are checked, one thread is in the sender's half and one in the receiver's

    /// <summary>Sends one frame, copied. Timed out with nothing sent leaves the channel good.</summary>
    protected abstract void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline);
    /// <summary>Sends a request, copied, whose reply the caller takes before it sends anything else.</summary>
    protected virtual void SendAwaitedFrame(uint id, ReadOnlySpan<byte> payload, Deadline deadline) =>
        SendFrame(FrameKind.Request, id, payload, deadline);
    /// <summary>Room for a payload of at most so many bytes; a second reserve replaces the first.</summary>
    protected abstract Span<byte> ReserveFrame(int length, Deadline deadline);
    /// <summary>Sends the first <paramref name="length"/> bytes of the room.</summary>
    protected abstract void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline);

    /// <summary>Sends plain messages that lie back to back, as many as go at once, and returns how many: none where that is no better
    /// than one by one, or where the first of them has to wait or be refused as <see cref="SendFrame"/> does. May wait for the room
    /// of several; timed out then with none of them sent. Stops at a length over the limit or beyond the bytes given.</summary>
    protected virtual int SendMany(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, Deadline deadline) => 0;

    /// <summary>Takes plain messages that are there already, back to back, as long as the next one fits whole, and returns how
    /// many: none where a look is not cheap. Anything unusual is left for <see cref="NextFrame"/> to report.</summary>
    protected virtual int TakeMany(Span<byte> buffer, Span<int> lengths) => 0;

    /// <summary>Waits for the next frame and tells about it without consuming it: asking again tells the same.</summary>
    protected abstract FrameInfo NextFrame(Deadline deadline);
    /// <summary>Waits until NextFrame would wait for nothing more; false when the deadline passed first. Transports that can tell so
    /// without a failure do; otherwise true at once.</summary>
    protected virtual bool AwaitFrame(Deadline deadline) => true;

    /// <summary>After NextFrame: copies the whole payload, for which <paramref name="buffer"/> has exactly the room, and consumes
    /// the frame. Timing out keeps the frame and what has come of it.</summary>
    protected abstract void TakeFrame(Span<byte> buffer, Deadline deadline);
    /// <summary>After NextFrame: the payload in place, until ReleaseFrame.</summary>
    protected abstract ReadOnlySpan<byte> ViewFrame(Deadline deadline);
    /// <summary>Consumes the frame of NextFrame, viewed or not; never waits.</summary>
    protected abstract void ReleaseFrame();

    /// <summary>Answers the request in place and releases it. The payload may lie in the request's own memory.</summary>
    protected virtual void AnswerFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        SendFrame(kind, id, payload, deadline);
        ReleaseFrame();
    }

    /// <summary>Commits the reserved room as a reply and releases the request.</summary>
    protected virtual void CommitAnswer(uint id, int length, Deadline deadline)
    {
        CommitFrame(FrameKind.Reply, id, length, deadline);
        ReleaseFrame();
    }

    /// <summary>Ends the connection: the peer reads what was sent and then the end; calls blocked here return soon. Once.</summary>
    protected abstract void CloseFrames();
    /// <summary>Releases everything, after CloseFrames; nobody is inside.</summary>
    protected abstract void DisposeFrames();

    /// <summary>Called once when the peer has ended or died without our closing first; must not throw, nor outlast the
    /// deadline by more than some milliseconds.</summary>
    protected virtual void PeerGone(Deadline deadline) { }

    // ---- the end of a channel

    /// <summary>Breaks the channel: every later operation repeats the first such failure. Returns what to throw now.</summary>
    protected IpcException Fail(IpcStatus status, string errorMessage, Deadline deadline = default)
    {
        if (_closed)
            return ClosedHere();
        var failure = new IpcException(status, errorMessage);
        var earlier = Interlocked.CompareExchange(ref _failure, failure, null);
        _stopped = true;
        WakeWaiting();
        if (earlier is not null)
            return new IpcException(earlier.Status, earlier.Message);
        TellIfPeerGone(status, deadline);
        return failure;
    }

    /// <summary>A failure of one operation that leaves the channel as it is. Returns what to throw.</summary>
    protected IpcException Refuse(IpcStatus status, string errorMessage, Deadline deadline = default)
    {
        if (_closed)
            return ClosedHere();
        TellIfPeerGone(status, deadline);
        return new IpcException(status, errorMessage);
    }

    /// <summary>Asynchronous operations that wait try again, and find what has become of the channel.</summary>
    partial void WakeWaiting();

    /// <summary>Nothing is waited for any more.</summary>
    partial void EndReadiness();

    // The sender's half may be the first to learn of the peer's end, and the only one that ever asks.
    private void TellIfPeerGone(IpcStatus status, Deadline deadline)
    {
        if (status is IpcStatus.PeerClosed or IpcStatus.Truncated && Interlocked.Exchange(ref _peerGoneTold, 1) == 0)
            PeerGone(deadline);
    }

    public sealed override void Close()
    {
        _closed = true;
        _stopped = true;
        if (!_gate.TryEnterBeside())
            return;
        try
        {
            if (Interlocked.Exchange(ref _closeStarted, 1) == 0)
            {
                CloseFrames();
                EndReadiness();
                WakeWaiting();
            }
        }
        finally
        {
            _gate.LeaveBeside();
        }
    }

    protected sealed override void Dispose(bool disposing)
    {
        if (!disposing)
            return;
        Close();
        if (!_gate.TryEnd())
            return;
        if (RunsHandlerHere)
            _disposedInside = true;
        else
            GiveAllBack();
    }

    private void GiveAllBack()
    {
        _gate.AwaitEmpty();
        DisposeFrames();
    }

    private protected sealed override void BeginServing()
    {
        if (!_gate.TryEnterBeside())
            throw ClosedHere();
    }

    private protected sealed override void EndServing()
    {
        _gate.LeaveBeside();
        // The handler was this thread's, or this thread waited for it: whoever ended the channel in it is out.
        if (_disposedInside)
            GiveAllBack();
    }

    /// <summary>Whether the calling thread answers a request that was under way when the channel was closed, and still may.</summary>
    private protected virtual bool StillAnswers => false;

    /// <summary>Starts an operation: the channel is good and the time-out is one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Deadline Begin(int timeoutMilliseconds)
    {
        if ((_stopped && !StillAnswers) || timeoutMilliseconds < Timeout.Infinite)
            throw WhyNot(timeoutMilliseconds);
        return new Deadline(timeoutMilliseconds);
    }

    /// <summary>The same for what lends room or ends it: a channel that has ended takes it back.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Deadline BeginWithRoom(int timeoutMilliseconds)
    {
        if ((_stopped && !StillAnswers) || timeoutMilliseconds < Timeout.Infinite)
            throw WhyNoRoom(timeoutMilliseconds);
        return new Deadline(timeoutMilliseconds);
    }

    private IpcException WhyNoRoom(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds >= Timeout.Infinite)
            _reserved = Nothing;
        return WhyNot(timeoutMilliseconds);
    }

    private IpcException WhyNot(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            return Deadline.NotATimeout(timeoutMilliseconds);
        // A new exception each time, so that its stack trace is the caller's own.
        return _closed || _failure is not { } failure ? ClosedHere() : new IpcException(failure.Status, failure.Message);
    }

    private static IpcException ClosedHere() => new(IpcStatus.Closed, "the channel was closed here: reconnect to go on");
}
