using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>The two calls of the C library that .NET does not offer.</summary>
internal static unsafe partial class LinuxLibrary
{
    public const int WholeProcess = 0;
    public const int ThisThread = 1;

    /// <summary>glibc has 18 fields of 8 bytes, musl keeps 16 more in reserve.</summary>
    public const int ResourceUsageFields = 18 + 16;

    [LibraryImport("libc", EntryPoint = "getrusage")]
    public static partial int GetResourceUsage(int who, long* usage);

    /// <summary>One thread's CPUs, one bit each.</summary>
    [LibraryImport("libc", EntryPoint = "sched_setaffinity", SetLastError = true)]
    public static partial int SetThreadAffinity(int thread, nuint maskBytes, byte* mask);
}
