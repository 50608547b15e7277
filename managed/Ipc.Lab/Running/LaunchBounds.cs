namespace Ipc.Lab.Running;

/// <summary>How long a peer may be silent before its cell fails; beside what the cell itself takes.</summary>
internal sealed record LaunchBounds
{
    public static LaunchBounds Usual { get; } = new();

    /// <summary>To start, listen, connect, and to warm up beyond the least.</summary>
    public TimeSpan Start { get; init; } = TimeSpan.FromSeconds(20);
    /// <summary>To finish measuring beyond the stated time.</summary>
    public TimeSpan Measure { get; init; } = TimeSpan.FromSeconds(20);
    /// <summary>For each operation of a stated count.</summary>
    public TimeSpan PerCountedOperation { get; init; } = TimeSpan.FromMilliseconds(50);
    /// <summary>To answer a question and to end.</summary>
    public TimeSpan Answer { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>For everything of a measurement.</summary>
    public TimeSpan ForMeasuring(double seconds, long? count) =>
        Measure + (count is { } n ? TimeSpan.FromSeconds(Math.Min(n * PerCountedOperation.TotalSeconds, 3600)) : TimeSpan.FromSeconds(seconds));
}
