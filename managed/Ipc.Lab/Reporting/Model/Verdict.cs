using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Which of several comparable cells is the fastest. The page decides by the same rule (decide.js), and a test holds them together.</summary>
/// <param name="Ranked">All of them, by p50.</param>
/// <param name="Tied">Those between which there is no difference: the fastest, and all whose intervals overlap its own.</param>
/// <param name="Next">The first that is slower than those, or null.</param>
/// <param name="IsCertain">False where the fastest has no interval, so that nothing can be told apart.</param>
internal sealed record Verdict(IReadOnlyList<CellResult> Ranked, IReadOnlyList<CellResult> Tied, CellResult? Next, bool IsCertain)
{
    public CellResult Best => Ranked[0];

    /// <summary>Whether those that decide were measured in several placements, each cell's headline being of its commonest: then the host's choice of
    /// processors is part of the difference.</summary>
    public bool IsMixed => Tied.Append(Next).OfType<CellResult>().Select(c => c.Placement).Distinct().Count() > 1;

    /// <summary>The verdict over cells that have figures, or null over none.</summary>
    public static Verdict? Of(IEnumerable<CellResult> cells)
    {
        List<CellResult> ranked = [.. cells.OrderBy(c => c.P50Ns)];
        if (ranked.Count == 0)
            return null;
        if (ranked[0].P50Ci is not [var low, var high])
            return new Verdict(ranked, [ranked[0]], ranked.ElementAtOrDefault(1), ranked.Count == 1);
        List<CellResult> tied = [.. ranked.Where((c, i) => i == 0 || Overlaps(c, low, high))];
        return new Verdict(ranked, tied, ranked.FirstOrDefault(c => !tied.Contains(c)), true);
    }

    private static bool Overlaps(CellResult cell, double low, double high) =>
        cell.P50Ci is [var from, var to] ? from <= high && low <= to : low <= cell.P50Ns && cell.P50Ns <= high;
}
