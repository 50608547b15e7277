using System.Globalization;

namespace Ipc.Lab.Machine;

/// <summary>One CPU of the system. Numbers are the kernel's; null where it does not tell.</summary>
/// <param name="Cpu">Number as in `--pin`.</param>
/// <param name="Core">Core within its package; two CPUs of one core share its execution units.</param>
/// <param name="SharesL3With">CPUs behind the same last-level cache, as a kernel list such as 0-3.</param>
internal sealed record CpuPlace(int Cpu, int? Core, int? Package, string? SharesL3With);

/// <summary>A cache as CPU 0 sees it.</summary>
internal sealed record CpuCache(int Level, string Type, string Size, string SharedBy);

/// <summary>Which CPUs there are, what they share, and which of them this process may use.</summary>
internal sealed record CpuTopology(IReadOnlyList<int> Allowed, IReadOnlyList<CpuPlace> Cpus, IReadOnlyList<CpuCache> Caches)
{
    public static CpuTopology Read(SystemFiles files)
    {
        var online = ParseList(files.Read("sys/devices/system/cpu/online"));
        if (online.Count == 0)
            online = [.. Enumerable.Range(0, Environment.ProcessorCount)];
        var allowed = ParseList(files.ReadField("proc/self/status", "Cpus_allowed_list")).Intersect(online).ToList();
        return new CpuTopology(allowed.Count > 0 ? allowed : online, [.. online.Select(cpu => PlaceOf(files, cpu))], CachesOf(files));
    }

    /// <summary>Whether two CPUs are hardware threads of one core.</summary>
    public bool ShareACore(int first, int second)
    {
        var a = Cpus.FirstOrDefault(c => c.Cpu == first);
        var b = Cpus.FirstOrDefault(c => c.Cpu == second);
        return a?.Core is not null && a.Core == b?.Core && a.Package == b?.Package;
    }

    /// <summary>Cores among the CPUs this process may use.</summary>
    public int AllowedCores() =>
        Cpus.Where(c => Allowed.Contains(c.Cpu)).Select(c => (c.Package, c.Core ?? -1 - c.Cpu)).Distinct().Count();

    /// <summary>A kernel list such as 0-2,5 as numbers.</summary>
    public static IReadOnlyList<int> ParseList(string? text)
    {
        var numbers = new List<int>();
        foreach (var range in (text ?? "").Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            var ends = range.Split('-');
            if (!int.TryParse(ends[0], NumberStyles.None, CultureInfo.InvariantCulture, out var first)
                || !int.TryParse(ends[^1], NumberStyles.None, CultureInfo.InvariantCulture, out var last))
                return [];
            for (var number = first; number <= last; number++)
                numbers.Add(number);
        }
        return numbers;
    }

    private static CpuPlace PlaceOf(SystemFiles files, int cpu)
    {
        var folder = $"sys/devices/system/cpu/cpu{cpu}";
        return new CpuPlace(
            cpu, (int?)files.ReadNumber($"{folder}/topology/core_id"), (int?)files.ReadNumber($"{folder}/topology/physical_package_id"),
            files.Read($"{folder}/cache/index3/shared_cpu_list"));
    }

    private static List<CpuCache> CachesOf(SystemFiles files)
    {
        const string Folder = "sys/devices/system/cpu/cpu0/cache";
        return
        [
            .. from index in files.List(Folder, "index")
               let level = files.ReadNumber($"{Folder}/{index}/level")
               where level is not null
               select new CpuCache(
                   (int)level.Value, files.Read($"{Folder}/{index}/type") ?? "", files.Read($"{Folder}/{index}/size") ?? "",
                   files.Read($"{Folder}/{index}/shared_cpu_list") ?? ""),
        ];
    }
}
