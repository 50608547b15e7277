namespace Ipc.Lab.Statistics;

/// <summary>Finds how many kinds of line times there are, and which launches are of which kind.</summary>
/// <remarks>
/// The host of a virtual machine moves its processors: a cache line then takes 100 ns or 450, and everything made of cache lines follows. How far, and in
/// how many steps, is each machine's own, so the groups are looked for in the logarithms of the times: the split that leaves least variance inside,
/// taken if the two sides lie further apart than one group cut in two would (Ashman's D over 4; a normal one gives 2.7, a uniform one 3.5), and each
/// side looked at again. Medians and median deviations, so that stray launches make no group.
/// </remarks>
internal static class LineClusters
{
    // Enough to see the groups; more would take long.
    private const int Most = 600;
    private const double LeastDistance = 4;
    // Below this many there is no telling, and a group of less than this share is strays.
    private const int LeastOfGroup = 3;
    private const double LeastShare = 0.05;
    // Line times wander, from 95 to 150 ns here, without anybody having moved; in logarithms.
    private const double LeastSpread = 0.15;
    private const double DeviationOfNormal = 1.4826;

    /// <summary>The upper bounds of all groups but the last, ascending; none if the times are of one kind.</summary>
    public static IReadOnlyList<double> Bounds(IEnumerable<double> times)
    {
        var sorted = Thinned([.. times.Where(t => t > 0).Select(t => Math.Log(t)).Order()]);
        var least = Math.Max(LeastOfGroup, (int)Math.Ceiling(sorted.Length * LeastShare));
        if (sorted.Length < 2 * least)
            return [];
        var splits = new Splits(sorted, least);
        foreach (var ends in (int[][])[splits.IntoThree(), [splits.IntoTwo(0, sorted.Length).At]])
        {
            if (ends.Length > 0 && AreApart(sorted, ends))
                return [.. ends.Select(end => Math.Exp((sorted[end - 1] + sorted[end]) / 2))];
        }
        return [];
    }

    private static double[] Thinned(double[] sorted) =>
        sorted.Length <= Most ? sorted : [.. Enumerable.Range(0, Most).Select(i => sorted[(int)((long)i * sorted.Length / Most)])];

    private static bool AreApart(double[] sorted, int[] ends)
    {
        var groups = ends.Prepend(0).Zip(ends.Append(sorted.Length), (from, end) => sorted[from..end]).ToList();
        return groups.Zip(groups.Skip(1), (low, high) =>
            Middle(high) - Middle(low) > LeastDistance * Math.Sqrt((Square(SpreadOf(low)) + Square(SpreadOf(high))) / 2)).All(apart => apart);
    }

    private static double SpreadOf(double[] sorted)
    {
        var middle = Middle(sorted);
        return Math.Max(LeastSpread, DeviationOfNormal * Medians.Of(sorted.Select(v => Math.Abs(v - middle)))!.Value);
    }

    private static double Middle(double[] sorted) => Medians.Of(sorted)!.Value;

    private static double Square(double value) => value * value;

    /// <summary>The partitions of sorted values that leave the least variance inside, which are those with most between the means.</summary>
    private sealed class Splits
    {
        private readonly double[] _sums;
        private readonly int _least;

        public Splits(double[] sorted, int least)
        {
            _least = least;
            _sums = new double[sorted.Length + 1];
            for (var i = 0; i < sorted.Length; i++)
                _sums[i + 1] = _sums[i] + sorted[i];
        }

        public (int At, double Between) IntoTwo(int from, int end)
        {
            var best = (At: from + _least, Between: double.NegativeInfinity);
            for (var at = from + _least; at <= end - _least; at++)
            {
                if (Part(from, at) + Part(at, end) is var between && between > best.Between)
                    best = (at, between);
            }
            return best;
        }

        /// <summary>Empty where there are too few for three.</summary>
        public int[] IntoThree()
        {
            var (ends, most, end) = (Array.Empty<int>(), double.NegativeInfinity, _sums.Length - 1);
            for (var first = _least; first <= end - (2 * _least); first++)
            {
                var rest = IntoTwo(first, end);
                if (Part(0, first) + rest.Between is var between && between > most)
                    (ends, most) = ([first, rest.At], between);
            }
            return ends;
        }

        private double Part(int from, int end) => Square(_sums[end] - _sums[from]) / (end - from);
    }
}
