namespace Ipc.Lab.Comparing;

/// <summary>Many cells are looked at, and of a hundred that are alike five have p under 0.05: so p is adjusted to their number.</summary>
/// <remarks>
/// Benjamini and Hochberg, not Holm: Holm keeps any wrong name out in 95 of 100 comparisons and, with six launches and a hundred cells, finds a tenth no more.
/// Benjamini and Hochberg keep the share of wrong names among the names at 5 %; when nothing differs both hold the same: no name at all in 95 of 100
/// comparisons. It holds for cells that drift together, too (positive dependence).
/// </remarks>
internal static class Multiplicity
{
    public const string Method = "Benjamini-Hochberg";

    /// <summary>The least share of wrong names at which each would still be named.</summary>
    public static double[] Adjust(IReadOnlyList<double> p)
    {
        var adjusted = new double[p.Count];
        var least = 1.0;
        var rank = p.Count;
        foreach (var index in Enumerable.Range(0, p.Count).OrderByDescending(i => p[i]))
        {
            least = Math.Min(least, p[index] * p.Count / rank--);
            adjusted[index] = least;
        }
        return adjusted;
    }
}
