using System.Runtime.ExceptionServices;

namespace Ipc;

/// <summary>The half of the thread that serves, through <see cref="CallServerChannel"/>.</summary>
internal sealed partial class CallSession
{
    private byte[] _request = []; // a copy: a closed session lets its transport's thread go at once
    private byte[] _reply = [];

    private IpcException ClosedHere() => new(IpcStatus.Closed, $"the channel of {address} was closed here");

    private IpcException ClientHasGone() => new(IpcStatus.PeerClosed, $"the client of {address} closed the connection or died");

    // The exchange Next told of has left, or there never was one.
    private IpcException NothingTold() => _closed ? ClosedHere() : _gone ? ClientHasGone() : new IpcException(IpcStatus.WrongState,
        "a server cannot send of its own accord over this transport, which has calls only: let the client call, or use a transport of kind \"channel\"");

    public FrameInfo Next(Deadline deadline)
    {
        lock (_lock)
        {
            while (true)
            {
                // A handler that runs while the channel is closed still answers its request.
                if (_closed && !_running)
                    throw ClosedHere();
                if (_exchanges.Count > 0 && !_exchanges[0].Done)
                {
                    _told = _exchanges[0];
                    return new FrameInfo(_told.Kind, _told.Id, _told.Length);
                }
                if (_failure is not null)
                    throw new IpcException(_failure.Status, _failure.Message);
                if (_gone && _exchanges.Count == 0)
                    throw ClientHasGone();
                var left = deadline.LeftMilliseconds;
                if (left == 0)
                    throw new IpcException(IpcStatus.TimedOut, $"nothing came from the client of {address} within the time-out");
                Monitor.Wait(_lock, left);
            }
        }
    }

    public unsafe ReadOnlySpan<byte> View()
    {
        lock (_lock)
        {
            var exchange = _told ?? throw NothingTold();
            if (_running)
                return new ReadOnlySpan<byte>(exchange.Bytes, exchange.Length);
            if (!exchange.Viewed)
            {
                Grow(ref _request, exchange.Length);
                exchange.Viewed = true;
                Read(exchange, _request);
            }
            return _request.AsSpan(0, exchange.Length);
        }
    }

    public void Take(Span<byte> buffer)
    {
        lock (_lock)
        {
            Read(_told ?? throw NothingTold(), buffer);
            Release();
        }
    }

    // Copies without holding the lock, so that nobody waits for a long message.
    private unsafe void Read(Exchange exchange, Span<byte> to)
    {
        exchange.BeingRead = true;
        Monitor.Exit(_lock);
        try
        {
            new ReadOnlySpan<byte>(exchange.Bytes, exchange.Length).CopyTo(to);
        }
        finally
        {
            Monitor.Enter(_lock);
        }
        exchange.BeingRead = false;
        Monitor.PulseAll(_lock);
    }

    public void Release()
    {
        lock (_lock)
        {
            if (_told is null)
                return; // a request is done with its reply
            if (_told.Kind == FrameKind.Request)
            {
                var text = "the server could not send its reply"u8;
                Grow(ref _reply, text.Length);
                text.CopyTo(_reply);
                SetReply(FrameKind.Fault, text.Length);
            }
            Finish();
        }
    }

    private void SetReply(FrameKind kind, int length)
    {
        _told!.HasReply = true;
        _told.ReplyKind = kind;
        _told.ReplyLength = length;
    }

    private void Finish()
    {
        _told!.Done = true;
        _told = null;
        Monitor.PulseAll(_lock);
    }

    public Span<byte> Reserve(int length)
    {
        lock (_lock)
        {
            if (_told is null)
                throw NothingTold();
            Grow(ref _reply, length);
            return _reply.AsSpan(0, length);
        }
    }

    /// <summary>Answers the request that Next told of.</summary>
    public void Reply(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        lock (_lock)
        {
            CheckTold(id);
            if (_running)
            {
                PutHere(kind, id, payload);
                return;
            }
            Grow(ref _reply, payload.Length);
            payload.CopyTo(_reply);
            SetReply(kind, payload.Length);
            Finish();
        }
    }

    /// <summary>Answers with the first bytes of the room that Reserve gave.</summary>
    public void ReplyReserved(FrameKind kind, uint id, int length)
    {
        lock (_lock)
        {
            CheckTold(id);
            if (_running)
            {
                PutHere(kind, id, _reply.AsSpan(0, length));
                return;
            }
            SetReply(kind, length);
            Finish();
        }
    }

    private void CheckTold(uint id)
    {
        if (_told is null || _told.Kind != FrameKind.Request || _told.Id != id)
            throw NothingTold();
    }

    // On the transport's own thread there is no need to keep the reply.
    private void PutHere(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        Monitor.Exit(_lock);
        try
        {
            _told!.Sink.Put(kind, id, payload);
        }
        finally
        {
            Monitor.Enter(_lock);
        }
        Finish();
    }

    /// <summary>Blocks while <paramref name="answerOne"/>, which receives one request and answers it, is run for each request on the
    /// thread that delivers it, never twice at once; throws what ends the channel or what answerOne threw.</summary>
    public void Serve(Action answerOne)
    {
        lock (_lock)
        {
            _stopped = null;
            _answerOne = answerOne;
            Monitor.PulseAll(_lock);
            // Until answerOne is out of its last run, for it is the caller's.
            while (_running || !(_closed || _stopped is not null || ((_gone || _failure is not null) && _exchanges.Count == 0)))
                Monitor.Wait(_lock);
            _answerOne = null;
            if (_closed)
                throw ClosedHere();
            if (_stopped is not null)
                ExceptionDispatchInfo.Throw(_stopped);
            throw _failure is not null ? new IpcException(_failure.Status, _failure.Message) : ClientHasGone();
        }
    }

    private static void Grow(ref byte[] room, int length)
    {
        // Twice as long at least, so that lengths that rise slowly do not allocate for each message.
        if (room.Length < length)
        {
            var larger = GC.AllocateUninitializedArray<byte>((int)Math.Min(Array.MaxLength, Math.Max(length, 2L * room.Length)));
            room.AsSpan().CopyTo(larger);
            room = larger;
        }
    }
}
