using Ipc.Lab.Statistics;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;

namespace Ipc.Lab.Comparing;

/// <summary>How many times as long the new one takes as the base: the ratio of medians over launches, its 95 % interval, and how likely so much is by
/// chance.</summary>
/// <param name="StandardError">Of the ratio's logarithm, the machine's own drift included.</param>
/// <param name="Drift">That drift alone.</param>
/// <param name="Degrees">Degrees of freedom of the error.</param>
/// <param name="P">Two-sided, before anything is said of how many cells are looked at.</param>
internal sealed record RatioEstimate(double Ratio, double[] Interval, double StandardError, double Drift, double Degrees, double P)
{
    /// <summary>Fewer launches on either side say nothing worth an interval.</summary>
    public const int LeastLaunches = 5;

    // Over several placements the chance of all of them is known together, so that a few launches of either run are enough if the others are not few.
    private const int LeastOfStrata = 3;
    private const int LeastDegrees = 5;
    private const int Resamples = 1000;
    // Fixed, so that the same results always give the same verdicts.
    private const int Seed = 16;
    // Clocks step: a launch's median is not known better than this, however alike the launches are.
    private const double ResolutionNs = 0.5;

    /// <summary>Launches of two runs, which have nothing to do with each other. Figures are positive.</summary>
    /// <param name="drift">By how much the machine itself changed from one run to the other: a standard deviation of logarithms.</param>
    public static RatioEstimate Unpaired(IReadOnlyList<double> first, IReadOnlyList<double> second, double drift)
    {
        var (a, b) = (Logarithms(first), Logarithms(second));
        var (errorA, errorB) = (ErrorOfMedian(a, Resolution(first)), ErrorOfMedian(b, Resolution(second)));
        // Welch's: a side that varies much counts with its own launches, not with those of both.
        var squares = (errorA * errorA) + (errorB * errorB);
        var degrees = squares * squares / ((Math.Pow(errorA, 4) / (a.Length - 1)) + (Math.Pow(errorB, 4) / (b.Length - 1)));
        return Of(Median(b) - Median(a), squares, drift, degrees);
    }

    /// <summary>Launches made one right after the other, pair by pair: what the machine did meanwhile it did to both.</summary>
    public static RatioEstimate Paired(IReadOnlyList<(double First, double Second)> pairs, double drift)
    {
        double[] differences = [.. pairs.Select(p => Math.Log(p.Second / p.First))];
        var error = ErrorOfMedian(differences, Resolution([.. pairs.Select(p => p.First)]));
        return Of(Median(differences), error * error, drift, differences.Length - 1);
    }

    /// <summary>Launches of two runs in several placements, none of which has enough by itself: differences are taken inside each placement only. Null if
    /// they are too few.</summary>
    /// <param name="placements">Each with the figures of the first run's launches and of the second's, all positive.</param>
    public static RatioEstimate? Stratified(IReadOnlyList<(double[] First, double[] Second)> placements, double drift)
    {
        // A launch whose placement has only one of it says nothing of chance.
        var used = placements.Where(p => p.First.Length > 1 && p.Second.Length > 1)
            .Select(p => (First: Logarithms(p.First), Second: Logarithms(p.Second))).ToList();
        double[] deviations = [.. used.SelectMany(p => Deviations(p.First).Concat(Deviations(p.Second)))];
        var degrees = deviations.Length - (2 * used.Count);
        if (degrees < LeastDegrees || Math.Min(used.Sum(p => p.First.Length), used.Sum(p => p.Second.Length)) < LeastOfStrata)
            return null;
        // Deviations from the few launches' own mean are smaller than those from the true one.
        var scale = Math.Sqrt(deviations.Length / (double)degrees);
        var random = new MersenneTwister(Seed, threadSafe: false);
        double[] Drawn(int count) => [.. Enumerable.Range(0, count).Select(_ => scale * deviations[random.Next(deviations.Length)])];
        double Resampled() => Difference([.. used.Select(p => (Drawn(p.First.Length), Drawn(p.Second.Length)))]);
        var resampled = Enumerable.Range(0, Resamples).Select(_ => Resampled()).ToArray();
        var least = Resolution([.. placements.SelectMany(p => p.First)]);
        var error = Math.Max(StandardDeviation(resampled), least);
        return Of(Difference(used), error * error, drift, degrees);
    }

    /// <summary>The mean ratio of several cells: chance averages out between them, the machine's drift does not.</summary>
    public static RatioEstimate Together(IReadOnlyList<RatioEstimate> cells)
    {
        var squares = cells.Sum(c => (c.StandardError * c.StandardError) - (c.Drift * c.Drift)) / cells.Count / cells.Count;
        return Of(cells.Average(c => Math.Log(c.Ratio)), squares, cells.Max(c => c.Drift), cells.Sum(c => c.Degrees));
    }

    private static RatioEstimate Of(double difference, double squaredError, double drift, double degrees)
    {
        var error = Math.Sqrt(squaredError + (drift * drift));
        var student = new StudentT(0, 1, degrees);
        var reach = student.InverseCumulativeDistribution(0.975) * error;
        return new RatioEstimate(
            Math.Exp(difference), [Math.Exp(difference - reach), Math.Exp(difference + reach)], error, drift, degrees,
            2 * student.CumulativeDistribution(-Math.Abs(difference) / error));
    }

    /// <summary>The standard error of a median, by resampling whole launches: a launch's own figure carries the chance of its operations already.</summary>
    internal static double ErrorOfMedian(double[] figures, double resolution)
    {
        var random = new MersenneTwister(Seed, threadSafe: false);
        var drawn = new double[figures.Length];
        var medians = new double[Resamples];
        for (var i = 0; i < Resamples; i++)
        {
            for (var j = 0; j < drawn.Length; j++)
                drawn[j] = figures[random.Next(figures.Length)];
            Array.Sort(drawn);
            medians[i] = (drawn[(drawn.Length - 1) / 2] + drawn[drawn.Length / 2]) / 2;
        }
        return Math.Max(StandardDeviation(medians), resolution);
    }

    // The median of all differences between a launch of the one and a launch of the other run in the same placement (Hodges and Lehmann's).
    private static double Difference(IReadOnlyList<(double[] First, double[] Second)> placements) =>
        Median([.. from p in placements from a in p.First from b in p.Second select b - a]);

    private static IEnumerable<double> Deviations(double[] figures)
    {
        var mean = figures.Average();
        return figures.Select(f => f - mean);
    }

    private static double StandardDeviation(double[] figures) => Math.Sqrt(Deviations(figures).Sum(d => d * d) / (figures.Length - 1));

    private static double[] Logarithms(IReadOnlyList<double> figures) => [.. figures.Select(f => Math.Log(f))];

    private static double Resolution(IReadOnlyList<double> figures) => ResolutionNs / Medians.Of(figures)!.Value / Math.Sqrt(figures.Count);

    private static double Median(double[] figures) => Medians.Of(figures)!.Value;
}
