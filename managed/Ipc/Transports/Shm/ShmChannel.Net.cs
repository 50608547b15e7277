namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed unsafe partial class ShmChannel
{
    internal override bool AnswersSoon => true;

    // Also where there is nothing to wait for.
    private protected override bool GoesOnSending => true;

    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline) =>
        TrySendPart(kind, id, payload, ref done, deadline);

    private protected override bool AwaitWhole(Deadline deadline)
    {
        if (!AwaitFrame(deadline))
            return false;
        NextFrame(deadline);
        return !_inSeveral || TryGather(deadline);
    }
}
