using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;

namespace Ipc.Lab.Findings;

/// <summary>The verdict over all comparisons of a claim, in words.</summary>
internal static class VerdictText
{
    // From few to many: the fewest axes that explain it are named.
    private static readonly string[] s_axes = ["workload", "transport", "pair", "codec", "scenario", "figure", "placement"];

    public static (FindingKind Kind, string Verdict) Of(Claim claim, IReadOnlyList<Evidence> evidence, bool underWine)
    {
        if (underWine)
            return (FindingKind.UnderWine, $"{Finding.Word(FindingKind.UnderWine)}: {Span(evidence)}; Wine proves behaviour, not speed");
        List<Evidence> decided = [.. evidence.Where(e => e.Standing != Standing.Open)];
        // Few that tell something among many that do not would be a choice of what pleases.
        if (decided.Count * 2 < evidence.Count)
            return (FindingKind.NotTestable, $"{Finding.Word(FindingKind.NotTestable)}: {evidence.Count - decided.Count} of {evidence.Count} "
                + $"intervals hold both the published effect and none; more launches would tell: `{MissingCells.Command(claim, underWine)}{More(evidence)}`");
        var (kind, words) = decided.TrueForAll(e => e.Holds) ? (FindingKind.Confirmed, HowLarge(claim, decided))
            : decided.TrueForAll(e => !e.Holds) ? (FindingKind.Refuted, HowWrong(claim, decided))
            : (FindingKind.Depends, OnWhat(decided));
        var open = evidence.Count - decided.Count;
        return (kind, $"{Finding.Word(kind)}{words}{(open > 0 ? $"; {open} of {evidence.Count} comparisons cannot tell" : "")}");
    }

    // Four times as many make an interval half as wide; where there are few, what the command launches by itself is more than that.
    private static string More(IReadOnlyList<Evidence> evidence)
    {
        var wanted = 4 * Presets.CellsOfClaims.Launches;
        return evidence.Min(e => e.FewestLaunches) * 2 < Presets.CellsOfClaims.Launches ? "" : $" --launches {wanted}";
    }

    /// <summary>All comparisons in one phrase: the median of one, from the least to the most of several.</summary>
    public static string Span(IReadOnlyList<Evidence> evidence)
    {
        var figure = evidence[0].Test.Over.Figure;
        string Format(double value) => evidence[0].Test.Under is null ? ClaimFigure.Format(figure, value) : $"{Units.Ratio(value)} ×";
        if (evidence.Count == 1)
            return $"{Format(evidence[0].Value)} ({Format(evidence[0].Interval[0])} to {Format(evidence[0].Interval[1])})";
        return $"{Format(evidence.Min(e => e.Value))} to {Format(evidence.Max(e => e.Value))} in {evidence.Count} comparisons";
    }

    private static string HowLarge(Claim claim, List<Evidence> evidence)
    {
        if (evidence[0].Test.Under is null)
            return ": reached on this machine";
        if (!claim.StatesSize)
            return "";
        var standings = evidence.Select(e => e.Standing).Distinct().ToList();
        return standings.Count > 1 ? $": the direction everywhere; the size is as published in {evidence.Count(e => e.Standing == Standing.AsPublished)}, "
                + $"smaller in {evidence.Count(e => e.Standing == Standing.Smaller)}, larger in {evidence.Count(e => e.Standing == Standing.Larger)}"
            : standings[0] switch
            {
                Standing.Smaller => ", smaller than published",
                Standing.Larger => ", larger than published",
                _ => ", as large as published"
            };
    }

    private static string HowWrong(Claim claim, List<Evidence> evidence)
    {
        if (evidence[0].Test.Under is null)
            return ": not reached on this machine";
        var opposite = evidence.Count(e => e.Standing == Standing.Opposite);
        var contrary = claim.Line == 1 ? "the opposite holds" : $"it stays {(claim.IsAbove ? "below" : "above")} {Units.Ratio(claim.Line)} ×";
        return opposite == evidence.Count ? $": {contrary}"
            : opposite == 0 ? ": no such difference"
            : $": {contrary} in {opposite}, no such difference in {evidence.Count - opposite}";
    }

    private static string OnWhat(List<Evidence> evidence)
    {
        List<string> varying = [.. s_axes.Where(a => evidence.Select(e => e.AxisValue(a)).Distinct().Count() > 1)];
        var explaining = Subsets(varying)
            .FirstOrDefault(axes => evidence.GroupBy(e => Key(e, axes)).All(g => g.Select(e => e.Holds).Distinct().Count() == 1)) ?? varying;
        string Which(bool holds) => string.Join(", ", evidence.Where(e => e.Holds == holds).Select(e => Key(e, explaining)).Distinct());
        return $" on the {string.Join(" and the ", explaining)}: holds for {Which(true)}; not for {Which(false)}";
    }

    private static string Key(Evidence evidence, IReadOnlyList<string> axes) => string.Join(' ', axes.Select(evidence.AxisValue));

    // All of one axis, then all of two, and so on.
    private static IEnumerable<List<string>> Subsets(List<string> axes) =>
        Enumerable.Range(1, (1 << axes.Count) - 1)
            .Select(bits => axes.Where((_, i) => (bits >> i & 1) == 1).ToList())
            .OrderBy(s => s.Count);
}
