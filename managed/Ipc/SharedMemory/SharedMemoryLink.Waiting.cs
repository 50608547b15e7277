using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ipc;

internal enum WaitMode { Adaptive, Spin, Block }

/// <summary>How a side waits, from the options wait= and spin= (microseconds, here ticks of the clock).</summary>
internal readonly record struct WaitPolicy(WaitMode Mode, long SpinTicks)
{
    public static WaitPolicy Of(Address address)
    {
        var mode = address.Option("wait") switch { "spin" => WaitMode.Spin, "block" => WaitMode.Block, _ => WaitMode.Adaptive };
        // An hour is as good as any longer time, and cannot overflow.
        var microseconds = Math.Min(address.OptionCount("spin"), 3_600_000_000);
        return new WaitPolicy(mode, microseconds * (Stopwatch.Frequency / 1_000_000));
    }
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

/// <summary>Waiting and waking, docs/wire-formats.md "Parking".</summary>
internal sealed unsafe partial class SharedMemoryLink
{
    // A clock read costs as much as several looks at the memory and is blind meanwhile: it comes after a bout of looks, and
    // not at all when what is waited for arrives within the first.
    private const int LooksBeforeTheClock = 100;
    private const int SliceMilliseconds = 200; // a peer killed outright is noticed between two
    private static readonly long s_yieldAfter = Stopwatch.Frequency / 10_000; // 0.1 ms
    private static readonly long s_socketLookInterval = Stopwatch.Frequency / 200; // 5 ms

    /// <summary>How often this side looks before it first reads the clock; 1 if it does not spin.</summary>
    public int LooksInABout => _policy.Mode == WaitMode.Block || _oneProcessor ? 1 : LooksBeforeTheClock;

    private readonly WaitPolicy _policy;
    private readonly bool _oneProcessor;

    /// <summary>Waits until the condition is met.</summary>
    /// <param name="condition">What is waited for.</param>
    /// <param name="parked">The word this side sleeps on.</param>
    /// <param name="owed">A word the peer may sleep on for something published just now: it is looked at once waiting takes
    /// longer than a moment, which keeps the fence out of a quick exchange.</param>
    /// <param name="budget">The caller's own.</param>
    /// <param name="deadline">When to give up.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult Wait<T>(T condition, uint* parked, uint* owed, SpinBudget budget, Deadline deadline) where T : struct, IWaitCondition =>
        condition.IsMet() ? WaitResult.Ready : WaitLonger(condition, parked, owed, budget, deadline);

    /// <summary>After publishing something the peer may sleep for on this word: wakes it if it does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WakeIfParked(uint* parked)
    {
        if (PeerSpins())
            return;
        // Between our publishing and the look: either the peer sees what we published or we see that it sleeps.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref *parked) != 0)
            Wake(parked);
    }

    /// <summary>The same for two words with one fence.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WakeIfParked(uint* first, uint* second)
    {
        if (PeerSpins())
            return;
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref *first) != 0)
            Wake(first);
        if (Volatile.Read(ref *second) != 0)
            Wake(second);
    }

    // A peer that only spins says so before its first wait, and never changes its mind.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool PeerSpins() => _peerSpins || (_peerSpins = Volatile.Read(ref *Incoming.WaitsBy) == SharedMemoryLayout.WaitsBySpinning);

    private static void Wake(uint* parked)
    {
        if (Interlocked.Exchange(ref *parked, 0) != 0)
            Libc.WakeAll(parked);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLonger<T>(T condition, uint* parked, uint* owed, SpinBudget budget, Deadline deadline) where T : struct, IWaitCondition
    {
        // With one processor between the two the peer can only answer when we let go of it.
        if (_policy.Mode == WaitMode.Spin || (_policy.Mode == WaitMode.Adaptive && !_oneProcessor))
        {
            if (Spin(condition, owed, budget, deadline) is { } result)
                return result;
        }
        else
        {
            WakeIfParked(owed);
        }
        return Park(condition, parked, deadline);
    }

    // Null: adaptive has spun its time.
    private WaitResult? Spin<T>(T condition, uint* owed, SpinBudget budget, Deadline deadline) where T : struct, IWaitCondition
    {
        var looks = _oneProcessor ? 1 : LooksBeforeTheClock;
        var nextSocketLook = s_socketLookInterval;
        var allowed = budget.NextTicks(_policy.SpinTicks);
        long start = 0;
        while (true)
        {
            for (var look = 0; look < looks; look++)
            {
                Relax();
                if (condition.IsMet())
                {
                    budget.Found();
                    return WaitResult.Ready;
                }
            }
            var now = Stopwatch.GetTimestamp();
            if (start == 0)
            {
                start = now;
                WakeIfParked(owed);
            }
            var spun = now - start;
            if (_policy.Mode == WaitMode.Adaptive && spun >= allowed)
            {
                budget.InVain();
                return null;
            }
            // Something else may need the processor, the peer first of all.
            if (_oneProcessor || spun >= s_yieldAfter)
                _ = Libc.Yield();
            var lookAtSocket = spun >= nextSocketLook;
            if (lookAtSocket)
                nextSocketLook = spun + s_socketLookInterval;
            if (ReasonToStop(lookAtSocket) is { } reason)
                return condition.IsMet() ? WaitResult.Ready : reason;
            if (deadline.HasPassed(now))
                return WaitResult.TimedOut;
        }
    }

    private WaitResult Park<T>(T condition, uint* parked, Deadline deadline) where T : struct, IWaitCondition
    {
        var sleptAWholeSlice = false; // then the peer may have died without a word: look at the socket
        while (true)
        {
            // Full fence: whoever publishes after our looks sees the 1.
            Interlocked.Exchange(ref *parked, 1);
            WaitResult? result = condition.IsMet() ? WaitResult.Ready : ReasonToStop(sleptAWholeSlice);
            // What the peer sent before its end still counts.
            if (result is not null && condition.IsMet())
                result = WaitResult.Ready;
            else if (result is null && deadline.Expired)
                result = WaitResult.TimedOut;
            if (result is { } known)
            {
                Volatile.Write(ref *parked, 0);
                return known;
            }
            sleptAWholeSlice = !Libc.SleepOn(parked, 1, deadline.SliceMilliseconds(SliceMilliseconds));
        }
    }

    private WaitResult? ReasonToStop(bool lookAtSocket)
    {
        if (_closedHere)
            return WaitResult.ClosedHere;
        return PeerHasClosed || (lookAtSocket && PeerHasDied()) ? WaitResult.PeerGone : null;
    }
}
