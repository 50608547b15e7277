using Ipc.Lab.Comparing;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Advising;

/// <summary>The answer of `ipc advise`, as `--json` prints it.</summary>
/// <param name="Evidence">The results folders that the figures are of.</param>
/// <param name="Address">Of the first choice; null if there is none.</param>
internal sealed record Advice(
    int Schema, Need Need, string Workload, IReadOnlyList<string> Evidence, IReadOnlyList<Ranked> Ranking, IReadOnlyList<Excluded> Excluded,
    string? Address, string? ServerLines, string? ClientLines)
{
    /// <summary>When the figures were written; null if there are none.</summary>
    public DateTimeOffset? Measured { get; init; }

    /// <summary>Whether programs measured them that are not those here now.</summary>
    public bool OtherBuilds { get; init; }
}

/// <summary>One candidate with its figures.</summary>
/// <param name="Ratio">Of its p50 by the first one's, with <paramref name="RatioCi"/>; null for the first.</param>
/// <param name="Verdict">first, no difference (from it) or slower.</param>
/// <param name="Placement">Whose figures these are; the same for all of a ranking where all have launches enough in one.</param>
internal sealed record Ranked(
    string Transport, string Verdict, double P50Ns, double[]? P50Ci, double? P99Ns, double? OpsPerS, BySide? CpuNsPerOp, int Launches, string? Placement,
    double? Ratio,
    double[]? RatioCi, string? Why);

/// <summary>Ranks candidates by their measured cells.</summary>
internal static class Ranking
{
    public static (IReadOnlyList<Ranked> Ranking, IReadOnlyList<Excluded> Excluded) Of(Need need, IReadOnlyList<Candidate> candidates,
        IReadOnlyList<CellResult> cells)
    {
        var excluded = new List<Excluded>();
        var measured = new List<(Candidate Candidate, CellResult Cell)>();
        foreach (var candidate in candidates)
        {
            var cell = cells.FirstOrDefault(c => c.Transport == candidate.Spec);
            if (cell is null || cell.Status != "ok" || cell.P50Ns is null)
                excluded.Add(new Excluded(candidate.Spec, cell is null ? "it was not measured" : $"{cell.Status}: {cell.Reason}"));
            else if (need.Rate > cell.OpsPerS)
                excluded.Add(new Excluded(candidate.Spec, string.Create(System.Globalization.CultureInfo.InvariantCulture,
                    $"it manages {cell.OpsPerS:0} a second here, and {need.Rate:0} are needed")));
            else
                measured.Add((candidate, cell));
        }
        var shared = SharedPlacement([.. measured.Select(m => m.Cell)]);
        var inOne = measured.ConvertAll(m => m.Cell.FiguresIn(shared) is { } figures && IsEnough(figures)
            ? new Entry(m.Candidate, m.Cell, figures, figures.Placement) : new Entry(m.Candidate, m.Cell, m.Cell, m.Cell.Placement));
        inOne.Sort((a, b) => a.Figures.P50Ns!.Value.CompareTo(b.Figures.P50Ns!.Value));
        var ratios = inOne.Skip(1).Select(m => RatioTo(inOne[0], m)).ToList();
        var adjusted = Multiplicity.Adjust([.. ratios.Select(r => r?.P ?? 1)]);
        return ([.. inOne.Select((m, i) => ToRanked(m, i == 0 ? null : ratios[i - 1], i == 0 ? null : adjusted[i - 1]))], excluded);
    }

    private sealed record Entry(Candidate Candidate, CellResult Cell, Figures Figures, string? Placement);

    // The one in which most of them have launches enough, and of these the one with most launches: the ranking is of programs then, not of where the
    // host put the processors.
    private static string? SharedPlacement(IReadOnlyList<CellResult> cells) => cells
        .SelectMany(c => c.Placements).Where(IsEnough).GroupBy(p => p.Placement)
        .OrderByDescending(g => g.Count()).ThenByDescending(g => g.Sum(p => p.Launches)).FirstOrDefault()?.Key;

    private static bool IsEnough(PlacementFigures figures) => figures is { P50Ns: not null, Launches: >= RatioEstimate.LeastLaunches };

    private static Ranked ToRanked(Entry entry, RatioEstimate? ratio, double? adjusted) => new(
        entry.Candidate.Spec, adjusted is not { } p
            ? "first"
            : p <= Comparer.Level && ratio!.Ratio > 1 + Comparer.LeastDifference
            ? CellVerdict.Slower
            : CellVerdict.NoDifference,
        entry.Figures.P50Ns!.Value, entry.Figures.P50Ci, entry.Figures.P99Ns, entry.Figures.OpsPerS, entry.Figures.CpuNsPerOp, entry.Figures.Launches,
        entry.Placement,
        ratio?.Ratio, ratio?.Interval, entry.Candidate.Why);

    private static RatioEstimate? RatioTo(Entry first, Entry other)
    {
        double[] a = LaunchesOf(first), b = LaunchesOf(other);
        return Math.Min(a.Length, b.Length) >= RatioEstimate.LeastLaunches ? RatioEstimate.Unpaired(a, b, drift: 0) : null;
    }

    private static double[] LaunchesOf(Entry entry) =>
        [.. entry.Cell.EachLaunch.Where(l => l.Status == "ok" && l.Placement == entry.Placement).Select(l => l.P50Ns).OfType<double>()];
}
