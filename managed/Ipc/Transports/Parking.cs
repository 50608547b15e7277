using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Parking of any number of waiters, in any processes, on one word of the mapping; docs/wire-formats.md, "Parking of many".</summary>
/// <remarks>The lowest bit says that somebody may sleep; the rest counts up with every announcement, so that a bit cleared by a
/// waker can never be the bit of a waiter that announced itself meanwhile. A flag rather than a number of sleepers: a killed
/// sleeper leaves nothing to be put right.</remarks>
[SupportedOSPlatform("linux")]
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

    /// <summary>After publishing and a full fence: wakes up to <paramref name="count"/> of those who sleep.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WakeIfAny(uint* word, int count)
    {
        var seen = Volatile.Read(ref *word);
        if ((seen & SomebodyParked) != 0)
            Wake(word, seen, count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Wake(uint* word, uint seen, int count)
    {
        // Nobody is left asleep. Who announced itself after our look has changed the word, and its bit stays.
        if (Libc.Wake(word, count) < count)
            Interlocked.CompareExchange(ref *word, seen & ~SomebodyParked, seen);
    }
}
