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
    string? Address, string? ServerLines, string? ClientLines);

/// <summary>One candidate with its figures.</summary>
/// <param name="Ratio">Of its p50 by the first one's, with <paramref name="RatioCi"/>; null for the first.</param>
/// <param name="Verdict">first, no difference (from it) or slower.</param>
internal sealed record Ranked(
    string Transport, string Verdict, double P50Ns, double[]? P50Ci, double? P99Ns, double? OpsPerS, BySide? CpuNsPerOp, int Launches, double? Ratio, double[]? RatioCi, string? Why);

/// <summary>Ranks candidates by their measured cells.</summary>
internal static class Ranking
{
    public static (IReadOnlyList<Ranked> Ranking, IReadOnlyList<Excluded> Excluded) Of(Need need, IReadOnlyList<Candidate> candidates, IReadOnlyList<CellResult> cells)
    {
        var excluded = new List<Excluded>();
        var measured = new List<(Candidate Candidate, CellResult Cell)>();
        foreach (var candidate in candidates)
        {
            var cell = cells.FirstOrDefault(c => c.Transport == candidate.Spec);
            if (cell is null || cell.Status != "ok" || cell.P50Ns is null)
                excluded.Add(new Excluded(candidate.Spec, cell is null ? "it was not measured" : $"{cell.Status}: {cell.Reason}"));
            else if (need.Rate > cell.OpsPerS)
                excluded.Add(new Excluded(candidate.Spec, string.Create(System.Globalization.CultureInfo.InvariantCulture, $"it manages {cell.OpsPerS:0} a second here, and {need.Rate:0} are needed")));
            else
                measured.Add((candidate, cell));
        }
        measured.Sort((a, b) => a.Cell.P50Ns!.Value.CompareTo(b.Cell.P50Ns!.Value));
        var ratios = measured.Skip(1).Select(m => RatioTo(measured[0].Cell, m.Cell)).ToList();
        var adjusted = Multiplicity.Adjust([.. ratios.Select(r => r?.P ?? 1)]);
        return ([.. measured.Select((m, i) => ToRanked(m.Candidate, m.Cell, i == 0 ? null : ratios[i - 1], i == 0 ? null : adjusted[i - 1]))], excluded);
    }

    private static Ranked ToRanked(Candidate candidate, CellResult cell, RatioEstimate? ratio, double? adjusted) => new(
        candidate.Spec, adjusted is not { } p ? "first" : p <= Comparer.Level && ratio!.Ratio > 1 + Comparer.LeastDifference ? CellVerdict.Slower : CellVerdict.NoDifference,
        cell.P50Ns!.Value, cell.P50Ci, cell.P99Ns, cell.OpsPerS, cell.CpuNsPerOp, cell.Launches, ratio?.Ratio, ratio?.Interval, candidate.Why);

    // Of the placement of each one's headline: what another choice of processors would give is not to be known here.
    private static RatioEstimate? RatioTo(CellResult first, CellResult other)
    {
        double[] a = LaunchesOf(first), b = LaunchesOf(other);
        return Math.Min(a.Length, b.Length) >= RatioEstimate.LeastLaunches ? RatioEstimate.Unpaired(a, b, drift: 0) : null;
    }

    private static double[] LaunchesOf(CellResult cell) =>
        [.. cell.EachLaunch.Where(l => l.Status == "ok" && l.Placement == cell.Placement).Select(l => l.P50Ns).OfType<double>()];
}
