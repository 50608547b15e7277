using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>What launches cost beside time: medians over launches of the launch's own figure.</summary>
internal static class CostFigures
{
    public static PlacementFigures With(PlacementFigures figures, IReadOnlyList<LaunchRecord> launches)
    {
        var allocated = PerOperation(launches, u => u.AllocatedBytes);
        return figures with
        {
            CpuNsPerOp = PerOperation(launches, u => u.CpuNs),
            VoluntarySwitchesPerOp = PerOperation(launches, u => u.VoluntarySwitches),
            InvoluntarySwitchesPerOp = PerOperation(launches, u => u.InvoluntarySwitches),
            MinorFaultsPerOp = PerOperation(launches, u => u.MinorFaults),
            MajorFaultsPerOp = PerOperation(launches, u => u.MajorFaults),
            MemoryBytes = Median(launches, MemoryOf),
            AllocatedBytesPerOp = BothSides(allocated),
            AllocatedBytesPerOpBySide = allocated,
            Collections = new BySide(
                Total(launches.Select(l => Used(l.Server, u => u.Collections))), Total(launches.Select(l => Used(l.Client, u => u.Collections)))),
        };
    }

    /// <summary>A launch's figure per operation. The server's two looks enclose a few exchanges more than the client measures; each side is divided by
    /// its own number.</summary>
    public static BySide PerOperation(LaunchRecord launch, Func<Usage, long?> figure) => new(
        Used(launch.Server, figure) / launch.ServerOperations, Used(launch.Client, figure) / launch.Operations);

    /// <summary>A launch's memory right after it was measured.</summary>
    public static BySide MemoryOf(LaunchRecord launch) => new(launch.Server?.After?.MemoryBytes, launch.Client?.After?.MemoryBytes);

    /// <summary>What both processes have together; null if neither has it.</summary>
    public static double? BothSides(BySide figure) => figure.Server is null && figure.Client is null ? null : (figure.Server ?? 0) + (figure.Client ?? 0);

    private static BySide PerOperation(IReadOnlyList<LaunchRecord> launches, Func<Usage, long?> figure) =>
        Median(launches, l => PerOperation(l, figure));

    private static BySide Median(IReadOnlyList<LaunchRecord> launches, Func<LaunchRecord, BySide> figure)
    {
        var all = launches.Select(figure).ToList();
        return new BySide(Medians.OfAll(all.Select(f => f.Server)), Medians.OfAll(all.Select(f => f.Client)));
    }

    private static double? Used(UsageSpan? span, Func<Usage, long?> figure) =>
        span is { Before: { } before, After: { } after } ? figure(after) - figure(before) : null;

    // A launch without the figure makes the total unknown rather than small.
    private static double? Total(IEnumerable<double?> figures) => figures.Aggregate((double?)0, (sum, figure) => sum + figure);
}
