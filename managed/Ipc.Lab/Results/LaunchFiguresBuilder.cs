using System.Globalization;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>One launch's own figures, from its samples and what was measured around it.</summary>
internal static class LaunchFiguresBuilder
{
    // A one-way message is too short for whole nanoseconds: its samples are picoseconds.
    private const double PicosecondsPerNanosecond = 1000;

    /// <param name="bucket">Objects of one sample; figures are of one object.</param>
    /// <param name="floorOfRound">The floors of its round, where none were measured around it.</param>
    public static LaunchFigures Build(
        LaunchRecord launch, ScenarioEntry scene, double bucket, FloorOfCell? floor, FloorFigures? floorOfRound, PlacementsBuilder placements, uint[] samples)
    {
        Array.Sort(samples);
        // The sample of a bucket is all its objects'.
        var unit = scene.IsStream ? PicosecondsPerNanosecond : bucket;
        var p50 = Percentiles.At(samples, 5000) / unit;
        var floorNs = FloorNsOf(launch, floor, floorOfRound);
        var moved = launch.Status == "ok" && placements.Moved(launch);
        return WithoutTimes(launch) with
        {
            Status = moved ? "moved" : launch.Status,
            Reason = moved ? WhyMoved("a cache line", launch.LinesAroundNs!) : launch.Reason,
            Placement = placements.LabelOf(launch),
            FloorRatio = launch.Status == "ok" && floorNs > 0 ? p50 * bucket / floorNs : null,
            Operations = launch.Operations,
            P50Ns = p50,
            P90Ns = Percentiles.IfGiven(samples, 9000) / unit,
            P99Ns = Percentiles.IfGiven(samples, 9900) / unit,
            P999Ns = Percentiles.IfGiven(samples, 9990) / unit,
            P9999Ns = Percentiles.IfGiven(samples, 9999) / unit,
            MaxNs = samples[^1] / unit,
            MeanNs = launch.TimedNs / (double)launch.Operations,
            OpsPerS = launch.Operations * 1e9 / (scene.IsStream ? launch.TimedNs : launch.ElapsedNs),
            CpuNsPerOp = CostFigures.PerOperation(launch, u => u.CpuNs),
            ColdNs = launch.ColdNs,
            MemoryBytes = CostFigures.MemoryOf(launch),
            AllocatedBytesPerOp = CostFigures.BothSides(CostFigures.PerOperation(launch, u => u.AllocatedBytes)),
            Phases = launch.Phases,
        };
    }

    /// <summary>Says that two measurements around a launch differ.</summary>
    public static string WhyMoved(string what, IReadOnlyList<double> around) => string.Create(
        CultureInfo.InvariantCulture, $"{what} took {around[0]:0} ns right before and {around[1]:0} ns right after: the host moved the processors meanwhile");

    /// <summary>What is known of a launch without its samples.</summary>
    public static LaunchFigures WithoutTimes(LaunchRecord launch) => new()
    {
        Round = launch.Round,
        Status = launch.Status,
        Reason = launch.Reason,
        Repeated = launch.Repeated,
        LineNs = launch.LineNs,
        FloorBeforeNs = launch.FloorsAroundNs?[0],
        FloorAfterNs = launch.FloorsAroundNs?[1],
        Samples = launch.Samples,
    };

    /// <summary>The floor that the launch is held against.</summary>
    public static double? FloorNsOf(LaunchRecord launch, FloorOfCell? floor, FloorFigures? floorOfRound) =>
        launch.FloorsDiffer ? null : launch.FloorsAroundNs is [var before, var after] ? (before + after) / 2 : floor?.In(floorOfRound);
}
