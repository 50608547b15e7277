using System.Runtime.Versioning;

namespace Ipc;

/// <summary>How this side has its memory: the options pages= (the listener's) and prefault=.</summary>
internal readonly unsafe record struct MemoryOptions(bool HugePages, bool Prefault)
{
    /// <summary>Of a transport that has both options.</summary>
    public static MemoryOptions Of(IpcAddress address) => new(address.Option("pages") == "huge", address.Option("prefault") == "yes");

    /// <param name="bytes">That were asked for.</param>
    /// <param name="error">The system's.</param>
    [SupportedOSPlatform("linux")]
    public static IpcException NoHugePages(ulong bytes, int error) => Libc.Failure(IpcStatus.NotAvailable,
        $"cannot have {bytes} bytes in huge pages: reserve some with 'sysctl vm.nr_hugepages=N', or leave pages=huge out", error);

    /// <summary>Refuses what this process cannot map, whose length would be cut to its word size.</summary>
    public static void CheckFits(ulong bytes)
    {
        if (bytes > (ulong)(IntPtr.Size == 4 ? int.MaxValue : long.MaxValue))
            throw new IpcException(IpcStatus.OutOfMemory,
                $"the peer's shared memory is more than a {IntPtr.Size * 8}-bit process can map: choose a smaller size= or max= there");
    }

    /// <summary>Has the system put memory behind every page now rather than at its first use, if asked for.</summary>
    public void Apply(byte* memory, ulong bytes)
    {
        if (!Prefault)
            return;
        if (OperatingSystem.IsLinux())
        {
            if (Libc.Advise(memory, (nuint)bytes, Libc.MADV_POPULATE_WRITE) != 0)
                throw Libc.Failure(IpcStatus.NotAvailable, $"cannot have all {bytes} bytes of shared memory put in place beforehand: leave prefault=yes out");
            return;
        }
        // Windows reads ahead from disk but makes no zero pages before their use. Adding nothing does, without changing what the peer may
        // be writing there.
        for (ulong at = 0; at < bytes; at += 4096)
            Interlocked.Add(ref *(int*)(memory + at), 0);
    }
}
