using Ipc.Lab.Planning;

namespace Ipc.Lab.Findings;

/// <summary>The view of a report's page that shows one cell: what stands after # in its address.</summary>
internal static class PageView
{
    public static string Of(Cell cell)
    {
        var axes = new List<(string Key, string Value)> { ("in-pair", cell.Pair), ("in-codec", cell.Codec), ("in-scenario", cell.Scenario),
            ("in-workload", cell.Workload) };
        // What one process does alone is shown whatever transports are chosen.
        if (!cell.IsAlone)
            axes.Insert(0, ("transport", cell.Transport));
        return string.Join('&', axes.Select(a => $"{a.Key}={Uri.EscapeDataString(a.Value).Replace("%3A", ":", StringComparison.Ordinal)}"));
    }
}
