using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>These runtimes cannot ask for a fence in all threads; their systems can: FlushProcessWriteBuffers, membarrier. Where the system
/// cannot either, each entry pays for a fence of its own.</summary>
internal static partial class ProcessFence
{
    private const int RegisterPrivateExpedited = 16, PrivateExpedited = 8;

    private static readonly nint s_membarrier = RuntimeInformation.ProcessArchitecture == Architecture.Arm64 ? 283 : 324;
    private static readonly bool s_systemFences =
        OperatingSystem.IsWindows() || (OperatingSystem.IsLinux() && Membarrier(s_membarrier, RegisterPrivateExpedited, 0) == 0);

    [LibraryImport("kernel32")]
    private static partial void FlushProcessWriteBuffers();
    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint Membarrier(nint number, nint command, nint flags);

    /// <summary>Between an entry's store and its look.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void OfEntry()
    {
        if (!s_systemFences)
            Interlocked.MemoryBarrier();
    }

    /// <summary>Every thread of the process passes a fence.</summary>
    public static void OfAllThreads()
    {
        Interlocked.MemoryBarrier();
        if (!s_systemFences)
            return;
        if (OperatingSystem.IsWindows())
            FlushProcessWriteBuffers();
        else
            _ = Membarrier(s_membarrier, PrivateExpedited, 0);
    }
}
