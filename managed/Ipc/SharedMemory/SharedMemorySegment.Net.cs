namespace Ipc;

internal sealed unsafe partial class SharedMemorySegment
{
    /// <summary>What asynchronous operations wait for; null where they would wait for nothing: a side that only spins is never woken.</summary>
    /// <param name="peerMayHaveDied">Is told so.</param>
    public ChannelReadiness? CreateReadiness(IReadyTarget peerMayHaveDied) =>
        _policy.Mode == WaitMode.Spin ? null : _peer.CreateReadiness(Incoming.ReaderParked, Outgoing.WriterParked, peerMayHaveDied);
}
