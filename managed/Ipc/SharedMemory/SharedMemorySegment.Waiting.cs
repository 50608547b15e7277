using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Waiting and waking, docs/wire-formats.md "Parking".</summary>
internal sealed unsafe partial class SharedMemorySegment
{
    private const int SliceMilliseconds = 200; // a peer killed outright is noticed between two

    private readonly WaitPolicy _policy;
    private SpinTimer _lastLook;
    private volatile bool _receivingInterrupted;

    /// <summary>How often this side looks before it first reads the clock; 1 if it does not spin.</summary>
    public int SpinIterations => _policy.Mode == WaitMode.Block || _policy.OneProcessor ? 1 : SharedMemoryWait.SpinIterations;

    /// <summary>How long an asynchronous operation spins, in ticks of the clock; 0 where this side is to sleep, or has one processor.</summary>
    public long SpinTicks => _policy.Mode == WaitMode.Spin && !_policy.OneProcessor ? _policy.SpinTicks : 0;

    /// <summary>Waits until the condition is met.</summary>
    /// <param name="condition">What is waited for.</param>
    /// <param name="parked">The word this side sleeps on.</param>
    /// <param name="budget">The caller's own.</param>
    /// <param name="deadline">When to give up.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult Wait<T>(T condition, uint* parked, SpinBudget budget, Deadline deadline) where T : struct, IWaitCondition =>
        condition.IsMet() ? WaitResult.Ready : WaitLonger(condition, parked, budget, deadline);

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

    /// <summary>Until it is turned off again, whoever waits for what the peer sends gives up at once, as at the end of a time-out. Any thread.</summary>
    public void InterruptReceiving(bool on)
    {
        _receivingInterrupted = on;
        Interlocked.MemoryBarrier();
        if (on)
            Wake(Incoming.ReaderParked);
    }

    /// <summary>Whether neither side is known to have ended, and the look whether the peer lives is not due yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool NeedsNoLook() => !_closedHere && !PeerHasClosed && !_lastLook.HasPassed();

    // A peer that only spins says so before its first wait, and never changes its mind.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool PeerSpins() => _peerSpins || (_peerSpins = Volatile.Read(ref *Incoming.WaitsBy) == SharedMemoryLayout.WaitsBySpinning);

    private static void Wake(uint* parked)
    {
        if (Interlocked.Exchange(ref *parked, 0) != 0)
            SharedWord.WakeAll(parked);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLonger<T>(T condition, uint* parked, SpinBudget budget, Deadline deadline) where T : struct, IWaitCondition =>
        SharedMemoryWait.Until(new Waiting<T>(this, condition, parked), _policy, budget, deadline);

    private readonly struct Waiting<T>(SharedMemorySegment segment, T condition, uint* parked) : IWaiting where T : struct, IWaitCondition
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => condition.IsMet();

        public WaitResult? ReasonToStop(bool look) => segment.ReasonToStop(look) ?? (IsInterrupted ? WaitResult.TimedOut : null);

        public bool LookIsDue() => segment._lastLook.IsDue();

        private bool IsInterrupted => segment._receivingInterrupted && parked == segment.Incoming.ReaderParked;

        public bool Sleep(int milliseconds)
        {
            // Whoever publishes, interrupts or closes after our looks sees the 1 and wakes us; what came before, the looks see.
            Interlocked.Exchange(ref *parked, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
            var sleptItAll = !condition.IsMet() && ReasonToStop(false) is null && !SharedWord.SleepOn(parked, 1, milliseconds);
            Volatile.Write(ref *parked, 0);
            return sleptItAll;
        }
    }

    private WaitResult? ReasonToStop(bool lookAtSocket)
    {
        if (_closedHere)
            return WaitResult.ClosedHere;
        if (!PeerHasClosed && !(lookAtSocket && PeerHasDied()))
            return null;
        // Hanging up here looks like the peer's end to a look that comes after it.
        return _closedHere ? WaitResult.ClosedHere : WaitResult.PeerGone;
    }
}
