using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>A lock in shared memory that a dead holder does not keep: the word names its holder, and a waiter that finds the holder
/// dead takes the lock over. What the lock guards must be sound at every instant, for nothing is told of where the holder died.</summary>
internal sealed unsafe class OwnerLock(uint* word, QueueFile file)
{
    private const uint SomebodySleeps = 1;
    private const int LeastPatienceMilliseconds = 10;
    // A holder that is gone shows in the first slice; one that merely copies a large message is not asked about.
    private const int FirstSliceMilliseconds = 1;
    private const int SliceMilliseconds = 10;

    private readonly uint* _word = word;
    private readonly uint _mine = file.Participant << 1;

    /// <summary>Takes the lock if it is free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryTake() => Interlocked.CompareExchange(ref *_word, _mine, 0) == 0;

    /// <summary>Gives it back. A full fence as well: what is loaded afterwards is loaded after everything stored before is visible.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void GiveBack()
    {
        if ((Interlocked.Exchange(ref *_word, 0) & SomebodySleeps) != 0)
            _ = SharedWord.WakeOne(_word);
    }

    /// <summary>Takes the lock, waiting for it. <see cref="WaitResult.TimedOut"/>: somebody alive (stopped, or starved of
    /// processor) kept it for the whole time-out and not less than 10 ms: "0 does not wait" is about messages and room, not
    /// about a neighbour's few nanoseconds.</summary>
    public WaitResult Take(Deadline deadline, ref readonly bool closed)
    {
        if (TryTake() || Spin())
            return WaitResult.Ready;
        var least = new Deadline(LeastPatienceMilliseconds);
        uint suspect = 0; // who held it during a whole slice
        var slice = FirstSliceMilliseconds;
        while (true)
        {
            var seen = Volatile.Read(ref *_word);
            var holder = seen >> 1;
            // A holder that is dead cannot change the word any more, and its number is given to nobody while the word names
            // it: if the exchange succeeds, it was taken from the dead one. What the dead one did is seen, because the
            // kernel let go of its byte after its last instruction and told us after that.
            if (holder == 0 || (holder == suspect && !file.IsAlive(holder)))
            {
                // Others may sleep; we cannot know, so we say they do.
                if (Interlocked.CompareExchange(ref *_word, _mine | SomebodySleeps, seen) == seen)
                    return WaitResult.Ready;
                continue;
            }
            if (Volatile.Read(in closed))
                return WaitResult.ClosedHere;
            if (deadline.Expired && least.Expired)
                return WaitResult.TimedOut;
            var sleeping = seen | SomebodySleeps;
            if (seen != sleeping && Interlocked.CompareExchange(ref *_word, sleeping, seen) != seen)
                continue;
            var left = Math.Max(deadline.SliceMilliseconds(slice), least.SliceMilliseconds(slice));
            suspect = SharedWord.SleepOn(_word, sleeping, left) ? 0 : holder;
            slice = SliceMilliseconds;
        }
    }

    private bool Spin()
    {
        if (SharedMemoryWait.OneProcessor)
            return false;
        // Longer than a short message takes to be copied, shorter than putting a thread to sleep.
        for (var iteration = 0; iteration < SharedMemoryWait.SpinIterations; iteration++)
        {
            SharedMemoryWait.Relax();
            if (Volatile.Read(ref *_word) == 0 && TryTake())
                return true;
        }
        return false;
    }
}
