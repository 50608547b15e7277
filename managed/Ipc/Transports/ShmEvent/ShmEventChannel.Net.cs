namespace Ipc;

/// <summary>The steps that asynchronous operations need beyond those of the blocking ones.</summary>
internal sealed unsafe partial class ShmEventChannel
{
    // A message is one block, which goes out whole or not at all.
    private protected override bool TrySendSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        var result = AwaitRoom(deadline);
        if (result == WaitResult.TimedOut)
            return false;
        if (result != WaitResult.Ready)
            throw CannotSend(result);
        Send(kind, id, payload);
        return true;
    }
}
