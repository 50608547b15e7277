using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Parking of any number of waiters, in any processes, on one word of the mapping; docs/wire-formats.md, "Parking of many".</summary>
/// <remarks>The lowest bit says that somebody may sleep; the rest counts up with every announcement, so that a bit cleared by a
/// waker can never be the bit of a waiter that announced itself meanwhile. A flag rather than a number of sleepers: a killed
/// sleeper leaves nothing to be put right.</remarks>
internal static unsafe class Parking
{
    private const uint SomebodyParked = 1;

    /// <summary>A waiter tells that it is about to sleep; it must look again at what it waits for, and may then sleep on the value
    /// returned. A full fence: whoever publishes after that look sees the bit.</summary>
    public static uint Announce(uint* word)
    {
        while (true)
        {
            var seen = Volatile.Read(ref *word);
            var announced = (seen + 2) | SomebodyParked;
            if (Interlocked.CompareExchange(ref *word, announced, seen) == seen)
                return announced;
        }
    }

    /// <summary>After publishing and a full fence: wakes one of those who sleep.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WakeOne(uint* word)
    {
        var seen = Volatile.Read(ref *word);
        if ((seen & SomebodyParked) != 0)
            Wake(word, seen, all: false);
    }

    /// <summary>The same for all who sleep.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WakeAll(uint* word)
    {
        var seen = Volatile.Read(ref *word);
        if ((seen & SomebodyParked) != 0)
            Wake(word, seen, all: true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Wake(uint* word, uint seen, bool all)
    {
        // One was asleep and is woken: others may be, so the bit stays.
        if (!all && SharedWord.WakeOne(word) == 1)
            return;
        // Cleared first, then all woken: who announced itself and does not sleep yet finds the word changed and looks again; who
        // announced itself after our look makes the exchange fail, keeps its bit, and its second look sees what we published. It
        // may then be another that sleeps in vain: so all are woken also when the exchange fails.
        Interlocked.CompareExchange(ref *word, seen & ~SomebodyParked, seen);
        SharedWord.WakeAll(word);
    }
}
