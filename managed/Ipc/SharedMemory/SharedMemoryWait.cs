using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>What is waited for, and how to sleep meanwhile. A struct each, so that the wait is compiled for it.</summary>
internal interface IWaiting : IWaitCondition
{
    /// <summary>Why the wait must end, or null. <paramref name="look"/>: a look at a socket is due, a system call.</summary>
    WaitResult? ReasonToStop(bool look);

    /// <summary>Announces that this side sleeps, makes sure that the condition is still not met, and sleeps at most so long; true
    /// after the whole time.</summary>
    bool Sleep(int milliseconds);
}

/// <summary>Spinning and parking for those who share memory by other means than a <see cref="SharedMemoryLink"/>.</summary>
[SupportedOSPlatform("linux")]
internal static class SharedMemoryWait
{
    /// <summary>A clock read costs as much as several looks at the memory and is blind meanwhile: it comes after a bout of looks.</summary>
    public const int LooksInABout = 100;

    /// <summary>The longest sleep: a party killed before it could wake us is noticed between two slices.</summary>
    public const int SliceMilliseconds = 50;

    private static readonly long s_lookInterval = Stopwatch.Frequency / 200; // 5 ms

    /// <summary>In ticks of the clock, 0.1 ms. From then on a spinner lets others run between two bouts: whoever is waited for may
    /// need this very processor.</summary>
    public static long YieldAfter { get; } = Stopwatch.Frequency / 10_000;

    /// <summary>This process has one processor: spinning would keep whoever is waited for from running.</summary>
    public static bool OneProcessor { get; } = Environment.ProcessorCount == 1;

    /// <summary>Waits as the policy says. What is met before an end is seen still counts.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static WaitResult Until<T>(T waiting, WaitPolicy policy, Deadline deadline) where T : struct, IWaiting
    {
        if (waiting.IsMet())
            return WaitResult.Ready;
        if (policy.Mode != WaitMode.Block && Spin(waiting, policy, deadline) is { } result)
            return result;
        var sleptAWholeSlice = false;
        while (true)
        {
            var reason = waiting.ReasonToStop(sleptAWholeSlice) ?? (deadline.Expired ? WaitResult.TimedOut : null);
            if (reason is { } known)
                return waiting.IsMet() ? WaitResult.Ready : known;
            sleptAWholeSlice = waiting.Sleep(deadline.SliceMilliseconds(SliceMilliseconds));
            if (waiting.IsMet())
                return WaitResult.Ready;
        }
    }

    // Null: adaptive has spun its time.
    private static WaitResult? Spin<T>(T waiting, WaitPolicy policy, Deadline deadline) where T : struct, IWaiting
    {
        var start = Stopwatch.GetTimestamp();
        var nextLook = s_lookInterval;
        while (true)
        {
            for (var look = 0; look < LooksInABout; look++)
            {
                SharedMemoryLink.Relax();
                if (waiting.IsMet())
                    return WaitResult.Ready;
            }
            var now = Stopwatch.GetTimestamp();
            var spun = now - start;
            if (policy.Mode == WaitMode.Adaptive && spun >= policy.SpinTicks)
                return null;
            if (OneProcessor || spun >= YieldAfter)
                _ = Libc.Yield();
            var lookAtSocket = spun >= nextLook;
            if (lookAtSocket)
                nextLook = spun + s_lookInterval;
            var reason = waiting.ReasonToStop(lookAtSocket) ?? (deadline.HasPassed(now) ? WaitResult.TimedOut : null);
            if (reason is { } known)
                return waiting.IsMet() ? WaitResult.Ready : known;
        }
    }
}
