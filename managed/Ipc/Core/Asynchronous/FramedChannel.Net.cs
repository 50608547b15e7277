namespace Ipc;

/// <summary>Asynchronous operations: the same steps as the blocking ones, each of which goes on where the attempt before it ended.</summary>
internal abstract partial class FramedChannel
{
    private readonly Lock _readinessLock = new();
    private ChannelReadiness? _readiness;
    private bool _hasNoReadiness;

    // ---- for transports

    /// <summary>What tells when each half can go on; null if there is nothing to wait for but by a thread.</summary>
    private protected virtual ChannelReadiness? CreateReadiness() => null;

    /// <summary>Sends as much of one frame as goes until the deadline, from where the attempt before ended, which <paramref name="done"/> remembers.
    /// False: not all of it is out. As it stands here it can only send all of it: at once, or without a deadline where one might cut it.</summary>
    private protected virtual bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        if (TrySendNow(kind, id, payload))
            return true;
        if (deadline.IsNow)
            return false;
        SendFrame(kind, id, payload, SendsAllOrNothing ? deadline : new Deadline(Timeout.Infinite));
        return true;
    }

    /// <summary>Whether <see cref="TrySendSome"/> does go on where the attempt before ended.</summary>
    private protected virtual bool GoesOnSending => ReadinessOf(sending: true) is not null;

    /// <summary>Waits until the next frame is here whole; false: timed out. What has come of it is kept.</summary>
    private protected virtual bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return true;
    }

    // ---- one attempt

    internal sealed override bool Attempt(ChannelOperation operation, int timeoutMilliseconds)
    {
        // Hands out by calls of its own, which go in by themselves.
        if (operation.Kind == OperationKind.Complete)
            return operation.Owner!.HandOut(timeoutMilliseconds);
        using var visit = new Visit(this, operation.Kind is OperationKind.Send or OperationKind.Submit or OperationKind.AnswerDeferred);
        var deadline = Begin(timeoutMilliseconds);
        try
        {
            return operation.Kind switch
            {
                OperationKind.Send => AttemptSend(operation, deadline),
                OperationKind.Receive => AttemptReceive(operation, deadline),
                OperationKind.Call => AttemptCall(operation, deadline),
                OperationKind.ReceiveRequest => AttemptRequest(operation, deadline),
                OperationKind.Submit => AttemptSubmit(operation, deadline),
                OperationKind.AnswerDeferred => AttemptAnswerDeferred(operation, deadline),
                _ => AttemptAnswer(operation, deadline),
            };
        }
        // Something came that is not what is waited for, or not all of it; the rest is waited for by the next attempt.
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !_stopped)
        {
            return false;
        }
    }

    private bool AttemptSend(ChannelOperation operation, Deadline deadline)
    {
        if (operation.BytesOut == 0)
        {
            CheckLength(operation.Outgoing.Length);
            CheckNoRoomLent(nameof(SendAsync));
        }
        return TrySendSome(FrameKind.Message, 0, operation.Outgoing.Span, ref operation.BytesOut, deadline);
    }

    private bool AttemptReceive(ChannelOperation operation, Deadline deadline)
    {
        CheckHoldingNothing(nameof(ReceiveAsync));
        var buffer = operation.Incoming.Span;
        if (TryTakeNext(FrameKind.Message, 0, false, buffer, out operation.Result))
            return true;
        if (!AwaitWhole(deadline))
            return false;
        operation.Result = TakeMessage(buffer, deadline);
        return true;
    }

    private bool AttemptCall(ChannelOperation operation, Deadline deadline)
    {
        if (!operation.Begun)
        {
            CheckHoldingNothing(nameof(CallAsync));
            CheckLength(operation.Outgoing.Length);
            CheckNoRoomLent(nameof(CallAsync));
            _callId = NextCallId;
            operation.Begun = true;
        }
        var reply = operation.Incoming.Span;
        var justSent = !operation.IsOut;
        if (justSent)
        {
            if (!TrySendSome(FrameKind.Request, _callId, operation.Outgoing.Span, ref operation.BytesOut, deadline))
                return false;
            operation.IsOut = true;
        }
        // Some microseconds for a reply that is on its way already, as the blocking call takes.
        if (TryTakeNext(FrameKind.Reply, _callId, justSent, reply, out operation.Result))
            return true;
        if (!AwaitWhole(deadline))
            return false;
        operation.Result = TakeReply(reply, deadline);
        return true;
    }

    private bool AttemptRequest(ChannelOperation operation, Deadline deadline)
    {
        CheckHoldingNothing(nameof(ReceiveRequestAsync));
        if (!AwaitWhole(deadline))
            return false;
        var frame = Expect(FrameKind.Request, deadline);
        CheckRoom(frame.Length, operation.Incoming.Length);
        ViewFrame(deadline).CopyTo(operation.Incoming.Span);
        (_requestId, _holding, operation.Result) = (frame.Id, Holding.Request, frame.Length);
        return true;
    }

    private bool AttemptAnswer(ChannelOperation operation, Deadline deadline)
    {
        if (operation.BytesOut == 0)
        {
            CheckRequest(nameof(ReplyAsync));
            CheckLength(operation.Outgoing.Length);
            CheckNoRoomLent(nameof(ReplyAsync));
        }
        if (!GoesOnSending)
        {
            if (deadline.IsNow && !SendsAllOrNothing)
                return false;
            Answer(operation.AnswerKind, operation.Outgoing.Span, SendsAllOrNothing ? deadline : new Deadline(Timeout.Infinite), nameof(ReplyAsync));
            return true;
        }
        try
        {
            if (!TrySendSome(operation.AnswerKind, _requestId, operation.Outgoing.Span, ref operation.BytesOut, deadline))
                return false;
        }
        catch (IpcException e) when (!MayTryAgain(e))
        {
            AbandonRequest();
            throw;
        }
        _holding = Holding.Nothing;
        ReleaseFrame();
        return true;
    }

    internal sealed override bool IsBroken => _stopped;

    internal sealed override bool HasEnded()
    {
        if (ReadinessOf(sending: false) is null)
            return _stopped;
        using var visit = new Visit(this, Receiver);
        try
        {
            AwaitWhole(Begin(0));
            return false;
        }
        catch (IpcException e)
        {
            return e.Status != IpcStatus.TimedOut || _stopped;
        }
    }

    internal sealed override void Cancelled(ChannelOperation operation)
    {
        if (operation.BytesOut == 0 || operation.IsOut)
            return;
        Fail(IpcStatus.TimedOut, "an asynchronous operation was cancelled half-way through its message, so the channel is broken: reconnect");
        // The peer must not wait for a rest that will not come.
        BreakOff();
    }

    // ---- what is waited for

    internal sealed override Readiness? ReadinessOf(bool sending)
    {
        var readiness = _readiness;
        if (readiness is null && !_hasNoReadiness)
            readiness = BeginReadiness();
        return sending ? readiness?.ToSend : readiness?.ToReceive;
    }

    /// <summary>Keeps what the channel owns from being given back until <see cref="LeaveBeside"/>; false: the end has begun.</summary>
    internal bool TryEnterBeside() => _gate.TryEnterBeside();

    internal void LeaveBeside() => _gate.LeaveBeside();

    private ChannelReadiness? BeginReadiness()
    {
        lock (_readinessLock)
        {
            // Of a closed channel the attempt says so.
            if (_readiness is not null || _hasNoReadiness || _closed || !_gate.TryEnterBeside())
                return _readiness;
            try
            {
                _readiness = CreateReadiness();
                _hasNoReadiness = _readiness is null;
            }
            catch (ObjectDisposedException)
            {
                // Closed by another thread meanwhile.
            }
            finally
            {
                _gate.LeaveBeside();
            }
            return _readiness;
        }
    }

    partial void EndReadiness()
    {
        lock (_readinessLock)
            _readiness?.Dispose();
    }

    partial void WakeWaiting() => WakeOperations();
}

/// <summary>What both halves of a channel wait for.</summary>
internal abstract class ChannelReadiness : IDisposable
{
    public abstract Readiness ToReceive { get; }

    /// <summary>Null: by a thread.</summary>
    public abstract Readiness? ToSend { get; }

    /// <summary>The channel is closed: nothing is waited for any more, nor looked at.</summary>
    public abstract void Dispose();
}
