namespace Ipc;

/// <summary>What the channels through shared memory have in common: owning their link, and what the ends of waits mean.</summary>
internal abstract class SharedMemoryChannel(SharedMemoryLink link, int limit, string address) : FramedChannel(limit)
{
    protected SharedMemoryLink Link { get; } = link;

    /// <summary>The address, for sentences.</summary>
    protected string Name { get; } = address;

    protected IpcException CannotSend(WaitResult result, Deadline deadline = default) => result == WaitResult.TimedOut
        ? Refuse(Status.TimedOut, $"{Name} made no room within the time-out; nothing was sent")
        : Refuse(Status.PeerClosed, $"the peer at {Name} has closed or died: reconnect", deadline);

    protected IpcException CannotReceive(WaitResult result, bool inside, Deadline deadline)
    {
        if (result == WaitResult.TimedOut)
            return Refuse(Status.TimedOut, $"nothing came from {Name} within the time-out");
        return inside
            ? Fail(Status.Truncated, $"the peer at {Name} closed or died in the middle of a message: reconnect", deadline)
            : Fail(Status.PeerClosed, $"the peer at {Name} closed the connection or died: reconnect", deadline);
    }

    protected IpcException TooLarge(ulong length) => Fail(Status.PeerTooLarge,
        $"the peer at {Name} sends a message of {length} bytes, over this side's limit of {Limit}: raise it with max= at both ends");

    protected override void PeerGone(int patienceMilliseconds) => Link.ForgetDeadServer(patienceMilliseconds);
    protected override void CloseFrames() => Link.Close();
    protected override void DisposeFrames() => Link.Dispose();
}
