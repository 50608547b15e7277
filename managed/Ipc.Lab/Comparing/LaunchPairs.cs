using Ipc.Lab.Results;

namespace Ipc.Lab.Comparing;

/// <summary>The launches of two interleaved runs, two by two.</summary>
internal static class LaunchPairs
{
    /// <summary>As many pairs as there are: launches of one round first, because what the machine did meanwhile it did to both. Then those whose
    /// counterpart was of another placement or had not settled, in the order of their rounds: like launches of two rounds differ by chance alone.</summary>
    /// <param name="first">Of one placement, and at most one of each round; so <paramref name="second"/>.</param>
    public static List<(double First, double Second)> Of(IEnumerable<LaunchFigures> first, IEnumerable<LaunchFigures> second,
        Func<LaunchFigures, double?> figure)
    {
        var (a, b) = (ByRound(first, figure), ByRound(second, figure));
        var both = a.Keys.Intersect(b.Keys).Order().ToList();
        return
        [
            .. both.Select(round => (a[round], b[round])),
            .. Left(a, both).Zip(Left(b, both)),
        ];
    }

    private static Dictionary<int, double> ByRound(IEnumerable<LaunchFigures> launches, Func<LaunchFigures, double?> figure) =>
        launches.Where(l => figure(l) > 0).ToDictionary(l => l.Round, l => figure(l)!.Value);

    private static IEnumerable<double> Left(Dictionary<int, double> figures, List<int> taken) =>
        figures.Where(f => !taken.Contains(f.Key)).OrderBy(f => f.Key).Select(f => f.Value);
}
