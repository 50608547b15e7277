using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Comparing;

/// <summary>A cell's settled launches in one placement, of the one run and of the other.</summary>
internal sealed record PlacedLaunches(string? Placement, IReadOnlyList<LaunchFigures> First, IReadOnlyList<LaunchFigures> Second);

/// <summary>A ratio and the placements whose launches it was made of: one, or several that have too few each.</summary>
internal sealed record PlacedRatio(IReadOnlyList<PlacedLaunches> Placements, RatioEstimate Ratio)
{
    /// <summary>near, or near and far; null where placements were not told apart.</summary>
    public string? Name => Placements.Select(p => p.Placement).OfType<string>().ToList() is { Count: > 0 } names ? string.Join(" and ", names) : null;

    /// <summary>The median p50 of one run; null over several placements, because no figure mixes them.</summary>
    public double? Figure(Func<PlacedLaunches, IReadOnlyList<LaunchFigures>> run) =>
        Placements is [var one] ? Medians.Of(run(one).Select(l => l.P50Ns!.Value)) : null;
}
