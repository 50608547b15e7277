using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ipc;

internal enum WaitResult
{
    Ready,
    TimedOut,
    /// <summary>The peer is gone, and the condition was looked at again after that was seen.</summary>
    PeerGone,
    ClosedHere,
}

/// <summary>What is waited for. A struct each, so that the wait is compiled for it and the look is inlined.</summary>
internal interface IWaitCondition
{
    bool IsMet();
}

/// <summary>What is waited for, and how to sleep meanwhile. A struct each, as above.</summary>
internal interface IWaiting : IWaitCondition
{
    /// <summary>Why the wait must end, or null. <paramref name="look"/>: a look at a socket is due, a system call.</summary>
    WaitResult? ReasonToStop(bool look);

    /// <summary>Whether that look is due although nobody has waited for long: a caller with a short time-out, or none, may come again and
    /// again, and has to learn of a peer that was killed. Reads a coarse clock.</summary>
    bool LookIsDue();

    /// <summary>Announces that this side sleeps, makes sure that the condition is still not met and that there is still no reason to
    /// stop, since whoever came before the announcement woke nobody, and sleeps at most so long; true after the whole time.</summary>
    bool Sleep(int milliseconds);
}

/// <summary>The one waiting loop of everything that shares memory.</summary>
internal static partial class SharedMemoryWait
{
    /// <summary>A clock read costs as much as several spin iterations and is blind meanwhile: it comes after a run of spin iterations, and
    /// not at all when what is waited for arrives within the first.</summary>
    public const int SpinIterations = 100;

    /// <summary>The longest sleep: a process killed before it could wake us is noticed between two slices.</summary>
    public const int SliceMilliseconds = 50;

    private static readonly long s_lookInterval = Stopwatch.Frequency / 200; // 5 ms

    /// <summary>In ticks of the clock, 0.1 ms. From then on a spinner lets others run between two such runs: whoever is waited for may
    /// need this very processor.</summary>
    public static long YieldAfter { get; } = Stopwatch.Frequency / 10_000;

    /// <summary>This process may use one processor only, as it was at its start: spinning would keep whoever is waited for from running,
    /// unless it has another.</summary>
    public static bool OneProcessor { get; } = Environment.ProcessorCount == 1;

    /// <summary>Waits as the policy says. What is met before an end is seen still counts.</summary>
    /// <param name="waiting">What is waited for.</param>
    /// <param name="policy">How.</param>
    /// <param name="budget">The caller's own; without one adaptive spins all of its time.</param>
    /// <param name="deadline">When to give up.</param>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static WaitResult Until<T>(T waiting, in WaitPolicy policy, SpinBudget? budget, Deadline deadline) where T : struct, IWaiting
    {
        if (waiting.IsMet())
            return WaitResult.Ready;
        if (deadline.IsNow)
            return GiveUp(waiting);
        if (policy.Mode != WaitMode.Block && Spin(waiting, policy, budget, deadline) is { } result)
            return result;
        var sleptAWholeSlice = false; // then the peer may have died without a word
        while (true)
        {
            if (waiting.ReasonToStop(sleptAWholeSlice) is { } known)
                return waiting.IsMet() ? WaitResult.Ready : known;
            if (deadline.Expired)
                return GiveUp(waiting);
            sleptAWholeSlice = waiting.Sleep(deadline.SliceMilliseconds(policy.SliceMilliseconds));
            if (waiting.IsMet())
                return WaitResult.Ready;
        }
    }

    // Null: adaptive has spun its time.
    private static WaitResult? Spin<T>(T waiting, in WaitPolicy policy, SpinBudget? budget, Deadline deadline) where T : struct, IWaiting
    {
        var iterations = policy.OneProcessor ? 1 : SpinIterations;
        var allowed = budget?.NextTicks(policy.SpinTicks) ?? policy.SpinTicks;
        var nextLook = s_lookInterval;
        long start = 0;
        while (true)
        {
            for (var iteration = 0; iteration < iterations; iteration++)
            {
                Relax();
                if (waiting.IsMet())
                {
                    budget?.Found();
                    return WaitResult.Ready;
                }
            }
            var now = Stopwatch.GetTimestamp();
            if (start == 0)
                start = now;
            var spun = now - start;
            if (policy.Mode == WaitMode.Adaptive && spun >= allowed)
            {
                budget?.InVain();
                return null;
            }
            if (policy.OneProcessor || spun >= YieldAfter)
                SharedWord.YieldProcessor();
            var lookAtSocket = spun >= nextLook;
            if (lookAtSocket)
                nextLook = spun + s_lookInterval;
            if (waiting.ReasonToStop(lookAtSocket) is { } known)
                return waiting.IsMet() ? WaitResult.Ready : known;
            if (deadline.HasPassed(now))
                return GiveUp(waiting);
        }
    }

    // The time is over.
    private static WaitResult GiveUp<T>(T waiting) where T : struct, IWaiting
    {
        var reason = waiting.ReasonToStop(waiting.LookIsDue()) ?? WaitResult.TimedOut;
        return waiting.IsMet() ? WaitResult.Ready : reason;
    }
}
