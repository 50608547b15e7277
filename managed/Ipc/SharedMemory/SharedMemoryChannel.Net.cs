namespace Ipc;

/// <summary>What asynchronous operations wait for.</summary>
internal abstract partial class SharedMemoryChannel
{
    private protected override ChannelReadiness? CreateReadiness() => Segment.CreateReadiness(new PeerWatch(this));

    internal sealed override long SpinTicks => Segment.SpinTicks;

    // For threads that block because there is nothing to wait for: with wait=spin, and on older kernels.
    internal override bool InterruptReceiving(bool on)
    {
        // Of a channel that is gone nobody waits any more.
        if (!TryEnterBeside())
            return true;
        Segment.InterruptReceiving(on);
        LeaveBeside();
        return true;
    }

    /// <summary>Told that the peer may have died; keeps the channel of nobody alive.</summary>
    private sealed class PeerWatch(SharedMemoryChannel channel) : IReadyTarget
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
