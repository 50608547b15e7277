using Ipc.Lab.Comparing;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Findings;

/// <summary>What was measured on one machine, and its answers to tests. Two cells meet within one run and one placement; processes that share a CPU
/// have no distance between them and meet all others.</summary>
internal sealed class MeasuredCells
{
    private readonly List<ReportRun> _runs;

    /// <param name="machines">Reports of one machine and one system.</param>
    public MeasuredCells(IEnumerable<MachineReport> machines) =>
        // Those of claims first, which have many launches; then the latest: a later run of a cell counts.
        _runs = [.. machines.SelectMany(m => m.Runs).Where(r => r.Results.Run.Build != "debug")
            .OrderByDescending(r => r.IsOfClaims).ThenByDescending(r => r.Results.Run.Started)];

    /// <summary>Whether a run has the cell, with or without figures; and why it has none.</summary>
    public (bool IsThere, string? Why) Find(ClaimCell wanted)
    {
        var found = RunsFor(wanted).Select(r => CellIn(r, wanted)).OfType<CellResult>().ToList();
        return (found.Count > 0, found.FirstOrDefault(c => c.Status != "ok") is { } bad ? $"{bad.Status}: {bad.Reason}" : null);
    }

    /// <summary>The answers to a test, one for each placement that has launches enough; none where it was not measured.</summary>
    public IEnumerable<Evidence> Answers(Claim claim, ClaimTest test) =>
        test.Under is { } under ? Ratios(claim, test, under) : Figures(claim, test);

    private IEnumerable<Evidence> Ratios(Claim claim, ClaimTest test, ClaimCell under)
    {
        foreach (var run in RunsFor(test.Over))
        {
            if (CellIn(run, test.Over) is not { Status: "ok" } a || CellIn(run, under) is not { Status: "ok" } b)
                continue;
            var (launchesA, launchesB) = (LaunchesOf(a, test.Over.Figure), LaunchesOf(b, under.Figure));
            var found = false;
            foreach (var placement in launchesB.Select(g => g.Key).Order(StringComparer.Ordinal))
            {
                var others = OneCpu(test.Over) != OneCpu(under) ? launchesA.MaxBy(g => g.Count()) : launchesA.FirstOrDefault(g => g.Key == placement);
                double[] x = [.. others ?? Enumerable.Empty<double>()], y = [.. launchesB[placement]];
                if (Math.Min(x.Length, y.Length) < RatioEstimate.LeastLaunches)
                    continue;
                found = true;
                // First is the base of the estimate: the result is how many times as much the second is.
                var ratio = RatioEstimate.Unpaired(y, x, 0);
                yield return new Evidence(test, ratio.Ratio, ratio.Interval, placement, $"{x.Length} and {y.Length}",
                    Math.Min(x.Length, y.Length), In(run),
                    Standings.OfRatio(claim, ratio.Ratio, ratio.Interval));
            }
            if (found)
                yield break;
        }
    }

    private IEnumerable<Evidence> Figures(Claim claim, ClaimTest test)
    {
        foreach (var run in RunsFor(test.Over))
        {
            if (CellIn(run, test.Over) is not { Status: "ok" } cell)
                continue;
            var found = false;
            foreach (var launches in LaunchesOf(cell, test.Over.Figure, isCount: true).OrderBy(g => g.Key, StringComparer.Ordinal))
            {
                double[] figures = [.. launches];
                if (MedianInterval.Of(figures) is not { } interval)
                    continue;
                found = true;
                yield return new Evidence(test, Medians.Of(figures)!.Value, interval, launches.Key, $"{figures.Length}", figures.Length, In(run),
                    Standings.OfFigure(claim, interval));
            }
            if (found)
                yield break;
        }
    }

    private IEnumerable<ReportRun> RunsFor(ClaimCell cell) => _runs.Where(r => r.Results.Run.OnUsualProcessors || cell.Cell.IsAlone);

    private static bool OneCpu(ClaimCell cell) => Registry.Scenarios.FirstOrDefault(s => s.Id == cell.Cell.Scenario)?.OneCpu == true;

    private static CellResult? CellIn(ReportRun run, ClaimCell wanted) => run.Results.Cells.FirstOrDefault(c => c.Cell == wanted.Cell);

    // A ratio needs figures above zero; a count may be none at all.
    private static ILookup<string?, double> LaunchesOf(CellResult cell, string figure, bool isCount = false) =>
        cell.EachLaunch.Where(l => l.Status == "ok").GroupBy(l => l.Round).Select(g => g.Last())
            .Select(l => (l.Placement, Figure: ClaimFigure.Of(l, figure)))
            .Where(l => l.Figure > 0 || (isCount && l.Figure == 0))
            .ToLookup(l => l.Placement, l => l.Figure!.Value);

    private static MeasuredIn In(ReportRun run) => new(run.Folder, run.Results.Machine.Wine);
}
