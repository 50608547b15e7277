namespace Ipc.Lab.Statistics;

/// <summary>Exact percentiles of samples: the nearest rank, so every percentile is a time that was really measured.</summary>
/// <remarks>Ranks are integers here; MathNet's quantiles take doubles, twice the memory and a rounding at 0.9999.</remarks>
internal static class Percentiles
{
    /// <summary>The smallest sample that at least <paramref name="partsPerTenThousand"/> of the samples do not exceed.</summary>
    /// <param name="sorted">Ascending, not empty.</param>
    public static uint At(ReadOnlySpan<uint> sorted, int partsPerTenThousand)
    {
        var rank = ((long)sorted.Length * partsPerTenThousand + 9999) / 10_000;
        return sorted[(int)Math.Max(rank, 1) - 1];
    }
}
