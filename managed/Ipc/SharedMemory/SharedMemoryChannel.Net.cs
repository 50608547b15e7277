namespace Ipc;

/// <summary>What asynchronous operations wait for.</summary>
internal abstract partial class SharedMemoryChannel
{
    private protected override ChannelReadiness? CreateReadiness() => Segment.CreateReadiness(new PeerWatch(this));

    /// <summary>Told that the peer may have died; keeps the channel of nobody alive.</summary>
    private sealed class PeerWatch(SharedMemoryChannel channel) : IEpollTarget
    {
        private readonly WeakReference<SharedMemoryChannel> _channel = new(channel);

        public void Ready(uint events)
        {
            if (!_channel.TryGetTarget(out var channel) || !channel.TryEnterBeside())
                return;
            channel.Segment.LookAtPeer();
            channel.LeaveBeside();
            channel.WakeOperations();
        }
    }
}
