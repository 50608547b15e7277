namespace Ipc;

internal abstract unsafe partial class OverlappedStream
{
    private ReceiveAhead? _ahead;

    /// <summary>What tells that something has come. Once.</summary>
    public ReceiveAhead MakeReadiness() => _ahead = new ReceiveAhead(this);

    partial void TakeAhead(Span<byte> buffer, Deadline deadline, ref int? count) => count = _ahead?.Take(buffer, deadline);

    partial void CancelAhead() => Volatile.Read(ref _ahead)?.Cancel();

    partial void EndAhead() => _ahead?.Dispose();
}
