using MathNet.Numerics.Random;
using MathNet.Numerics.Statistics;

namespace Ipc.Lab.Statistics;

/// <summary>95 % intervals by resampling whole launches: a launch, not an operation, is what varies independently.</summary>
internal static class Bootstrap
{
    private const int Resamples = 2000;
    // Fixed, so that the same launches always give the same interval.
    private const int Seed = 95;

    /// <summary>The interval of a statistic over launches, or null for fewer than two launches.</summary>
    /// <param name="statistic">Gets the numbers of the launches drawn, with repetition.</param>
    public static double[]? Interval(int launches, Func<IReadOnlyList<int>, double> statistic)
    {
        if (launches < 2)
            return null;
        var random = new MersenneTwister(Seed);
        var drawn = new int[launches];
        var values = new double[Resamples];
        for (var i = 0; i < Resamples; i++)
        {
            for (var j = 0; j < launches; j++)
                drawn[j] = random.Next(launches);
            values[i] = statistic(drawn);
        }
        Array.Sort(values);
        return
        [
            SortedArrayStatistics.QuantileCustom(values, 0.025, QuantileDefinition.EmpiricalInvCDF),
            SortedArrayStatistics.QuantileCustom(values, 0.975, QuantileDefinition.EmpiricalInvCDF),
        ];
    }

    /// <summary>The interval of the median of one figure per launch.</summary>
    public static double[]? OfMedian(IReadOnlyList<double> figures) =>
        Interval(figures.Count, drawn => Medians.Of(drawn.Select(i => figures[i]))!.Value);

    /// <summary>The interval of a rate: the sum of amounts over the sum of times.</summary>
    public static double[]? OfRate(IReadOnlyList<double> amounts, IReadOnlyList<double> times) =>
        Interval(amounts.Count, drawn => drawn.Sum(i => amounts[i]) / drawn.Sum(i => times[i]));
}
