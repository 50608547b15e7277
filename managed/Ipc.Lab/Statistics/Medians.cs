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

    /// <summary>The median; null if any figure is missing, because the median of the others would be of other launches.</summary>
    public static double? OfAll(IEnumerable<double?> figures)
    {
        var all = figures.ToList();
        return all.Contains(null) ? null : Of(all.OfType<double>());
    }
}
