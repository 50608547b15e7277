namespace Ipc;

/// <summary>The operation that waits for something, or none: all that a thread which tells of it need know, so that a channel lives while somebody waits on
/// it, and a forgotten one does not.</summary>
internal sealed class WaitingOperation
{
    /// <summary>Wakes the operation that waits, if one does, and forgets it. The state is the <see cref="WaitingOperation"/>.</summary>
    public static readonly Action<object?> Wake = static waiting => ((WaitingOperation)waiting!).Take()?.Wake();

    private ChannelOperation? _operation;

    public void Set(ChannelOperation operation) => Interlocked.Exchange(ref _operation, operation);

    /// <summary>Nobody waits any more; null if nobody did.</summary>
    public ChannelOperation? Take() => Interlocked.Exchange(ref _operation, null);
}
