namespace Ipc;

/// <summary>A call that no other is beside, over a transport whose replies come within a moment: sent and answered on the caller's thread, it takes two
/// locks and no object. Meanwhile it counts as who sends and as who receives, so that others queue up.</summary>
internal sealed partial class CallsUnderWay
{
    // The tag of a call that may begin so; null: it may not.
    private int? TryBeginAlone()
    {
        lock (_lock)
        {
            if (InFlight != 0 || _first is not null || _receiving || _sender is not null || !_channel.MayCall
                || (_sender = _channel.TakeSender()) is null)
                return null;
            _receiving = true;
            _kept = null;
            return _freeTags[--_freeCount];
        }
    }

    private ValueTask<int> BeginAlone(int tag, ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token)
    {
        if (!_channel.TryCallSoon(request.Span, (ulong)tag, reply.Span, out var place, out var length))
        {
            EndAlone(tag);
            return BeginBesideOthers(request, reply, token);
        }
        if (length != IpcChannel.NoReplyYet)
        {
            EndAlone(tag);
            return new ValueTask<int>(length);
        }
        return StayInFlight(tag, place, request, reply, token);
    }

    // Its call is not in flight, or is over.
    private void EndAlone(int tag)
    {
        lock (_lock)
        {
            Free(tag);
            _receiving = false;
            // What Send would find out under another lock.
            if (_first is null)
            {
                _sender!.GiveBack();
                _sender = null;
                return;
            }
        }
        Send();
        Receive(null);
    }

    // The reply takes longer: from here on the call is as others are, and this thread the one that receives.
    private ValueTask<int> StayInFlight(int tag, (uint Id, int At) place, ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token)
    {
        PendingCall call;
        ValueTask<int> task;
        lock (_lock)
        {
            call = NewCall(request, reply, token);
            (call.Tag, call.State) = (tag, CallState.InFlight);
            (_byTag[tag], _places[tag]) = (call, place);
            task = call.Task;
        }
        // Nobody completes it yet: this thread receives.
        call.WatchToken();
        Send();
        while (!StartReceiving())
        {
        }
        return task;
    }
}
