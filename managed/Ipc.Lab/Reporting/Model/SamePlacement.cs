using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Ratios of two cells of one run. Both figures are of the same placement: processors near each other call in a third of the time of those far
/// apart.</summary>
internal static class SamePlacement
{
    /// <summary>The figures of the first placement that both have such a figure of, or null.</summary>
    public static (PlacementFigures A, PlacementFigures B)? Of(CellResult? a, CellResult? b, Func<PlacementFigures, double?> figure) =>
        (from one in a?.Placements ?? []
         from other in b?.Placements ?? []
         where one.Placement == other.Placement && figure(one) > 0 && figure(other) > 0
         select ((PlacementFigures, PlacementFigures)?)(one, other)).FirstOrDefault();

    /// <summary>A ratio, the range that the intervals of both leave open, and the placement where there are several, in words.</summary>
    public static string Text(double? ratio, double[]? range, string? placement)
    {
        if (ratio is null)
            return Units.Unknown;
        var between = range is [var low, var high] ? $" ({Units.Ratio(low)} .. {Units.Ratio(high)})" : "";
        return $"{Units.Ratio(ratio)} x{between}{(placement is "single" or null ? "" : $", {placement}")}";
    }
}
