namespace Ipc;

/// <summary>Sending, by who has the sender's operation.</summary>
internal sealed partial class CallsUnderWay
{
    private void Send()
    {
        while (true)
        {
            var operation = _sender!;
            lock (_lock)
            {
                if (_first is not { } call || _freeCount == 0)
                {
                    _sender = null;
                    operation.GiveBack();
                    return;
                }
                _first = call.Next;
                if (_first is null)
                    _last = null;
                call.Next = null;
                _sendingTag = _freeTags[--_freeCount];
                (_byTag[_sendingTag], _sending, call.Tag, call.State) = (call, call, _sendingTag, CallState.Sending);
                operation.Set(OperationKind.Submit, default, call.Request, default);
                (operation.Tag, operation.Owner) = ((ulong)_sendingTag, this);
            }
            Exception? failure = null;
            try
            {
                if (!operation.TryFinish(CancellationToken.None))
                    return;
            }
            catch (Exception e)
            {
                failure = e;
            }
            if (!GoOnSending(operation, failure))
                return;
        }
    }

    // After one request; the operation is free. False: nobody sends any more.
    private bool GoOnSending(ChannelOperation operation, Exception? failure)
    {
        PendingCall? failed = null;
        List<PendingCall>? refused = null;
        bool goesOn, wakesReceiver;
        lock (_lock)
        {
            var call = _sending;
            _sending = null;
            if (failure is not null && (call is not null || _orphan))
            {
                // Orphaned: half of it was out when its caller gave it up.
                failed = call;
                if (call is not null)
                    call.State = CallState.Over;
                Free(_sendingTag);
            }
            else if (call is not null || _orphan)
            {
                _places[_sendingTag] = operation.Place;
                if (call is not null)
                    call.State = CallState.InFlight;
                if (call is null or { IsCancelled: true })
                    _givenUp.Add(_sendingTag);
            }
            _orphan = false;
            // Whoever receives may have seen a reply too early, may have something to forget, or nothing to wait for.
            wakesReceiver = _receiving && (_givenUp.Count > 0 || InFlight == 0 || Interlocked.Exchange(ref _early, 0) != 0);
            _sender = _channel.TakeSender();
            goesOn = _sender is not null;
            if (!goesOn)
                refused = TakeQueued();
        }
        if (wakesReceiver)
            _channel.WakeReceiver();
        failed?.Complete(0, failure, inline: false);
        refused?.ForEach(call => call.Complete(0, IpcChannel.UnderWay(), inline: false));
        return goesOn;
    }

    public bool GivesUp(ChannelOperation operation)
    {
        PendingCall call;
        lock (_lock)
        {
            if (_sending is not { IsCancelled: true } cancelled)
                return false;
            call = cancelled;
        }
        var never = _channel.GiveUpSubmit(operation);
        // The rest goes all the same, or the channel would be broken; but its bytes are the caller's again.
        if (!never)
            operation.Outgoing = operation.Outgoing.ToArray();
        lock (_lock)
        {
            _sending = null;
            _orphan = !never;
            call.State = CallState.Over;
            if (never)
                Free(_sendingTag);
            else
                _byTag[_sendingTag] = null;
        }
        call.CompleteCancelled();
        return never;
    }

    private List<PendingCall>? TakeQueued()
    {
        List<PendingCall>? all = null;
        for (var call = _first; call is not null; call = call.Next)
        {
            call.State = CallState.Over;
            (all ??= []).Add(call);
        }
        (_first, _last) = (null, null);
        return all;
    }

    private void Free(int tag)
    {
        _byTag[tag] = null;
        _freeTags[_freeCount++] = tag;
        if (_givenUp.Count > 0)
            _givenUp.Remove(tag);
    }
}
