namespace Ipc;

/// <summary>Taking replies in, by one thread after another.</summary>
internal sealed partial class CallsUnderWay
{
    // Takes replies in unless somebody does; of a call that was alone when it began, into its own buffer if its reply is on the way already.
    private void Receive(PendingCall? alone)
    {
        lock (_lock)
        {
            if (_receiving || InFlight == 0)
                return;
            _receiving = true;
            if (alone is { State: CallState.InFlight } && InFlight == 1)
                alone.State = CallState.Receiving;
            else
                alone = null;
        }
        if (alone is not null)
        {
            if (_channel.TryCompleteSoon(alone.Reply.Span, out var completion))
            {
                Take(completion, alone.Reply.Span);
                if (!EndReceiving(null))
                    return;
            }
            // Another call may have come meanwhile, and its reply first.
            WaitAgain(alone);
        }
        while (!StartReceiving())
        {
        }
    }

    // False: it ended, and something is in flight again.
    private bool StartReceiving()
    {
        Exception? failure = null;
        if (_channel.TakeReceiver() is not { } operation)
        {
            failure = IpcChannel.UnderWay();
        }
        else
        {
            operation.Set(OperationKind.Complete, default, default, default);
            operation.Owner = this;
            try
            {
                if (!operation.TryFinish(CancellationToken.None))
                    return true;
            }
            catch (Exception e)
            {
                failure = e;
            }
        }
        return !EndReceiving(failure);
    }

    // True: something is in flight again, and the caller receives.
    private bool EndReceiving(Exception? failure)
    {
        PendingCall? last;
        List<PendingCall>? lost = null;
        (int Length, Exception? Failure) outcome;
        bool again;
        lock (_lock)
        {
            (last, _endsLast, outcome) = (_endsLast, null, _lastOutcome);
            if (failure is not null)
                lost = TakeAll();
            // Of a channel that has failed nothing comes; a call that is still being sent is told so by sending.
            again = _receiving = failure is null && InFlight > 0;
        }
        // Not by a lambda, whose captured variable every call would allocate.
        for (var i = 0; i < lost?.Count; i++)
            lost[i].Complete(0, failure, inline: false);
        last?.Complete(outcome.Length, outcome.Failure, inline: !again);
        return again;
    }

    // The channel has failed and told of all that it knew of.
    private List<PendingCall> TakeAll()
    {
        var all = new List<PendingCall>();
        var kept = _sender is not null && (_sending is not null || _orphan) ? _sendingTag : -1;
        _freeCount = 0;
        _givenUp.Clear();
        for (var tag = 0; tag < _byTag.Length; tag++)
        {
            if (tag == kept)
                continue;
            if (_byTag[tag] is { } call)
            {
                call.State = CallState.Over;
                all.Add(call);
            }
            Free(tag);
        }
        return all;
    }

    public bool HandOut(int timeoutMilliseconds)
    {
        while (true)
        {
            Forget();
            PendingCall? before = null;
            lock (_lock)
            {
                if (InFlight == 0)
                    return true;
                (before, _endsLast) = (_endsLast, null);
            }
            // It was not the last after all.
            before?.Complete(_lastOutcome.Length, _lastOutcome.Failure, inline: false);
            if (!_channel.TryAwaitReply(timeoutMilliseconds))
                return false;
            if (!_channel.TryComplete(_room.Span, out var completion, timeoutMilliseconds))
            {
                // Its request may not have been known to be out: whoever sends it looks at this word afterwards.
                Interlocked.Exchange(ref _early, 1);
                if (!_channel.TryComplete(_room.Span, out completion))
                    return false;
            }
            if (completion.Outcome == IpcStatus.BufferTooSmall)
                TakeLonger(completion);
            else
                Take(completion, _room.Span);
        }
    }

    // A reply longer than the scratch goes right to its buffer if it is here whole, else by way of a longer one.
    private void TakeLonger(IpcCompletion tooSmall)
    {
        var tag = (int)tooSmall.Tag;
        var call = BeginReceiving(tag);
        if (call is not null && call.Reply.Length >= tooSmall.Length && _channel.TryComplete(call.Reply.Span, out var completion, 0))
            Take(completion, call.Reply.Span);
        else
        {
            _room = new byte[tooSmall.Length];
            if (call is not null)
                WaitAgain(call);
        }
    }

    private void WaitAgain(PendingCall call)
    {
        lock (_lock)
        {
            if (call.State != CallState.Receiving)
                return;
            call.State = CallState.InFlight;
            if (call.IsCancelled)
                _givenUp.Add(call.Tag);
        }
    }

    // Calls whose callers have given them up.
    private void Forget()
    {
        while (true)
        {
            int tag;
            PendingCall? call;
            lock (_lock)
            {
                if (_givenUp.Count == 0)
                    return;
                tag = _givenUp[^1];
                _givenUp.RemoveAt(_givenUp.Count - 1);
                call = _byTag[tag];
            }
            if (_channel.TryForget(_places[tag]))
            {
                End(tag, call, 0, call?.Cancelled());
                continue;
            }
            // Its reply, or its end, is still told of.
            lock (_lock)
            {
                _byTag[tag] = null;
                if (call is not null)
                    call.State = CallState.Over;
            }
            call?.CompleteCancelled();
        }
    }

    // The call whose reply is being taken, which cannot be cancelled any more; null if its caller has given it up.
    private PendingCall? BeginReceiving(int tag)
    {
        lock (_lock)
        {
            var call = _byTag[tag];
            if (call is not null)
            {
                if (call == _sending)
                    _sending = null;
                call.State = CallState.Receiving;
            }
            return call;
        }
    }

    // A call is over; its reply stands in `bytes`, which may be another call's buffer.
    private void Take(IpcCompletion completion, ReadOnlySpan<byte> bytes)
    {
        var tag = (int)completion.Tag;
        var call = BeginReceiving(tag);
        Exception? failure = completion.Outcome switch
        {
            IpcStatus.Ok when call is not null && completion.Length > call.Reply.Length => TooSmall(call, completion.Length, Keep(bytes[..completion.Length])),
            IpcStatus.Ok => null,
            _ => new IpcException(completion.Outcome, completion.ErrorMessage),
        };
        if (failure is null && call is not null && !call.Reply.Span.Overlaps(bytes))
            bytes[..completion.Length].CopyTo(call.Reply.Span);
        _room = _scratch;
        End(tag, call, completion.Length, failure);
    }

    private void End(int tag, PendingCall? call, int length, Exception? failure)
    {
        bool sends, isLast;
        lock (_lock)
        {
            Free(tag);
            if (call is not null)
                call.State = CallState.Over;
            sends = _first is not null && _sender is null && (_sender = _channel.TakeSender()) is not null;
            isLast = call is not null && InFlight == 0 && !sends && _endsLast is null;
            if (isLast)
                (_endsLast, _lastOutcome) = (call, (length, failure));
        }
        if (!isLast)
            call?.Complete(length, failure, inline: false);
        if (sends)
            Send();
    }

    // Nobody else's reply follows that would have to be kept as well.
    private bool Keep(ReadOnlySpan<byte> reply)
    {
        lock (_lock)
            _kept = InFlight == 1 && _first is null ? reply.ToArray() : null;
        return _kept is not null;
    }

    public bool TryTakeKept(Span<byte> reply, out int length)
    {
        lock (_lock)
        {
            length = _kept?.Length ?? 0;
            if (_kept is null)
                return false;
            if (!_kept.AsSpan().TryCopyTo(reply))
                throw new IpcException(IpcStatus.BufferTooSmall,
                    $"the reply has {length} bytes and the buffer room for {reply.Length}: ask again with more room");
            _kept = null;
            return true;
        }
    }

    private static IpcException TooSmall(PendingCall call, int length, bool isKept) => new(IpcStatus.BufferTooSmall,
        $"the reply has {length} bytes and the buffer room for {call.Reply.Length}: "
        + $"{(isKept ? "ReceiveReply gives it" : "it was dropped, because other calls were under way; give more room")}");
}
