namespace Ipc;

internal sealed unsafe partial class PipePeer
{
    public override ChannelReadiness? CreateReadiness(uint* receiving, uint* sending, IReadyTarget peerMayHaveDied) =>
        new SharedMemoryReadiness(new EventWord(receiving), new EventWord(sending), new AlarmWatch(this, peerMayHaveDied));

    /// <summary>Waits for the alarm, which is set when the peer is gone, and for good; but also when the system gave the read up, which looking at the peer
    /// begins anew.</summary>
    private sealed class AlarmWatch : IDisposable
    {
        private readonly PipePeer _peer;
        private readonly IReadyTarget _peerMayHaveDied;
        private readonly Lock _lock = new(); // guards the next two
        private EventWait _wait;
        private bool _isOver;

        public AlarmWatch(PipePeer peer, IReadyTarget peerMayHaveDied)
        {
            (_peer, _peerMayHaveDied) = (peer, peerMayHaveDied);
            _wait = Begin();
        }

        // Known weakly, as whatever leads to a channel: a forgotten one is not to be kept.
        private EventWait Begin() => new(_peer._alarm, Rang, new WeakReference<AlarmWatch>(this), once: true);

        private static void Rang(object? state)
        {
            if (!((WeakReference<AlarmWatch>)state!).TryGetTarget(out var watch))
                return;
            watch._peerMayHaveDied.Ready(0);
            lock (watch._lock)
            {
                if (watch._isOver || watch._peer._isGone)
                    return;
                watch._wait.Dispose();
                watch._wait = watch.Begin();
            }
        }

        public void Dispose()
        {
            lock (_lock)
            {
                _isOver = true;
                _wait.Dispose();
            }
        }
    }
}
