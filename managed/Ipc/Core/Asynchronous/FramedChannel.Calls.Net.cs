namespace Ipc;

/// <summary>Asynchronous calls of which several are in flight, and asynchronous answers to requests that were put off.</summary>
internal abstract partial class FramedChannel
{
    private bool AttemptSubmit(ChannelOperation operation, Deadline deadline)
    {
        if (!operation.Begun)
        {
            CheckLength(operation.Outgoing.Length);
            CheckNoRoomLent(nameof(CallAsync));
            if (_inFlight is null)
                Volatile.Write(ref _inFlight, new CallsInFlight());
            if (_inFlight!.IsFull)
                throw new IpcException(IpcStatus.TooManyCalls,
                    $"{CallsInFlight.Most} calls are in flight beside the asynchronous ones: complete one, then call again");
            var id = _callId = NextCallId;
            operation.Place = (id, _inFlight.Enter(id, operation.Tag));
            operation.Begun = true;
        }
        try
        {
            if (!TrySendSome(FrameKind.Request, operation.Place.Id, operation.Outgoing.Span, ref operation.BytesOut, deadline))
                return false;
        }
        catch (IpcException e) when (e.Status != IpcStatus.TimedOut || _stopped)
        {
            _inFlight!.TakeBack(operation.Place.At, operation.Place.Id);
            throw;
        }
        _inFlight!.Sent(operation.Place.Id);
        return true;
    }

    internal sealed override bool GiveUpSubmit(ChannelOperation operation)
    {
        using var visit = new Visit(this, Sender);
        if (operation.BytesOut > 0)
            return false;
        if (operation.Begun)
            _inFlight!.TakeBack(operation.Place.At, operation.Place.Id);
        return true;
    }

    // The steps of the blocking call, but the call is in flight meanwhile, and stays so if its reply takes longer.
    internal sealed override bool TryCallSoon(ReadOnlySpan<byte> request, ulong tag, Span<byte> reply, out (uint Id, int At) place, out int length)
    {
        (place, length) = (default, NoReplyYet);
        if (!_gate.Doors.Receiver.TryEnter())
            return false;
        var sent = false;
        if (_inFlight is { Arrived.Count: 0 } calls && MayReceive(0) && MaySend(request.Length, 0))
        {
            sent = TrySubmitNow(calls, request, tag, out place);
            if (sent && TryTakeNext(FrameKind.Reply, place.Id, true, reply, out var bytes))
            {
                calls.End(place.At);
                calls.CountCompleted();
                length = bytes;
            }
        }
        _gate.Doors.Receiver.Leave();
        return sent;
    }

    // As TryComplete's first half, with some microseconds for a reply that is on its way already, as the blocking call takes.
    internal sealed override bool TryCompleteSoon(Span<byte> reply, out IpcCompletion completion)
    {
        completion = default;
        using var visit = new Visit(this, Receiver);
        if (!MayComplete(0) || _inFlight is not { TakingIn: false } calls || calls.Arrived.Count > 0
            || !TryViewNext(FrameKind.Reply, true, out var bytes, out var id))
            return false;
        var at = calls.Find(id);
        if (at == CallsInFlight.None || bytes.Length > reply.Length || calls.IsBeingSent(id))
            return false;
        bytes.CopyTo(reply);
        completion = new IpcCompletion(calls.Tag(at), IpcStatus.Ok, bytes.Length, "");
        if (!TryReleaseNow())
            return false;
        calls.End(at);
        calls.CountCompleted();
        return true;
    }

    internal sealed override bool TryAwaitReply(int timeoutMilliseconds)
    {
        if (_inFlight is { Arrived.Count: > 0 })
            return true;
        using var visit = new Visit(this, Receiver);
        try
        {
            return AwaitWhole(Begin(timeoutMilliseconds));
        }
        catch (IpcException e)
        {
            // Whatever it is, completing says so, of each call.
            return e.Status != IpcStatus.TimedOut || _stopped;
        }
    }

    partial void TakeKept(Span<byte> reply, ref int length)
    {
        if (TryTakeKept(reply, out var kept))
            length = kept;
    }

    internal sealed override bool TryForget((uint Id, int At) place)
    {
        using var visit = new Visit(this, Receiver);
        // What has come, or failed, is told of in its turn.
        if (_stopped || _inFlight is not { Arrived.Count: 0 } calls || calls.Find(place.Id) != place.At || calls.IsBeingSent(place.Id))
            return false;
        calls.End(place.At);
        calls.CountCompleted();
        return true;
    }

    private bool AttemptAnswerDeferred(ChannelOperation operation, Deadline deadline)
    {
        if (operation.BytesOut == 0)
        {
            if (!IsDeferred(operation.Tag))
                throw new IpcException(IpcStatus.InvalidArgument,
                    $"{operation.Tag} is no request that was put off on this channel, or all of them have been answered");
            CheckLength(operation.Outgoing.Length);
            CheckNoRoomLent(nameof(ReplyDeferredAsync));
        }
        if (!TrySendSome(operation.AnswerKind, (uint)operation.Tag, operation.Outgoing.Span, ref operation.BytesOut, deadline))
            return false;
        Volatile.Write(ref _answered, _answered + 1);
        return true;
    }
}
