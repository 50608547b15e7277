using System.Diagnostics;

namespace Ipc;

internal enum WaitMode { Adaptive, Spin, Block }

/// <summary>How a side waits, from the options wait= and spin= (microseconds, here ticks of the clock).</summary>
internal readonly record struct WaitPolicy(WaitMode Mode, long SpinTicks)
{
    /// <summary>Whoever is waited for can only run when this side lets go of the processor.</summary>
    public bool OneProcessor { get; init; } = SharedMemoryWait.OneProcessor;

    /// <summary>The longest sleep.</summary>
    public int SliceMilliseconds { get; init; } = SharedMemoryWait.SliceMilliseconds;

    public static WaitPolicy Of(IpcAddress address)
    {
        var mode = address.Option("wait") switch { "spin" => WaitMode.Spin, "block" => WaitMode.Block, _ => WaitMode.Adaptive };
        // An hour is as good as any longer time, and cannot overflow.
        var microseconds = Math.Min(address.OptionCount("spin"), 3_600_000_000);
        return new WaitPolicy(mode, microseconds * (Stopwatch.Frequency / 1_000_000));
    }

    /// <summary>The same, but with one processor adaptive parks at once.</summary>
    public WaitPolicy ParkOnOneProcessor() => OneProcessor && Mode == WaitMode.Adaptive ? this with { Mode = WaitMode.Block } : this;
}

/// <summary>How long an adaptive waiter spins before it parks: all of its time while that finds what it waits for; half, down to a
/// sixteenth, each time it was in vain, because then messages come too seldom for spinning to gain anything; and now and
/// then all of it again, to see whether they have become more frequent. One per waiting thread.</summary>
internal sealed class SpinBudget
{
    private const int ProbeEvery = 16;
    private const int MostMisses = 4;
    private uint _waits;
    private int _misses;

    public long NextTicks(long spinTicks) => ++_waits % ProbeEvery == 0 ? spinTicks : spinTicks >> _misses;
    public void Found() => _misses = 0;
    public void InVain() => _misses = Math.Min(_misses + 1, MostMisses);
}
