namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed partial class StreamChannel
{
    private protected override ChannelReadiness? CreateReadiness() =>
        OperatingSystem.IsLinux() && _stream.Descriptors is var (receiving, sending) ? new DescriptorReadiness(receiving, sending)
        : OperatingSystem.IsWindows() && _stream is OverlappedStream stream ? new OverlappedReadiness(stream.MakeReadiness())
        : null;

    // For threads that block because there is nothing to wait for: what sends on Windows. The stream outlives its channel's end.
    internal override bool InterruptSending(bool on) => _stream.InterruptSending(on);

    private protected override bool GoesOnSending => _stream.GoesOnSending;

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline) =>
        GoesOnSending ? TrySendPart(kind, id, payload, ref done, deadline) : base.TrySendSome(kind, id, payload, ref done, deadline);

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return TryComplete(deadline);
    }
}
