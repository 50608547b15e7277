namespace Ipc;

/// <summary>What the channels through shared memory have in common: owning their segment, and what the ends of waits mean.</summary>
internal abstract partial class SharedMemoryChannel(SharedMemorySegment segment, int limit, string address) : FramedChannel(limit)
{
    protected SharedMemorySegment Segment { get; } = segment;

    /// <summary>The address, for error messages.</summary>
    protected string Name { get; } = address;

    internal override int PeerProcess() => OperatingSystem.IsLinux() && Segment.Socket is { } socket ? LocalSocket.ProcessOf(socket) : 0;

    protected IpcException CannotSend(WaitResult result, Deadline deadline = default) => result == WaitResult.TimedOut
        ? Refuse(IpcStatus.TimedOut, $"{Name} made no room within the time-out; nothing was sent")
        : Refuse(IpcStatus.PeerClosed, $"the peer at {Name} has closed or died: reconnect", deadline);

    protected IpcException CannotReceive(WaitResult result, bool inside, Deadline deadline)
    {
        if (result == WaitResult.TimedOut)
            return Refuse(IpcStatus.TimedOut, $"nothing came from {Name} within the time-out");
        return inside
            ? Fail(IpcStatus.Truncated, $"the peer at {Name} closed or died in the middle of a message: reconnect", deadline)
            : Fail(IpcStatus.PeerClosed, $"the peer at {Name} closed the connection or died: reconnect", deadline);
    }

    protected IpcException TooLarge(ulong length) => Fail(IpcStatus.PeerTooLarge,
        $"the peer at {Name} sends a message of {length} bytes, over this side's limit of {MaxMessageLength}: raise it with max= at both ends");

    protected override void PeerGone(Deadline deadline) => Segment.ForgetDeadServer(deadline);
    protected override void CloseFrames() => Segment.Close();
    protected override void DisposeFrames() => Segment.Dispose();
}
