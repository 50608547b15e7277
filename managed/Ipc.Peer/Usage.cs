using System.Globalization;

namespace Ipc.Peer;

/// <summary>What the process has used so far; null where the system does not tell.</summary>
internal record Usage(
    long? CpuNs, long? VoluntarySwitches, long? InvoluntarySwitches, long? MinorFaults, long? MajorFaults,
    long? MemoryBytes, long? AllocatedBytes, long? Collections, long? CompiledMethods);

/// <summary>The cheap counters, read close to what is measured; memory, which takes the kernel long, is read apart.</summary>
internal readonly struct Counters
{
    private readonly ResourceUsage _resources;
    private readonly long? _allocatedBytes;
    private readonly long _collections;
    private readonly long? _compiledMethods;

    private Counters(ResourceUsage resources, in Counters of)
        : this(resources, of._allocatedBytes) =>
        (_collections, _compiledMethods) = (of._collections, of._compiledMethods);

    private Counters(ResourceUsage resources, long? allocatedBytes)
    {
        _resources = resources;
        _allocatedBytes = allocatedBytes;
        _collections = GC.CollectionCount(0);
        _compiledMethods = RuntimeFacts.CompiledMethodsTold;
    }

    /// <summary>For the thread that does the work, before it begins. Allocation is read last, so that reading does not count.</summary>
    public static Counters ReadBefore()
    {
        var resources = ResourceUsage.Read();
        return new Counters(resources, RuntimeFacts.AllocatedBytes);
    }

    /// <summary>For the thread that did the work. Allocation is read first.</summary>
    public static Counters ReadAfter()
    {
        var allocated = RuntimeFacts.AllocatedBytes;
        return new Counters(ResourceUsage.Read(), allocated);
    }

    /// <summary>For a thread that only answers questions: what it allocates itself is left out, and so much more.</summary>
    public static Counters ReadAsBystander(long bytesLeftOut) =>
        new(ResourceUsage.Read(), RuntimeFacts.AllocatedBytes - RuntimeFacts.AllocatedBytesOfThread - bytesLeftOut);

    /// <summary>The same without processor time that was spent on waiting, never less than before.</summary>
    public Counters WithoutSpinning(in Counters before, long nanoseconds) =>
        new(_resources with { CpuNs = Math.Max(before._resources.CpuNs, _resources.CpuNs - nanoseconds) }, this);

    public Usage With(long memoryBytes) => new(
        _resources.CpuNs, _resources.VoluntarySwitches, _resources.InvoluntarySwitches, _resources.MinorFaults, _resources.MajorFaults,
        memoryBytes, _allocatedBytes, _collections, _compiledMethods);
}

/// <summary>getrusage of the whole process; what the system does not tell is null.</summary>
internal readonly record struct ResourceUsage(
    long CpuNs, long? VoluntarySwitches = null, long? InvoluntarySwitches = null, long? MinorFaults = null, long? MajorFaults = null)
{
    public static unsafe ResourceUsage Read()
    {
        if (OperatingSystem.IsLinux() && Environment.Is64BitProcess)
        {
            var fields = stackalloc long[LinuxLibrary.ResourceUsageFields];
            if (LinuxLibrary.GetResourceUsage(LinuxLibrary.WholeProcess, fields) == 0)
                return FromLinux(new ReadOnlySpan<long>(fields, LinuxLibrary.ResourceUsageFields));
        }
        return new ResourceUsage(RuntimeFacts.CpuNs);
    }

    /// <summary>Processor time of the calling thread, in ticks of the clock; where the system does not tell, the time that passes.</summary>
    public static unsafe long ThreadTicks()
    {
        if (OperatingSystem.IsLinux() && Environment.Is64BitProcess)
        {
            var fields = stackalloc long[LinuxLibrary.ResourceUsageFields];
            if (LinuxLibrary.GetResourceUsage(LinuxLibrary.ThisThread, fields) == 0)
                return Clock.After(0, FromLinux(new ReadOnlySpan<long>(fields, LinuxLibrary.ResourceUsageFields)).CpuNs / 1e9);
        }
        return Clock.Now;
    }

    // struct rusage of 64-bit Linux: user and system time as seconds and microseconds, then 14 counts.
    private static ResourceUsage FromLinux(ReadOnlySpan<long> fields) => new(
        CpuNs: (fields[0] + fields[2]) * 1_000_000_000 + (fields[1] + fields[3]) * 1_000,
        VoluntarySwitches: fields[16], InvoluntarySwitches: fields[17], MinorFaults: fields[8], MajorFaults: fields[9]);
}

/// <summary>The memory of the process.</summary>
internal static class Memory
{
    private const string SharesFile = "/proc/self/smaps_rollup";

    /// <summary>Proportional set size in bytes: shared pages count by their share. The working set where the system knows no shares.</summary>
    public static long Read()
    {
        if (!File.Exists(SharesFile))
            return Environment.WorkingSet;
        var share = File.ReadLines(SharesFile).FirstOrDefault(line => line.StartsWith("Pss:", StringComparison.Ordinal));
        var kilobytes = share?.Split([' '], StringSplitOptions.RemoveEmptyEntries).ElementAtOrDefault(1);
        return long.TryParse(kilobytes, NumberStyles.None, CultureInfo.InvariantCulture, out var count) ? count * 1024 : Environment.WorkingSet;
    }
}
