using System.Diagnostics;

namespace Ipc.Peer;

/// <summary>The monotonic clock in its own ticks; they become nanoseconds only outside timed regions.</summary>
internal static class Clock
{
    public static long Now => Stopwatch.GetTimestamp();

    /// <summary>The tick that lies so many seconds after another; never, when that is beyond counting.</summary>
    public static long After(long ticks, double seconds)
    {
        var distance = seconds * Stopwatch.Frequency;
        return distance < long.MaxValue - ticks ? ticks + (long)distance : long.MaxValue;
    }

    public static long ToNanoseconds(long ticks) =>
        Stopwatch.Frequency == 1_000_000_000 ? ticks : (long)(ticks * (1e9 / Stopwatch.Frequency));

    public static double ToSeconds(long ticks) => (double)ticks / Stopwatch.Frequency;
}
