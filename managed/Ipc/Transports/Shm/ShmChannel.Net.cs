namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed unsafe partial class ShmChannel
{
    private protected override ChannelReadiness? CreateReadiness() => Segment.CreateReadiness(new PeerWatch(this));

    /// <summary>Told that the peer may have died; keeps the channel of nobody alive.</summary>
    private sealed class PeerWatch(ShmChannel channel) : IEpollTarget
    {
        private readonly WeakReference<ShmChannel> _channel = new(channel);

        public void Ready(uint events)
        {
            if (!_channel.TryGetTarget(out var channel) || !channel.TryEnterBeside())
                return;
            channel.Segment.LookAtPeer();
            channel.LeaveBeside();
            channel.WakeOperations();
        }
    }

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        if (payload.Length > _wholeRecord)
            return TrySendInRecords(kind, id, payload, ref done, deadline);
        var inSlots = payload.Length <= _writer.LongestInSlots;
        var result = inSlots ? _writer.WaitForSlots(payload.Length, deadline) : _writer.WaitForData(payload.Length, deadline);
        if (result == WaitResult.TimedOut && !_writer.IsDamaged)
            return false;
        CheckRoom(result);
        if (inSlots)
        {
            SendInSlots(kind, id, payload);
            return true;
        }
        payload.CopyTo(new Span<byte>(_writer.DataRoom(payload.Length), payload.Length));
        _writer.PublishInData((uint)kind, id, payload.Length);
        return true;
    }

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return !_inSeveral || TryGather(deadline);
    }

    private protected override void BreakOff() => Segment.Close();
}
