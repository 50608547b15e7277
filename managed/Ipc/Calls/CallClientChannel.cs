namespace Ipc;

/// <summary>A channel whose sending is an exchange: a reply is there for NextFrame as soon as sending has returned. The server sends
/// nothing of its own accord, so receiving plain messages or requests is refused with <see cref="IpcStatus.WrongState"/>.</summary>
internal sealed unsafe class CallClientChannel(CallClient client, IpcAddress address) : FramedChannel(address.MaxMessageLength)
{
    private byte[] _room = [];
    private CallReply _reply;
    private bool _hasReply;

    protected override void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        if (kind == FrameKind.Message)
        {
            Exchange(kind, id, payload, deadline);
            return;
        }
        ReleaseFrame();
        _reply = Exchange(kind, id, payload, deadline);
        _hasReply = true;
        CheckReply(id);
    }

    private CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        try
        {
            return client.Exchange(kind, id, payload, deadline);
        }
        catch (IpcException e)
        {
            var channelIsGood = e.Status is IpcStatus.TimedOut or IpcStatus.OutOfMemory or IpcStatus.MessageTooLarge;
            throw channelIsGood ? Refuse(e.Status, e.Message) : Fail(e.Status, e.Message);
        }
    }

    // The reply of a server that may be anybody's.
    private void CheckReply(uint id)
    {
        if (_reply.Kind is not (FrameKind.Reply or FrameKind.Fault) || _reply.Id != id)
        {
            ReleaseFrame();
            throw Fail(IpcStatus.NotOurProtocol, $"what {address} answered is not a reply to what it was asked: reconnect");
        }
        if (_reply.Length > (uint)MaxMessageLength)
        {
            var length = _reply.Length;
            ReleaseFrame();
            throw Fail(IpcStatus.PeerTooLarge,
                $"the server at {address} answered with {length} bytes, over this side's limit of {MaxMessageLength}: raise it with option max=");
        }
    }

    protected override Span<byte> ReserveFrame(int length, Deadline deadline)
    {
        // Twice as long at least, so that lengths that rise slowly do not allocate for each message.
        if (_room.Length < length)
            _room = GC.AllocateUninitializedArray<byte>((int)Math.Min(Array.MaxLength, Math.Max(length, 2L * _room.Length)));
        return _room.AsSpan(0, length);
    }

    protected override void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline) =>
        SendFrame(kind, id, _room.AsSpan(0, length), deadline);

    protected override FrameInfo NextFrame(Deadline deadline) => _hasReply
        ? new FrameInfo(_reply.Kind, _reply.Id, (int)_reply.Length)
        : throw Refuse(IpcStatus.WrongState,
            $"the server at {address} sends nothing of its own accord, since this transport has calls only: use Call");

    protected override void TakeFrame(Span<byte> buffer, Deadline deadline)
    {
        new ReadOnlySpan<byte>(_reply.Bytes, (int)_reply.Length).CopyTo(buffer);
        ReleaseFrame();
    }

    protected override ReadOnlySpan<byte> ViewFrame(Deadline deadline) => new(_reply.Bytes, (int)_reply.Length);

    protected override void ReleaseFrame()
    {
        if (!_hasReply)
            return;
        _hasReply = false;
        client.DropReply();
    }

    protected override void CloseFrames() => client.Close();
    protected override void DisposeFrames() => client.Dispose();

    private protected override bool HasCallsInFlight => false;
}
