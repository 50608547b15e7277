using System.Collections.Concurrent;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>What stands for a word somebody sleeps on; docs/wire-formats.md, "Sleeping on Windows".</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class SleepingPlace
{
    /// <summary>One sleeper at a time: an auto-reset event. Many: a semaphore, each of whose counts is for one sleeper.</summary>
    public required Win32Handle WakeUps { get; init; }
    public bool Many { get; init; }
    /// <summary>Many, where all are ever woken at once: counts that, in the mapping; null if there is none.</summary>
    public uint* WakesOfAll { get; init; }
    /// <summary>Ends every sleep for as long as it is set, as if the time were over.</summary>
    public Win32Handle? Alarm { get; init; }
    /// <summary>What a sleeper waits for instead, from when on somebody else waits for <see cref="WakeUps"/> and passes them on.</summary>
    public Win32Handle? Relay { get; set; }
}

/// <summary>Windows has no futex that reaches into other processes. In its place each word that somebody may sleep on has a kernel
/// object, the same in every process; this table tells which. It is asked only when the kernel is about to be entered anyway.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class SleepingPlaces
{
    /// <summary>The most counts a semaphore may have: more sleepers than that need not be told apart.</summary>
    public const int MostWakeUps = 32;

    private static readonly ConcurrentDictionary<nint, SleepingPlace> s_places = new();

    /// <summary>From now on until <see cref="Remove"/>; the handles must live as long.</summary>
    public static void Add(uint* word, SleepingPlace place) => s_places[(nint)word] = place;

    public static void Remove(uint* word) => s_places.TryRemove((nint)word, out _);

    /// <summary>From now on a thread sleeps on <paramref name="relay"/>, and the caller waits for the event returned. Nobody may be asleep.</summary>
    public static Win32Handle BeginRelay(uint* word, Win32Handle relay)
    {
        var place = s_places[(nint)word];
        place.Relay = relay;
        return place.WakeUps;
    }

    public static bool SleepOn(uint* word, uint value, int milliseconds)
    {
        if (!s_places.TryGetValue((nint)word, out var place))
            throw new InvalidOperationException("nothing stands for this word");
        // In this order: who clears the word before waking all is seen here, and who wakes all later finds us as one of the old.
        var seen = place.WakesOfAll == null ? 0 : Volatile.Read(ref *place.WakesOfAll);
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref *word) != value)
            return true;
        var ends = stackalloc nint[2];
        ends[0] = (place.Relay ?? place.WakeUps).DangerousGetHandle(); // whoever sleeps is inside an object that owns them
        ends[1] = place.Alarm is null ? default : place.Alarm.DangerousGetHandle();
        var how = Win32.WaitForMultipleObjects(place.Alarm is null ? 1u : 2u, ends, 0, (uint)milliseconds);
        if (how == Win32.WAIT_FAILED)
            Thread.Sleep(1); // not even then may the caller's loop burn the processor
        var woken = how == Win32.WAIT_OBJECT_0;
        // Whoever is woken as one of all wakes the next; the first who began to sleep after that was announced ends the chain.
        if (woken && place.WakesOfAll != null && Volatile.Read(ref *place.WakesOfAll) != seen)
            ReleaseOne(place);
        return woken;
    }

    /// <summary>1 if somebody has probably been woken.</summary>
    public static int Wake(uint* word, bool all)
    {
        if (!s_places.TryGetValue((nint)word, out var place))
            return 0;
        if (all && place.WakesOfAll != null)
            Interlocked.Increment(ref *place.WakesOfAll);
        return ReleaseOne(place);
    }

    // Who sleeps is woken first, so counts left over are for nobody.
    private static int ReleaseOne(SleepingPlace place)
    {
        if (!place.Many)
            return Win32.SetEvent(place.WakeUps) != 0 ? 1 : 0;
        var leftOver = 0;
        return Win32.ReleaseSemaphore(place.WakeUps, 1, &leftOver) != 0 && leftOver == 0 ? 1 : 0;
    }
}
