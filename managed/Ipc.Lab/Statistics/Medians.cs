namespace Ipc.Lab.Statistics;

/// <summary>Medians of few figures.</summary>
internal static class Medians
{
    /// <summary>The median, the mean of the middle two of an even number; null of nothing.</summary>
    public static double? Of(IEnumerable<double> figures)
    {
        var all = figures.ToArray();
        return all.Length == 0 ? null : MathNet.Numerics.Statistics.Statistics.Median(all);
    }
}
