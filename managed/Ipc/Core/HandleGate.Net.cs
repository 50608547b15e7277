using System.Runtime.CompilerServices;

namespace Ipc;

internal sealed partial class HandleGate
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void FenceEntry()
    {
    }

    private static void FenceAllThreads() => Interlocked.MemoryBarrierProcessWide();
}
