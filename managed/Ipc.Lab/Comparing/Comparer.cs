using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Comparing;

/// <summary>Compares two results cell by cell: ratios of medians over launches, within one placement, adjusted to the number of cells.</summary>
internal sealed class Comparer
{
    /// <summary>The share of wrong names among the names.</summary>
    public const double Level = 0.05;
    /// <summary>A rebuilt program lies elsewhere in memory; that alone moves a cell by a percent or two.</summary>
    public const double LeastDifference = 0.02;

    private static readonly string[] s_twoPlacements = ["near", "far"];
    private static readonly string[] s_threePlacements = ["near", "middle", "far"];

    private readonly RunResults _base;
    private readonly RunResults _new;
    private readonly bool _paired;
    private readonly IReadOnlyList<double> _bounds;
    private readonly IReadOnlyDictionary<string, double> _drift;

    /// <param name="paired">Whether the launches of one round were made one right after the other.</param>
    public Comparer(RunResults first, RunResults second, bool paired)
    {
        (_base, _new, _paired) = (first, second, paired);
        // Found in both together: what each run calls near need not be the same distance. Of settled launches, which were of one placement throughout.
        _bounds = LineClusters.Bounds(first.Cells.Concat(second.Cells).SelectMany(c => c.EachLaunch).Where(l => l.Status == "ok").Select(l => l.LineNs)
            .OfType<double>());
        _drift = MachineDrift.Of(Cells(), this);
    }

    public Comparison Compare(ComparedRun first, ComparedRun second)
    {
        var verdicts = Judge([.. Cells().SelectMany(c => CompareCell(c.Base, c.New))]);
        return new Comparison
        {
            Base = first,
            New = second,
            Paired = _paired,
            Unlike = Contract.Differences(_base, _new),
            Level = Level,
            LeastDifference = LeastDifference,
            Drift = _drift,
            Summary = new VerdictCounts(
                verdicts.Count(v => v.Verdict == CellVerdict.Faster), verdicts.Count(v => v.Verdict == CellVerdict.Slower),
                verdicts.Count(v => v.Verdict == CellVerdict.NoDifference), verdicts.Count(v => v.Verdict is null), verdicts.Count(v => v.NewlyFailed)),
            Transports = Together(verdicts),
            Cells = verdicts,
        };
    }

    /// <summary>The settled launches of a cell, one of each round, by placement.</summary>
    public ILookup<string?, LaunchFigures> LaunchesOf(CellResult cell) => cell.EachLaunch
        .Where(l => l.Status == "ok" && l.P50Ns > 0)
        .GroupBy(l => l.Round).Select(g => g.Last())
        .ToLookup(PlacementOf);

    /// <summary>The ratios of one figure of a cell: one for each placement that has launches enough in both runs; where none has, one of them all,
    /// whose differences are still between launches of one placement; none where even these are too few.</summary>
    public IEnumerable<PlacedRatio> Estimates(CellResult first, CellResult second, Func<LaunchFigures, double?> figure, double drift)
    {
        var (a, b) = (LaunchesOf(first), LaunchesOf(second));
        List<PlacedLaunches> placements =
        [
            .. a.Select(g => g.Key).Intersect(b.Select(g => g.Key)).OrderBy(Distance)
                .Select(placement => new PlacedLaunches(placement, [.. a[placement].Where(l => figure(l) > 0)], [.. b[placement].Where(l => figure(l) > 0)]))
                .Where(p => p.First.Count > 0 && p.Second.Count > 0),
        ];
        var each = placements.SelectMany(p => Estimate(p, figure, drift) is { } ratio ? (PlacedRatio[])[new([p], ratio)] : []).ToList();
        return each.Count > 0 ? each : Together(placements, figure, drift) is { } together ? [new(placements, together)] : [];
    }

    private RatioEstimate? Estimate(PlacedLaunches of, Func<LaunchFigures, double?> figure, double drift)
    {
        if (_paired)
            return Paired(LaunchPairs.Of(of.First, of.Second, figure), drift);
        var (a, b) = Figures(of, figure);
        return Math.Min(a.Length, b.Length) >= RatioEstimate.LeastLaunches ? RatioEstimate.Unpaired(a, b, drift) : null;
    }

    private RatioEstimate? Together(List<PlacedLaunches> placements, Func<LaunchFigures, double?> figure, double drift) =>
        _bounds.Count == 0 ? null
        : _paired ? Paired([.. placements.SelectMany(p => LaunchPairs.Of(p.First, p.Second, figure))], drift)
        : RatioEstimate.Stratified(placements.ConvertAll(p => Figures(p, figure)), drift);

    private static RatioEstimate? Paired(List<(double, double)> pairs, double drift) =>
        pairs.Count >= RatioEstimate.LeastLaunches ? RatioEstimate.Paired(pairs, drift) : null;

    private static (double[] First, double[] Second) Figures(PlacedLaunches of, Func<LaunchFigures, double?> figure) =>
        ([.. of.First.Select(l => figure(l)!.Value)], [.. of.Second.Select(l => figure(l)!.Value)]);

    private IEnumerable<(CellResult? Base, CellResult? New)> Cells()
    {
        var found = _new.Cells.ToDictionary(c => c.Cell);
        foreach (var cell in _base.Cells)
            yield return (cell, found.Remove(cell.Cell, out var same) ? same : null);
        foreach (var cell in found.Values)
            yield return (null, cell);
    }

    private IEnumerable<CellVerdict> CompareCell(CellResult? first, CellResult? second)
    {
        if (first?.Status != "ok" || second?.Status != "ok")
        {
            yield return new CellVerdict
            {
                Cell = (first ?? second)!.Cell,
                Reason = WhyNot(first, second),
                NewlyFailed = first?.Status == "ok" && second?.Status == "failed"
            };
            yield break;
        }
        // What the machine did between the two launches of a pair, it did to both trees in turns: the spread of the pairs has it already.
        var drift = _paired ? 0 : _drift.GetValueOrDefault(MachineDrift.KeyOf(first));
        var compared = Estimates(first, second, l => l.P50Ns, drift).Select(e => new CellVerdict
        {
            Cell = first.Cell,
            Placement = e.Name,
            Ratio = e.Ratio.Ratio,
            Interval = e.Ratio.Interval,
            P = e.Ratio.P,
            Estimate = e.Ratio,
            BaseP50Ns = e.Figure(p => p.First),
            NewP50Ns = e.Figure(p => p.Second),
            BaseLaunches = e.Placements.Sum(p => p.First.Count),
            NewLaunches = e.Placements.Sum(p => p.Second.Count),
        }).ToList();
        foreach (var one in compared.Count > 0 ? compared : [new CellVerdict { Cell = first.Cell, Reason = TooFew(first, second) }])
            yield return one;
    }

    private static List<CellVerdict> Judge(List<CellVerdict> cells)
    {
        var adjusted = Multiplicity.Adjust([.. cells.Select(c => c.P).OfType<double>()]);
        var next = 0;
        return [.. cells.Select(c => c.P is null ? c : WithVerdict(c, adjusted[next++]))];
    }

    private static CellVerdict WithVerdict(CellVerdict cell, double adjusted) => cell with
    {
        PAdjusted = adjusted,
        Verdict = VerdictOf(cell.Ratio!.Value, adjusted),
    };

    private static string VerdictOf(double ratio, double adjusted) =>
        adjusted > Level || Math.Abs(Math.Log(ratio)) < Math.Log(1 + LeastDifference) ? CellVerdict.NoDifference
        : ratio > 1 ? CellVerdict.Slower : CellVerdict.Faster;

    private static IReadOnlyList<TransportVerdict> Together(List<CellVerdict> cells)
    {
        var groups = cells.Where(c => c.Estimate is not null).GroupBy(c => c.Transport).ToList();
        var ratios = groups.ConvertAll(g => RatioEstimate.Together([.. g.Select(c => c.Estimate!)]));
        var adjusted = Multiplicity.Adjust([.. ratios.Select(r => r.P)]);
        return
        [
            .. groups.Select((g, i) => new TransportVerdict(
                g.Key, VerdictOf(ratios[i].Ratio, adjusted[i]), ratios[i].Ratio, ratios[i].Interval, adjusted[i],
                g.Count(c => c.Verdict == CellVerdict.Faster), g.Count(c => c.Verdict == CellVerdict.Slower), g.Count())),
        ];
    }

    private string? PlacementOf(LaunchFigures launch) =>
        _bounds.Count == 0 || launch.LineNs is not { } line ? null
        : (_bounds.Count == 1 ? s_twoPlacements : s_threePlacements)[_bounds.Count(bound => line > bound)];

    private static int Distance(string? placement) => Array.IndexOf(s_threePlacements, placement);

    private string TooFew(CellResult first, CellResult second)
    {
        var (a, b) = (LaunchesOf(first), LaunchesOf(second));
        var alike = string.Join(", ", a.Select(g => g.Key).Union(b.Select(g => g.Key)).OrderBy(Distance)
            .Select(placement => $"{(placement is null ? "" : $"{placement} ")}{a[placement].Count()} and {b[placement].Count()}"));
        return $"too few settled launches{(_bounds.Count > 0 ? " of like placement" : "")}: "
            + $"{(alike.Length > 0 ? alike : "none")}; {RatioEstimate.LeastLaunches} of each are needed";
    }

    private static string WhyNot(CellResult? first, CellResult? second) =>
        first is null ? "not in the base" : second is null ? "not in the new run"
        : first.Status != "ok" ? $"{first.Status} in the base{(first.Reason is { } why ? $": {why}" : "")}"
        : $"{second.Status} in the new run{(second.Reason is { } reason ? $": {reason}" : "")}";
}
