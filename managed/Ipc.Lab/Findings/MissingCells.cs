using Ipc.Lab.Planning;

namespace Ipc.Lab.Findings;

/// <summary>What to run for cells that results have not.</summary>
internal static class MissingCells
{
    /// <summary>The command that measures every cell of a claim, in one run: two cells of different runs make no ratio.</summary>
    public static string Command(Claim claim, bool underWine) => $"scripts/{(underWine ? "ipc-windows" : "ipc")} run --claim {claim.Id}";

    /// <summary>Why no run could measure them, or null.</summary>
    public static string? WhyUnknown(IReadOnlyList<ClaimCell> cells)
    {
        foreach (var cell in cells.Select(c => c.Cell))
        {
            if (Registry.Scenarios.All(s => s.Id != cell.Scenario))
                return $"the lab has no scenario '{cell.Scenario}'";
            if (!cell.IsAlone && Registry.Transports.All(t => t.Id != cell.TransportId))
                return $"the lab has no transport '{cell.TransportId}'";
            if (Choices.FindWorkload(cell.Workload) is null)
                return $"the lab has no workload '{cell.Workload}'";
        }
        return null;
    }
}
