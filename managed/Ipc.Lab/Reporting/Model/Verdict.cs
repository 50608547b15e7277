using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Which of several comparable cells is the fastest. The page decides by the same rule (decide.js), and a test holds them together.</summary>
/// <param name="Ranked">All of them, by p50.</param>
/// <param name="Tied">Those between which there is no difference, or none that could be told: the fastest, and all whose intervals overlap its own; where it
/// has no interval, all some of whose launches may be as fast.</param>
/// <param name="Next">The first that is slower than those, or null.</param>
/// <param name="IsCertain">False where there are several of those because launches are too few.</param>
/// <param name="IsMixed">Whether those that decide were measured in several placements, each cell's headline being of its commonest: then the host's choice
/// of processors is part of the difference. Not where the fastest is faster in each of its launches, whatever the placement.</param>
internal sealed record Verdict(IReadOnlyList<CellResult> Ranked, IReadOnlyList<CellResult> Tied, CellResult? Next, bool IsCertain, bool IsMixed)
{
    /// <summary>The rule, for readers.</summary>
    public const string Rule = "The fastest by median (p50) is named only if its interval lies clear of all others; where intervals overlap there is no "
        + "difference. If it has too few launches for an interval, each of them must be faster than each of the others'.";

    public CellResult Best => Ranked[0];

    /// <summary>The verdict over cells that have figures, or null over none.</summary>
    public static Verdict? Of(IEnumerable<CellResult> cells)
    {
        List<CellResult> ranked = [.. cells.OrderBy(c => c.P50Ns)];
        if (ranked.Count == 0)
            return null;
        var slower = SeenLaunches.Slower(ranked);
        var interval = ranked[0].P50Ci;
        List<CellResult> tied = [.. ranked.Where((c, i) => i == 0 || (interval is [var low, var high] ? Overlaps(c, low, high) : !slower.Contains(c)))];
        var next = ranked.Find(c => !tied.Contains(c));
        var isCertain = interval is not null || tied.Count == 1;
        var isMixed = isCertain && tied.Append(next).OfType<CellResult>().Select(c => c.Placement).Distinct().Count() > 1
            && !(tied.Count == 1 && next is not null && slower.Contains(next));
        return new Verdict(ranked, tied, next, isCertain, isMixed);
    }

    private static bool Overlaps(CellResult cell, double low, double high) =>
        cell.P50Ci is [var from, var to] ? from <= high && low <= to : low <= cell.P50Ns && cell.P50Ns <= high;
}

/// <summary>The p50 of all launches of a cell that count, of whatever placement, in ns.</summary>
internal sealed record SeenLaunches(int Count, double Least, double Greatest)
{
    private const double Significance = 0.05;

    public static SeenLaunches Of(CellResult cell)
    {
        List<double> all = [.. cell.EachLaunch.Where(l => l.Status == "ok").Select(l => l.P50Ns).OfType<double>()];
        return all.Count == 0 ? new SeenLaunches(0, 0, 0) : new SeenLaunches(all.Count, all.Min(), all.Max());
    }

    /// <summary>Of ranked cells, those each of whose launches is slower than each of the first's, so many that launches of equals would hardly ever fall so:
    /// the exact two-sided rank-sum test (Wilcoxon 1945) of samples that do not overlap, several of them by Holm's procedure (1979).</summary>
    public static HashSet<CellResult> Slower(IReadOnlyList<CellResult> ranked)
    {
        var best = Of(ranked[0]);
        return [.. ranked.Skip(1).Select(c => (Cell: c, Chance: best.ChanceBelow(Of(c)))).OrderBy(c => c.Chance)
            .TakeWhile((c, i) => c.Chance <= Significance / (ranked.Count - 1 - i)).Select(c => c.Cell)];
    }

    // That all of these fall on one side of all the others, if both are of equals. 1: they do not.
    private double ChanceBelow(SeenLaunches others)
    {
        if (Count == 0 || others.Count == 0 || Greatest >= others.Least)
            return 1;
        // In so many ways can the launches of both be put in order.
        double ways = 1;
        for (var i = 1; i <= Count; i++)
            ways *= (double)(others.Count + i) / i;
        return 2 / ways;
    }
}
