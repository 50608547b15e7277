using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>Cells that may be compared with one another: same scenario, workload, codec and count; fastest first.</summary>
internal sealed record CellGroup(string Title, IReadOnlyList<CellResult> Cells)
{
    /// <summary>Whether one process played the cells alone.</summary>
    public bool IsAlone => Cells[0].Transport == Cell.NoTransport;

    /// <summary>Groups in the order of their first cell; cells without figures last.</summary>
    public static IReadOnlyList<CellGroup> Of(IEnumerable<CellResult> cells) =>
    [
        .. cells
            .GroupBy(c => (c.Scenario, c.Workload, c.Codec, c.Count))
            .Select(g => new CellGroup(
                $"{g.Key.Scenario} {g.Key.Workload} {g.Key.Codec}{(g.Key.Count is { } n ? $", {n} operations" : "")}",
                [.. g.OrderBy(c => c.P50Ns ?? uint.MaxValue)])),
    ];
}
