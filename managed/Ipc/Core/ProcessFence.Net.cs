using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>One fence for two: see <see cref="HandleGate{TDoors}"/>.</summary>
internal static class ProcessFence
{
    /// <summary>Between an entry's store and its look: nothing, since whoever ends the handle pays for it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void OfEntry()
    {
    }

    /// <summary>Every thread of the process passes a fence.</summary>
    public static void OfAllThreads() => Interlocked.MemoryBarrierProcessWide();
}
