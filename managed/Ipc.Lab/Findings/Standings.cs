using Ipc.Lab.Comparing;

namespace Ipc.Lab.Findings;

/// <summary>The rule by which an interval speaks for or against a claim; docs/findings.md states it for people.</summary>
internal static class Standings
{
    /// <summary>What a claim without a size is taken to speak of at least: who says "faster" means something that can be noticed.</summary>
    public const double LeastWorthNaming = 1.1;

    /// <summary>Of a ratio: against the claim's line, and then against the published range.</summary>
    public static Standing OfRatio(Claim claim, double ratio, double[] interval)
    {
        // Turned so that the claim is always "more than the line".
        var (value, low, high) = claim.IsAbove
            ? (ratio / claim.Line, interval[0] / claim.Line, interval[1] / claim.Line)
            : (claim.Line / ratio, claim.Line / interval[1], claim.Line / interval[0]);
        var (least, most) = claim.IsAbove ? (claim.Least / claim.Line, claim.Most / claim.Line) : (claim.Line / claim.Most, claim.Line / claim.Least);
        // What a rebuilt program's place in memory may do is no effect.
        var differs = Math.Abs(Math.Log(value)) >= Math.Log(1 + Comparer.LeastDifference);
        if (low > 1 && differs)
            return high < least ? Standing.Smaller : low > most ? Standing.Larger : Standing.AsPublished;
        if (high < 1 && differs)
            return Standing.Opposite;
        return high >= (claim.StatesSize ? least : LeastWorthNaming) ? Standing.Open : Standing.NoDifference;
    }

    /// <summary>Of a single figure: whether it reaches what is published.</summary>
    public static Standing OfFigure(Claim claim, double[] interval)
    {
        var (low, high) = (interval[0], interval[1]);
        if ((claim.Least is not { } least || low >= least) && (claim.Most is not { } most || high <= most))
            return Standing.AsPublished;
        return high < claim.Least || low > claim.Most ? Standing.Opposite : Standing.Open;
    }
}
