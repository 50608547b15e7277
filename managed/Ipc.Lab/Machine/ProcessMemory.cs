using System.Globalization;

namespace Ipc.Lab.Machine;

/// <summary>What a process holds of the machine's memory, in bytes, by the kernel's account (/proc/PID/smaps_rollup).</summary>
/// <param name="Proportional">Its private pages and its share of those that others map, too.</param>
/// <param name="Private">Pages that nobody else maps: what its end would free.</param>
internal sealed record ProcessMemory(double Proportional, double Private)
{
    /// <summary>Null where the kernel does not tell, or the process is gone.</summary>
    public static ProcessMemory? Of(int process)
    {
        try
        {
            return Parse(File.ReadLines($"/proc/{process}/smaps_rollup"));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>The same of the file's lines.</summary>
    public static ProcessMemory? Parse(IEnumerable<string> lines)
    {
        var bytes = lines.Select(l => l.Split(':')).Where(l => l.Length == 2 && l[1].TrimEnd().EndsWith("kB", StringComparison.Ordinal))
            .ToDictionary(l => l[0], l => 1024 * double.Parse(l[1].AsSpan().Trim()[..^2], CultureInfo.InvariantCulture));
        return bytes.TryGetValue("Pss", out var proportional) && bytes.TryGetValue("Private_Clean", out var clean)
            && bytes.TryGetValue("Private_Dirty", out var dirty)
            ? new ProcessMemory(proportional, clean + dirty) : null;
    }

    public static ProcessMemory operator +(ProcessMemory a, ProcessMemory b) => new(a.Proportional + b.Proportional, a.Private + b.Private);
}
