using MathNet.Numerics.Distributions;

namespace Ipc.Lab.Statistics;

/// <summary>The 95 % interval of a median over launches, from the launches' own figures and whatever their distribution.</summary>
/// <remarks>
/// The interval from the d-th least to the d-th greatest of n figures holds the median in 1 - 2 P(B &lt; d) of all cases, B binomial (n, 1/2): 96.9 % for
/// the least and the greatest of 6, 93.8 % of 5. To hold 95 %, not the next wider step, the ends are interpolated between two such intervals (Hettmansperger
/// and Sheather, Statistics and Probability Letters 4, 1986). A launch's figure carries the chance of its own operations already; docs/measurement.md has the
/// simulations by which this was preferred to the bootstrap.
/// </remarks>
internal static class MedianInterval
{
    /// <summary>Fewer launches have no interval of 95 %.</summary>
    public const int LeastLaunches = 6;

    private const double Wanted = 0.95;

    /// <summary>How often the interval of so many launches holds the true median; null where there is none.</summary>
    public static double? Coverage(int launches) => launches >= LeastLaunches ? Wanted : null;

    /// <summary>[low, high], or null of fewer than <see cref="LeastLaunches"/>.</summary>
    public static double[]? Of(IReadOnlyCollection<double> figures)
    {
        if (figures.Count < LeastLaunches)
            return null;
        double[] sorted = [.. figures.Order()];
        var n = sorted.Length;
        var depth = 1;
        while (CoverageAt(n, depth + 1) >= Wanted)
            depth++;
        var (outer, inner) = (CoverageAt(n, depth), CoverageAt(n, depth + 1));
        var share = (outer - Wanted) / (outer - inner);
        var inwards = (n - depth) * share / (depth + ((n - (2 * depth)) * share));
        return
        [
            sorted[depth - 1] + (inwards * (sorted[depth] - sorted[depth - 1])),
            sorted[n - depth] - (inwards * (sorted[n - depth] - sorted[n - depth - 1])),
        ];
    }

    /// <summary>How often the interval from the depth-th least to the depth-th greatest of n holds the median.</summary>
    private static double CoverageAt(int n, int depth) => 1 - (2 * Binomial.CDF(0.5, n, depth - 1));
}
