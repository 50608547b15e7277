namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed partial class StreamChannel
{
    private protected override ChannelReadiness? CreateReadiness() =>
        OperatingSystem.IsLinux() && _stream.Descriptors is var (receiving, sending) ? new DescriptorReadiness(receiving, sending) : null;

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline) =>
        TrySendPart(kind, id, payload, ref done, deadline);

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return TryComplete(deadline);
    }
}
