namespace Ipc.Lab.Statistics;

/// <summary>Exact percentiles of samples: the nearest rank over all of them, read between the steps of the clock.</summary>
/// <remarks>
/// Clocks step: by 10 ns on many a processor, by 100 ns on Windows. A time of 104 ns is then read as 100 or as 110, as the start happens
/// to fall, and of many equal samples the share that lies below the rank tells where between the steps it is. So equal
/// samples count as spread evenly from half-way to the next smaller value to half-way to the next greater one (the median
/// of grouped data). A value that is there once is itself.
/// Ranks are integers; MathNet's quantiles take doubles, twice the memory and a rounding at 0.9999.
/// </remarks>
internal static class Percentiles
{
    /// <summary>How many operations must lie beyond a percentile for it to be more than the maximum under another name.</summary>
    private const int LeastBeyond = 5;

    /// <summary>The percentile, or null where so few samples cannot give it.</summary>
    public static double? IfGiven(ReadOnlySpan<uint> sorted, int partsPerTenThousand) =>
        partsPerTenThousand <= 5000 || (long)sorted.Length * (10_000 - partsPerTenThousand) >= LeastBeyond * 10_000L ? At(sorted, partsPerTenThousand) : null;

    /// <summary>The time in nanoseconds that <paramref name="partsPerTenThousand"/> of the samples do not exceed, to 0.1 ns.</summary>
    /// <param name="sorted">Ascending, not empty.</param>
    public static double At(ReadOnlySpan<uint> sorted, int partsPerTenThousand)
    {
        var rank = (int)Math.Max(((long)sorted.Length * partsPerTenThousand + 9999) / 10_000, 1) - 1;
        var value = sorted[rank];
        var first = FirstNotBelow(sorted, value);
        var end = value == uint.MaxValue ? sorted.Length : FirstNotBelow(sorted, value + 1);
        if (end - first == 1)
            return value;
        var low = first > 0 ? (sorted[first - 1] + (double)value) / 2 : value;
        var high = end < sorted.Length ? (sorted[end] + (double)value) / 2 : value;
        return Math.Round(low + ((high - low) * (rank - first + 0.5) / (end - first)), 1);
    }

    private static int FirstNotBelow(ReadOnlySpan<uint> sorted, uint value)
    {
        var (from, to) = (0, sorted.Length);
        while (from < to)
        {
            var middle = (int)(((uint)from + (uint)to) / 2);
            if (sorted[middle] < value)
                from = middle + 1;
            else
                to = middle;
        }
        return from;
    }
}
