using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed partial class StreamChannel
{
    private protected override ChannelReadiness? CreateReadiness() =>
        OperatingSystem.IsLinux() && _stream.Descriptors is var (receiving, sending) ? new DescriptorReadiness(receiving, sending)
        : OperatingSystem.IsWindows() && _stream is OverlappedStream stream ? stream.MakeReadiness()
        : null;

    private protected override bool GoesOnSending => _stream.GoesOnSending || SendAhead is not null;

    private SendAhead? SendAhead => OperatingSystem.IsWindows() && _stream is PipeStream pipe ? pipe.SendAhead : null;

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline) =>
        OperatingSystem.IsWindows() && SendAhead is { } ahead ? TrySendAhead(ahead, kind, id, payload, ref done, deadline)
        : GoesOnSending ? TrySendPart(kind, id, payload, ref done, deadline)
        : base.TrySendSome(kind, id, payload, ref done, deadline);

    [SupportedOSPlatform("windows")]
    private bool TrySendAhead(SendAhead ahead, FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        if (done == 0)
        {
            Span<byte> header = stackalloc byte[HeaderSize];
            WriteHeader(header, kind, id, payload.Length);
            ahead.Take(header, payload);
            done = 1; // it cannot be taken back
        }
        var sent = ahead.GoOn();
        if (sent == 0)
            throw SendFailed(sent, begun: true, deadline);
        return sent > 0;
    }

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return TryComplete(deadline);
    }
}
