using System.Globalization;
using System.Runtime.InteropServices;
using Ipc.Lab.Results;

namespace Ipc.Lab.Machine;

/// <summary>Puts the machine on record.</summary>
internal static class MachineReader
{
    /// <summary>Names the machine where its host name tells people nothing, as that of a container.</summary>
    private const string NameVariable = "IPC_MACHINE";

    public static MachineRecord Read(SystemFiles files, CpuTopology topology) => new()
    {
        Name = Environment.GetEnvironmentVariable(NameVariable) is { Length: > 0 } given ? VisibleText.Of(given) : Environment.MachineName,
        System = RuntimeInformation.OSDescription,
        Kernel = files.Read("proc/sys/kernel/osrelease") ?? Environment.OSVersion.VersionString,
        Architecture = RuntimeInformation.OSArchitecture.ToString(),
        Virtualisation = VirtualisationOf(files),
        Wine = WineVersion.Find(),
        Cpu = CpuOf(files, topology),
        MemoryBytes = files.ReadMemory("MemTotal"),
        SwapBytes = files.ReadMemory("SwapTotal"),
        SwapUsedBytes = files.ReadMemory("SwapTotal") - files.ReadMemory("SwapFree"),
        TransparentHugePages = Bracketed(files.Read("sys/kernel/mm/transparent_hugepage/enabled")),
        HugePages = files.ReadNumber("proc/sys/vm/nr_hugepages"),
        HugePageBytes = files.ReadMemory("Hugepagesize"),
        LockableMemoryBytes = LockableMemory(files),
        CpuQuota = CpuQuotaOf(files),
        LoadAverage = LoadAverageOf(files),
        StealPercent = null,
        LabRuntime = RuntimeInformation.FrameworkDescription,
        Peers = new Dictionary<string, PeerEnvironment>(),
        Binaries = [],
    };

    private static CpuRecord CpuOf(SystemFiles files, CpuTopology topology) => new(
        files.ReadField("proc/cpuinfo", "model name") ?? Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? "unknown",
        topology.Cpus.Count, topology.Allowed.Count, topology.AllowedCores(),
        files.Read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), TurboOf(files),
        files.Read("sys/devices/system/clocksource/clocksource0/current_clocksource"), topology.Cpus, topology.Caches)
    {
        WakesWithinUs = AwakeProcessors.DemandedUs(files),
    };

    private static bool? TurboOf(SystemFiles files) =>
        files.ReadNumber("sys/devices/system/cpu/intel_pstate/no_turbo") is { } off ? off == 0
        : files.ReadNumber("sys/devices/system/cpu/cpufreq/boost") is { } on ? on != 0
        : null;

    private static string VirtualisationOf(SystemFiles files)
    {
        if (files.ReadField("proc/cpuinfo", "flags")?.Split(' ').Contains("hypervisor") != true)
            return "none";
        return files.Read("sys/hypervisor/type") ?? files.Read("sys/class/dmi/id/sys_vendor") ?? "not named";
    }

    // "always [madvise] never" -> "madvise"
    private static string? Bracketed(string? choices) =>
        choices?.Split(' ').FirstOrDefault(c => c.StartsWith('['))?.Trim('[', ']') ?? choices;

    // "Max locked memory  8388608  8388608  bytes"; "unlimited" is not a number and therefore null.
    private static long? LockableMemory(SystemFiles files) =>
        files.Read("proc/self/limits")?.Split('\n').FirstOrDefault(l => l.StartsWith("Max locked memory", StringComparison.Ordinal)) is { } line
        && long.TryParse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3], CultureInfo.InvariantCulture, out var bytes) ? bytes : null;

    // Version 2: "200000 100000" or "max 100000"; version 1: two files, -1 for no limit.
    private static double? CpuQuotaOf(SystemFiles files)
    {
        if (files.Read("sys/fs/cgroup/cpu.max")?.Split(' ') is [var quota, var period])
            return long.TryParse(quota, CultureInfo.InvariantCulture, out var q) && long.TryParse(period, CultureInfo.InvariantCulture, out var p)
                ? (double)q / p : null;
        return files.ReadNumber("sys/fs/cgroup/cpu/cpu.cfs_quota_us") is { } old and > 0
               && files.ReadNumber("sys/fs/cgroup/cpu/cpu.cfs_period_us") is { } oldPeriod and > 0 ? (double)old / oldPeriod : null;
    }

    private static double? LoadAverageOf(SystemFiles files) =>
        double.TryParse(files.Read("proc/loadavg")?.Split(' ')[0], CultureInfo.InvariantCulture, out var load) ? load : null;
}
