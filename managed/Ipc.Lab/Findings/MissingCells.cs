using Ipc.Lab.Planning;

namespace Ipc.Lab.Findings;

/// <summary>What to run for cells that results have not.</summary>
internal static class MissingCells
{
    /// <summary>A command that measures all of them, and perhaps some more.</summary>
    public static string Command(IReadOnlyList<ClaimCell> cells, bool underWine)
    {
        string Values(Func<ClaimCell, string> axis) => string.Join(',', cells.Select(axis).Distinct());
        var transports = Values(c => c.Cell.IsAlone ? "" : c.Cell.Transport).Trim(',');
        return $"scripts/{(underWine ? "ipc-windows" : "ipc")} run{(transports.Length > 0 ? $" --transport {transports}" : "")}"
            + $" --pair {Values(c => c.Cell.Pair)} "
            + $"--codec {Values(c => c.Cell.Codec)} --scenario {Values(c => c.Cell.Scenario)} --workload {Values(c => c.Cell.Workload)}";
    }

    /// <summary>Why no run could measure them, or null.</summary>
    public static string? WhyUnknown(IReadOnlyList<ClaimCell> cells)
    {
        foreach (var cell in cells.Select(c => c.Cell))
        {
            if (Registry.Scenarios.All(s => s.Id != cell.Scenario))
                return $"the lab has no scenario '{cell.Scenario}'";
            if (!cell.IsAlone && Registry.Transports.All(t => t.Id != cell.TransportId))
                return $"the lab has no transport '{cell.TransportId}'";
            if (Registry.Workloads.All(w => w.Id != cell.Workload))
                return $"the lab has no workload '{cell.Workload}'";
        }
        return null;
    }
}
