using Ipc.Lab.Results;

namespace Ipc.Lab.Comparing;

/// <summary>By how much the machine itself changed from one run to the other, told by the floors: they are no part of what is compared, so that
/// whatever their ratio differs from 1 by, beyond their own chance, is the machine's. Each cell's interval is widened by it,
/// unless the launches of both runs were made in turns.</summary>
internal static class MachineDrift
{
    /// <summary>For cells that no floor bounds.</summary>
    public const string AllFloors = "all";

    /// <summary>By floor: a standard deviation of logarithms.</summary>
    public static Dictionary<string, double> Of(IEnumerable<(CellResult? Base, CellResult? New)> cells, Comparer comparer)
    {
        var controls = new List<(string Floor, RatioEstimate Ratio)>();
        foreach (var (first, second) in cells)
        {
            if (first is not { Status: "ok", Floor: { } floor } || second is not { Status: "ok" })
                continue;
            controls.AddRange(comparer.Estimates(first, second, FloorAround, drift: 0).Select(e => (floor, e.Ratio)));
        }
        var drift = controls.GroupBy(c => c.Floor).ToDictionary(g => g.Key, g => Spread([.. g.Select(c => c.Ratio)]));
        if (controls.Count > 0)
            drift[AllFloors] = Spread([.. controls.Select(c => c.Ratio)]);
        return drift;
    }

    /// <summary>Which of the drifts is a cell's.</summary>
    public static string KeyOf(CellResult cell) => cell.Floor ?? AllFloors;

    private static double? FloorAround(LaunchFigures launch) =>
        launch is { FloorBeforeNs: { } before, FloorAfterNs: { } after } ? (before + after) / 2 : null;

    // What is left of the floors' squared distance from "no change" when their own errors are taken off.
    private static double Spread(IReadOnlyList<RatioEstimate> controls) =>
        Math.Sqrt(Math.Max(0, controls.Average(c => (Math.Log(c.Ratio) * Math.Log(c.Ratio)) - (c.StandardError * c.StandardError))));
}
