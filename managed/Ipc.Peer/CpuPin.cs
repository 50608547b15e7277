using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>Keeps the whole process on one CPU.</summary>
internal static class CpuPin
{
    // As many CPUs as the kernel's own mask type of the C library holds.
    private const int MostCpus = 1024;

    public static void PinTo(int cpu)
    {
        if (cpu is < 0 or >= MostCpus)
            throw NotPossible(cpu, $"it must be 0 to {MostCpus - 1}");
        if (OperatingSystem.IsLinux())
            PinLinuxThreads(cpu);
        else if (OperatingSystem.IsWindows() && cpu < 8 * IntPtr.Size)
            PinWindowsProcess(cpu);
        else
            throw NotPossible(cpu, "this system cannot pin to it");
    }

    /// <summary>On Linux each thread has CPUs of its own, and the runtime has already started some threads; threads to
    /// come inherit from the one that starts them. So all are pinned, until a look round finds none new.</summary>
    private static void PinLinuxThreads(int cpu)
    {
        Span<byte> mask = stackalloc byte[MostCpus / 8];
        mask[cpu / 8] = (byte)(1 << (cpu % 8));
        var pinned = new HashSet<int>();
        for (var foundNew = true; foundNew;)
        {
            foundNew = false;
            foreach (var folder in Directory.EnumerateDirectories("/proc/self/task"))
            {
                var thread = int.Parse(Path.GetFileName(folder), NumberStyles.None, CultureInfo.InvariantCulture);
                if (pinned.Add(thread))
                {
                    foundNew = true;
                    PinLinuxThread(thread, cpu, mask);
                }
            }
        }
    }

    private static unsafe void PinLinuxThread(int thread, int cpu, ReadOnlySpan<byte> mask)
    {
        const int noSuchThread = 3; // ESRCH: it ended meanwhile
        fixed (byte* bits = mask)
        {
            if (LinuxLibrary.SetThreadAffinity(thread, (nuint)mask.Length, bits) == 0 || Marshal.GetLastPInvokeError() == noSuchThread)
                return;
        }
        throw NotPossible(cpu, Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));
    }

    private static void PinWindowsProcess(int cpu)
    {
        if (!OperatingSystem.IsWindows())
            return;
        using var process = Process.GetCurrentProcess();
        process.ProcessorAffinity = (nint)1 << cpu;
    }

    private static Failure NotPossible(int cpu, string why) =>
        Failure.BadCell($"the process cannot be pinned to CPU {cpu}: {why}; name a CPU of this machine or none");
}
