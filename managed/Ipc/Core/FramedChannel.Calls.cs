using System.Runtime.CompilerServices;
using System.Text;

namespace Ipc;

/// <summary>Calls: a request and its reply, at either end.</summary>
internal abstract partial class FramedChannel
{
    // ---- calls, the client's end: nobody else may send meanwhile, so the receiver's door stands for both halves

    public sealed override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            if (MayReceive(timeoutMilliseconds) && MaySend(request.Length, timeoutMilliseconds) &&
                TrySendAwaitedNow(NextCallId, request))
            {
                var id = _callId = NextCallId;
                if (!TryTakeNext(FrameKind.Reply, id, true, reply, out var length))
                    return FinishCall(reply, timeoutMilliseconds);
                _gate.Doors.Receiver.Leave();
                return length;
            }
            _gate.Doors.Receiver.Leave();
        }
        return CallOrWait(request, reply, timeoutMilliseconds);
    }

    // The request is out; this thread is inside by the receiver's door, and leaves.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private int FinishCall(Span<byte> reply, int timeoutMilliseconds)
    {
        try
        {
            return TakeReply(reply, new Deadline(timeoutMilliseconds));
        }
        finally
        {
            _gate.Doors.Receiver.Leave();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int CallOrWait(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        StartCall(request, deadline);
        // Where the transport is slow its reply need not be awaited in two steps.
        return TryTakeNext(FrameKind.Reply, _callId, true, reply, out var length) ? length : TakeReply(reply, deadline);
    }

    private int TakeReply(Span<byte> reply, Deadline deadline)
    {
        var frame = AwaitReply(deadline);
        if (frame.Length > reply.Length)
            _holding = Holding.KeptReply;
        CheckRoom(frame.Length, reply.Length);
        TakeFrame(reply[..frame.Length], deadline);
        return frame.Length;
    }

    // What an asynchronous call that had too little room has left.
    partial void TakeKept(Span<byte> reply, ref int length);

    public sealed override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        var kept = -1;
        if (_holding != Holding.KeptReply)
            TakeKept(reply, ref kept);
        if (kept >= 0)
            return kept;
        if (_holding != Holding.KeptReply)
            throw new IpcException(IpcStatus.WrongState, "no reply is kept: ReceiveReply follows a Call that ended in BufferTooSmall");
        if (AnyInFlight)
            CheckHeld(nameof(ReceiveReply));
        var frame = NextFrame(deadline);
        CheckRoom(frame.Length, reply.Length);
        TakeFrame(reply[..frame.Length], deadline);
        _holding = Holding.Nothing;
        return frame.Length;
    }

    public sealed override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        StartCall(request, deadline);
        AwaitReply(deadline);
        var reply = ViewFrame(deadline);
        _holding = Holding.ReplyInPlace;
        return reply;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void StartCall(ReadOnlySpan<byte> request, Deadline deadline)
    {
        CheckHoldingNothing(nameof(Call));
        CheckLength(request.Length);
        CheckNoRoomLent(nameof(Call));
        _callId = NextCallId;
        SendAwaitedFrame(_callId, request, deadline);
    }

    // 0 is the number of plain messages.
    private uint NextCallId
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _callId == uint.MaxValue ? 1 : _callId + 1;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private FrameInfo AwaitReply(Deadline deadline)
    {
        var frame = NextFrame(deadline);
        return frame.Kind == FrameKind.Reply && frame.Id == _callId ? frame : AwaitReplyBeyond(frame, deadline);
    }

    // What comes is not the reply at once: a late answer to drop, a fault, or nothing a server of ours would send.
    private FrameInfo AwaitReplyBeyond(FrameInfo frame, Deadline deadline)
    {
        while (frame.Kind is FrameKind.Reply or FrameKind.Fault)
        {
            var newer = (int)(frame.Id - _callId);
            if (newer == 0)
                return frame.Kind == FrameKind.Reply ? frame : throw TakeFault(frame, deadline);
            if (newer > 0)
                throw Fail(IpcStatus.NotOurProtocol, "the peer answered a call that was never made; reconnect");
            ReleaseFrame();
            frame = NextFrame(deadline);
        }
        throw OutOfOrder(frame.Kind, "a reply");
    }

    private IpcException TakeFault(FrameInfo frame, Deadline deadline)
    {
        // The text comes from the peer: an error message's worth of it is enough.
        var text = Encoding.UTF8.GetString(ViewFrame(deadline)[..Math.Min(frame.Length, LongestFaultText)]);
        ReleaseFrame();
        return new IpcException(IpcStatus.HandlerFailed, $"the server's handler failed: {text}");
    }

    // ---- calls, the server's end

    public sealed override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            ReadOnlySpan<byte> request = default;
            var seen = MayReceive(timeoutMilliseconds) &&
                TryViewNext(FrameKind.Request, timeoutMilliseconds != 0, out request, out _requestId);
            if (seen)
                _holding = Holding.Request;
            _gate.Doors.Receiver.Leave();
            if (seen)
                return request;
        }
        return ReceiveRequestOrWait(timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> ReceiveRequestOrWait(int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        CheckHoldingNothing(nameof(ReceiveRequest));
        var frame = Expect(FrameKind.Request, deadline);
        var request = ViewFrame(deadline);
        _requestId = frame.Id;
        _holding = Holding.Request;
        return request;
    }

    public sealed override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            var sent = _holding == Holding.Request && MaySend(reply.Length, timeoutMilliseconds) &&
                TryAnswerNow(FrameKind.Reply, _requestId, reply);
            if (sent)
                _holding = Holding.Nothing;
            _gate.Doors.Receiver.Leave();
            if (sent)
                return;
        }
        ReplyOrWait(reply, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReplyOrWait(ReadOnlySpan<byte> reply, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        CheckRequest(nameof(Reply));
        CheckLength(reply.Length);
        Answer(FrameKind.Reply, reply, deadline, nameof(Reply));
    }

    public sealed override void FailRequest(string text, int timeoutMilliseconds)
    {
        ArgumentNullException.ThrowIfNull(text);
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        CheckRequest(nameof(FailRequest));
        using var fault = new FaultText(text, MaxMessageLength);
        Answer(FrameKind.Fault, fault.Bytes, deadline, nameof(FailRequest));
    }

    private void Answer(FrameKind kind, ReadOnlySpan<byte> payload, Deadline deadline, string function)
    {
        CheckNoRoomLent(function);
        try
        {
            AnswerFrame(kind, _requestId, payload, deadline);
        }
        catch (IpcException e) when (!MayTryAgain(e))
        {
            AbandonRequest();
            throw;
        }
        _holding = Holding.Nothing;
    }

    // The request's memory goes back whatever became of its reply, unless the caller may try again.
    private void AbandonRequest()
    {
        _reserved = Nothing;
        _holding = Holding.Nothing;
        ReleaseFrame();
    }
}
