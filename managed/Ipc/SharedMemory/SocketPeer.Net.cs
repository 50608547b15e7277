namespace Ipc;

internal sealed unsafe partial class SocketPeer
{
    public override ChannelReadiness? CreateReadiness(uint* receiving, uint* sending, IReadyTarget peerMayHaveDied) =>
        FutexThread.IsAvailable ? new SharedMemoryReadiness(new FutexWord(receiving), new FutexWord(sending), new Watch(socket, peerMayHaveDied)) : null;

    /// <summary>The socket hangs up when the peer dies.</summary>
    private sealed class Watch(Descriptor socket, IReadyTarget peerMayHaveDied) : IDisposable
    {
        private readonly long _id = EpollThread.Add(socket, Libc.EPOLLRDHUP, peerMayHaveDied);

        public void Dispose() => EpollThread.Remove(_id, socket);
    }
}
