namespace Ipc;

internal sealed unsafe partial class SharedMemorySegment
{
    /// <summary>What asynchronous operations wait for; null where they would wait for nothing: a side that only spins is never woken.</summary>
    /// <param name="peerMayHaveDied">Is told so.</param>
    public ChannelReadiness? CreateReadiness(IEpollTarget peerMayHaveDied) =>
        OperatingSystem.IsLinux() && _policy.Mode != WaitMode.Spin && FutexThread.IsAvailable && _peer.Socket is { } socket
            ? new SharedMemoryReadiness(Incoming.ReaderParked, Outgoing.WriterParked, socket, peerMayHaveDied)
            : null;
}
