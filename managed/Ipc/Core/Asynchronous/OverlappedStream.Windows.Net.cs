namespace Ipc;

internal abstract unsafe partial class OverlappedStream
{
    /// <summary>How long the end of an operation that was cancelled may take.</summary>
    public const int LongestEndMilliseconds = 1000;

    private ReceiveAhead? _ahead;

    /// <summary>What asynchronous operations wait for. Once.</summary>
    public ChannelReadiness MakeReadiness() => new OverlappedReadiness(_ahead = new ReceiveAhead(this), MakeSending());

    /// <summary>Of that, what sends wait for. Once; the stream's own.</summary>
    protected abstract Readiness MakeSending();

    partial void TakeAhead(Span<byte> buffer, Deadline deadline, ref int? count) => count = _ahead?.Take(buffer, deadline);

    partial void CancelAhead() => Volatile.Read(ref _ahead)?.Cancel();

    partial void EndAhead() => _ahead?.Dispose();
}
