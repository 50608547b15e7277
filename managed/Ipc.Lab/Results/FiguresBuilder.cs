using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>The figures of several launches of one placement: the median over them of each launch's own, with its interval.</summary>
internal static class FiguresBuilder
{
    /// <param name="launches">At least one, all settled.</param>
    /// <param name="overlapping">Several calls were under way at a time, or were made at a given rate: what a mean time would allow says nothing.</param>
    public static PlacementFigures Build(string? placement, IReadOnlyList<MeasuredLaunch> launches, ScenarioEntry scene, FloorOfCell? floor,
        bool overlapping = false)
    {
        var isOneWay = scene.Receiver is not null;
        var p50 = Over(launches, l => l.P50Ns);
        var p90 = Over(launches, l => l.P90Ns);
        var p99 = Over(launches, l => l.P99Ns);
        var p999 = Over(launches, l => l.P999Ns);
        var p9999 = Over(launches, l => l.P9999Ns);
        var mean = Over(launches, l => l.MeanNs);
        var rate = Over(launches, l => l.OpsPerS);
        var byMean = isOneWay || overlapping ? default : Over(launches, l => 1e9 / l.MeanNs);
        // A launch without a ratio does not take away those of the others.
        var ratios = launches.Select(l => l.Figures.FloorRatio).OfType<double>().ToList();
        var figures = new PlacementFigures
        {
            Placement = placement,
            Launches = launches.Count,
            Coverage = MedianInterval.Coverage(launches.Count),
            Operations = launches.Sum(l => l.Record.Operations),
            Lost = scene.Kinds.Contains("broadcast") ? launches.Sum(l => l.Record.Lost) : null,
            SlowestByFastest = Medians.OfAll(launches.Select(l => l.Record.SlowestByFastest)),
            P50Ns = p50.Figure,
            P50Ci = p50.Interval,
            P90Ns = p90.Figure,
            P90Ci = p90.Interval,
            P99Ns = p99.Figure,
            P99Ci = p99.Interval,
            P999Ns = p999.Figure,
            P999Ci = p999.Interval,
            P9999Ns = p9999.Figure,
            P9999Ci = p9999.Interval,
            MaxNs = launches.Max(l => l.Figures.MaxNs),
            MeanNs = mean.Figure,
            MeanCi = mean.Interval,
            OpsPerS = rate.Figure,
            OpsPerSCi = rate.Interval,
            OpsPerSByMeanLatency = byMean.Figure,
            OpsPerSByMeanLatencyCi = byMean.Interval,
            BytesPerS = Medians.Of(launches.Select(l => l.Record.Bytes / (double)l.Record.Operations * l.Figures.OpsPerS!.Value)),
            LineNs = Medians.Of(launches.Select(l => l.Figures.LineNs).OfType<double>()),
            Floor = floor?.Name,
            FloorNs = Medians.Of(launches.Where(l => l.Figures.FloorRatio > 0).Select(l => l.Figures.P50Ns!.Value / l.Figures.FloorRatio!.Value)),
            FloorRatio = Medians.Of(ratios) is { } ratio ? Math.Round(ratio, 3) : null,
            FloorRatioCi = MedianInterval.Of(ratios),
            FloorLaunches = floor is null ? null : ratios.Count,
            ColdNs = Medians.Of(launches.Select(l => l.Figures.ColdNs).OfType<double>()),
            Phases = PhasesOf(launches),
        };
        return CostFigures.With(figures, [.. launches.Select(l => l.Record)]);
    }

    private static (double? Figure, double[]? Interval) Over(IReadOnlyList<MeasuredLaunch> launches, Func<LaunchFigures, double?> figure)
    {
        var all = launches.Select(l => figure(l.Figures)).ToList();
        return (Medians.OfAll(all), all.Contains(null) ? null : MedianInterval.Of([.. all.OfType<double>()]));
    }

    private static Dictionary<string, double?>? PhasesOf(IReadOnlyList<MeasuredLaunch> launches) =>
        launches[0].Record.Phases?.Keys.ToDictionary(
            name => name,
            name => Medians.Of(launches.Select(l => l.Record.Phases?.GetValueOrDefault(name)).OfType<double>()));
}
