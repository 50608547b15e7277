using System.Runtime.CompilerServices;
using System.Text;

namespace Ipc;

/// <summary>Many calls in flight. Frames carry each call's number anyway, so nothing here shows on the wire. Twin of
/// native/src/core/session_in_flight.hpp.</summary>
internal abstract partial class FramedChannel
{
    // Between two looks at what has come. Who waits for room is woken when there is some, so this is how long two ends stand still whose ways are
    // both full.
    private const int SubmitSliceMilliseconds = 1;

    private CallsInFlight? _inFlight; // made by the first submit
    private int _deferred;            // counted by the receiver's half ...
    private int _answered;            // ... and by the sender's
    private uint _newestDeferred;

    // ---- for transports

    private protected override bool HasCallsInFlight => true;

    /// <summary>Whether a send that timed out has sent nothing, however long the message: it can always be tried again.</summary>
    private protected virtual bool SendsAllOrNothing => false;

    /// <summary>Sends as much of one frame as goes until <paramref name="slice"/> is over, from where the attempt before ended, which
    /// <paramref name="done"/> remembers; false: not all of it is out. As it stands here, for transports that send all or nothing, and those on which a
    /// time-out may cut a frame: these send all of it, until <paramref name="whole"/> is over.</summary>
    private protected virtual bool TrySubmitSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline slice, Deadline whole)
    {
        try
        {
            SendFrame(kind, id, payload, SendsAllOrNothing ? slice : whole);
            return true;
        }
        catch (IpcException e) when (SendsAllOrNothing && e.Status == IpcStatus.TimedOut)
        {
            return false;
        }
    }

    /// <summary>After a frame that will never be whole: the peer learns of it.</summary>
    private protected virtual void BreakOff() { }

    // ---- the client's end

    private bool AnyInFlight
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _inFlight is { Any: true };
    }

    public sealed override void Submit(ReadOnlySpan<byte> request, ulong tag, int timeoutMilliseconds)
    {
        if (_gate.Doors.Sender.TryEnter())
        {
            var sent = false;
            if (_inFlight is { IsFull: false } calls && MaySend(request.Length, timeoutMilliseconds))
                sent = TrySubmitNow(calls, request, tag, out _);
            _gate.Doors.Sender.Leave();
            if (sent)
                return;
        }
        SubmitOrWait(request, tag, timeoutMilliseconds);
    }

    // A call in flight if its request goes at once; false: it never was one. Throws nothing.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TrySubmitNow(CallsInFlight calls, ReadOnlySpan<byte> request, ulong tag, out (uint Id, int At) place)
    {
        var id = _callId = NextCallId;
        place = (id, calls.Enter(id, tag));
        var sent = TrySendNow(FrameKind.Request, id, request);
        if (sent)
            calls.Sent(id);
        else
            calls.TakeBack(place.At, id);
        return sent;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SubmitOrWait(ReadOnlySpan<byte> request, ulong tag, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Sender);
        var deadline = Begin(timeoutMilliseconds);
        CheckLength(request.Length);
        CheckNoRoomLent(nameof(Submit));
        CheckCallsInFlight();
        if (_inFlight is not { } calls)
            Volatile.Write(ref _inFlight, calls = new CallsInFlight());
        if (calls.IsFull)
        {
            throw new IpcException(IpcStatus.TooManyCalls,
                $"{CallsInFlight.Most} calls are in flight, as many as may be: complete one, then submit again");
        }
        var id = _callId = NextCallId;
        var at = calls.Enter(id, tag);
        try
        {
            SendWhileTakingIn(calls, id, request, deadline);
        }
        catch
        {
            calls.TakeBack(at, id);
            throw;
        }
        calls.Sent(id);
    }

    private void SendWhileTakingIn(CallsInFlight calls, uint id, ReadOnlySpan<byte> request, Deadline deadline)
    {
        var done = 0;
        for (var patience = 0; !TrySubmitSome(FrameKind.Request, id, request, ref done, new Deadline(patience), deadline);
             patience = SubmitSliceMilliseconds)
        {
            if (!deadline.Expired)
            {
                TakeIn(calls);
                continue;
            }
            if (done == 0)
                throw Refuse(IpcStatus.TimedOut, "the peer took nothing within the time-out; nothing was sent");
            var failure = Fail(IpcStatus.TimedOut, "the time-out passed half-way through a request, so the channel is broken: reconnect");
            BreakOff();
            throw failure;
        }
    }

    // Takes in what has come, unless a thread is in the receiver's half, or something there is held. Whoever comes to complete meanwhile waits: it
    // goes in first and looks at TakingIn then, and the fence puts that in order with what is done here.
    private void TakeIn(CallsInFlight calls)
    {
        calls.TakingIn = true;
        try
        {
            ProcessFence.OfAllThreads();
            if (_gate.Doors.Receiver.IsTaken || _holding is not (Holding.Nothing or Holding.KeptReply) || _stopped)
                return;
            while (TakeInOne(calls))
            {
            }
        }
        catch (IpcException)
        {
            // Nothing more is there; whatever else it was, who completes is told, and so is who goes on sending.
        }
        finally
        {
            calls.TakingIn = false;
        }
    }

    private bool TakeInOne(CallsInFlight calls)
    {
        var now = new Deadline(0);
        if (!AwaitFrame(now))
            return false;
        var frame = NextFrame(now);
        if (frame.Kind is not (FrameKind.Reply or FrameKind.Fault))
            return false;
        _holding = Holding.Nothing;
        var at = calls.Find(frame.Id);
        if (at == CallsInFlight.None)
        {
            if ((int)(frame.Id - _callId) > 0)
                return false;
        }
        else if (calls.IsBeingSent(frame.Id))
        {
            throw Fail(IpcStatus.NotOurProtocol, "the peer answered a call before it had all of its request; reconnect");
        }
        else
        {
            calls.Arrived.Enqueue(new CallsInFlight.Arrival(calls.Tag(at), frame.Kind == FrameKind.Fault, ViewFrame(now).ToArray()));
            calls.End(at);
        }
        ReleaseFrame();
        return true;
    }

    public sealed override bool TryComplete(Span<byte> reply, out IpcCompletion completion, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            var completed = false;
            completion = default;
            if (MayComplete(timeoutMilliseconds) && _inFlight is { TakingIn: false } calls && calls.Arrived.Count == 0 &&
                TryViewNext(FrameKind.Reply, timeoutMilliseconds != 0, out var bytes, out var id))
            {
                var at = calls.Find(id);
                if (at != CallsInFlight.None && bytes.Length <= reply.Length && !calls.IsBeingSent(id))
                {
                    bytes.CopyTo(reply);
                    completion = new IpcCompletion(calls.Tag(at), IpcStatus.Ok, bytes.Length, "");
                    completed = TryReleaseNow();
                    if (completed)
                    {
                        calls.End(at);
                        calls.CountCompleted();
                    }
                }
            }
            _gate.Doors.Receiver.Leave();
            if (completed)
                return true;
        }
        return TryCompleteOrWait(reply, out completion, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MayComplete(int timeoutMilliseconds) => IsGood(timeoutMilliseconds) && _holding == Holding.Nothing;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryCompleteOrWait(Span<byte> reply, out IpcCompletion completion, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        while (_inFlight is { TakingIn: true })
            Thread.Yield(); // a moment: nothing there waits
        if (_inFlight is { Arrived.Count: > 0 } calls)
        {
            completion = HandOut(calls, reply);
            return true;
        }
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHeldByCall(nameof(Complete));
            return TryAwaitCall(reply, out completion, deadline);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !_stopped)
        {
            completion = default;
            return false;
        }
        // Nothing more comes: that ends the calls in flight, one by one.
        catch (IpcException e) when (_stopped && e.Status != IpcStatus.InvalidArgument && _inFlight is not null && _inFlight.FindAny() != CallsInFlight.None)
        {
            var at = _inFlight.FindAny();
            completion = new IpcCompletion(_inFlight.Tag(at), e.Status, 0, e.Message);
            _inFlight.End(at);
            _inFlight.CountCompleted();
            return true;
        }
    }

    // Waits for the reply, or fault, of some call in flight; late ones are dropped.
    private bool TryAwaitCall(Span<byte> reply, out IpcCompletion completion, Deadline deadline)
    {
        completion = default;
        while (true)
        {
            if (!AwaitFrame(deadline))
                return false;
            var frame = NextFrame(deadline);
            if (frame.Kind is not (FrameKind.Reply or FrameKind.Fault))
                throw OutOfOrder(frame.Kind, "a reply");
            _holding = Holding.Nothing;
            var calls = _inFlight;
            var at = calls?.Find(frame.Id) ?? CallsInFlight.None;
            if (at == CallsInFlight.None)
            {
                if ((int)(frame.Id - Volatile.Read(ref _callId)) > 0)
                    throw Fail(IpcStatus.NotOurProtocol, "the peer answered a call that was never made; reconnect");
                ReleaseFrame();
            }
            else if (!calls!.IsBeingSent(frame.Id))
            {
                completion = TakeCall(calls, at, frame, reply, deadline);
                return true;
            }
            else if (deadline.Expired)
            {
                return false;
            }
            else
            {
                Thread.Yield(); // the reply outran the thread that submits
            }
        }
    }

    private IpcCompletion TakeCall(CallsInFlight calls, int at, FrameInfo frame, Span<byte> reply, Deadline deadline)
    {
        var tag = calls.Tag(at);
        if (frame.Kind == FrameKind.Reply && frame.Length > reply.Length)
            return TooSmallFor(tag, frame.Length, reply.Length);
        IpcCompletion completion;
        if (frame.Kind == FrameKind.Fault)
        {
            completion = Failed(tag, ViewFrame(deadline));
            ReleaseFrame();
        }
        else
        {
            TakeFrame(reply[..frame.Length], deadline);
            completion = new IpcCompletion(tag, IpcStatus.Ok, frame.Length, "");
        }
        calls.End(at);
        calls.CountCompleted();
        return completion;
    }

    // One that was taken in while a request waited for room.
    private static IpcCompletion HandOut(CallsInFlight calls, Span<byte> reply)
    {
        var first = calls.Arrived.Peek();
        if (!first.IsFault && first.Bytes.Length > reply.Length)
            return TooSmallFor(first.Tag, first.Bytes.Length, reply.Length);
        calls.Arrived.Dequeue();
        calls.CountCompleted();
        if (first.IsFault)
            return Failed(first.Tag, first.Bytes);
        first.Bytes.CopyTo(reply);
        return new IpcCompletion(first.Tag, IpcStatus.Ok, first.Bytes.Length, "");
    }

    private static IpcCompletion TooSmallFor(ulong tag, int length, int room) =>
        new(tag, IpcStatus.BufferTooSmall, length, $"the reply has {length} bytes and the buffer room for {room}: complete again with more room");

    private static IpcCompletion Failed(ulong tag, ReadOnlySpan<byte> text) => new(tag, IpcStatus.HandlerFailed, 0,
        $"the server's handler failed: {Encoding.UTF8.GetString(text[..Math.Min(text.Length, LongestFaultText)])}");

    // ---- the server's end

    public sealed override ulong DeferRequest()
    {
        using var visit = new Visit(this, Receiver);
        Begin(0);
        CheckRequest(nameof(DeferRequest));
        CheckCallsInFlight();
        Volatile.Write(ref _newestDeferred, _requestId);
        Volatile.Write(ref _deferred, _deferred + 1);
        _holding = Holding.Nothing;
        ReleaseFrame();
        return _requestId;
    }

    public sealed override void ReplyDeferred(ulong token, ReadOnlySpan<byte> reply, int timeoutMilliseconds)
    {
        if (_gate.Doors.Sender.TryEnter())
        {
            var sent = IsDeferred(token) && MaySend(reply.Length, timeoutMilliseconds) && TrySendNow(FrameKind.Reply, (uint)token, reply);
            if (sent)
                Volatile.Write(ref _answered, _answered + 1);
            _gate.Doors.Sender.Leave();
            if (sent)
                return;
        }
        AnswerDeferred(FrameKind.Reply, token, reply, timeoutMilliseconds, nameof(ReplyDeferred));
    }

    public sealed override void FailDeferred(ulong token, string text, int timeoutMilliseconds)
    {
        ArgumentNullException.ThrowIfNull(text);
        using var fault = new FaultText(text, MaxMessageLength);
        AnswerDeferred(FrameKind.Fault, token, fault.Bytes, timeoutMilliseconds, nameof(FailDeferred));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AnswerDeferred(FrameKind kind, ulong token, ReadOnlySpan<byte> payload, int timeoutMilliseconds, string function)
    {
        using var visit = new Visit(this, Sender);
        var deadline = Begin(timeoutMilliseconds);
        if (Volatile.Read(ref _deferred) == _answered)
            throw new IpcException(IpcStatus.WrongState, $"{function} while no request is put off: each token is answered once");
        if (!IsDeferred(token))
            throw new IpcException(IpcStatus.InvalidArgument, $"{function}: {token} is no token of this channel");
        CheckLength(payload.Length);
        CheckNoRoomLent(function);
        SendFrame(kind, (uint)token, payload, deadline);
        Volatile.Write(ref _answered, _answered + 1);
    }

    // As far as can be told without a list of them: a client numbers its calls upwards.
    private bool IsDeferred(ulong token) => Volatile.Read(ref _deferred) != _answered && token <= uint.MaxValue &&
        (int)((uint)token - Volatile.Read(ref _newestDeferred)) <= 0;

    // ---- checks

    private void CheckCallsInFlight()
    {
        if (!HasCallsInFlight)
            throw new IpcException(IpcStatus.NotAvailable, "this transport has one call at a time: use Call and Reply, or unix, pipe, tcp or shm");
    }

    private void CheckHeldByCall(string function)
    {
        if (_holding is not (Holding.Nothing or Holding.KeptReply))
            CheckHeld(function);
    }
}
