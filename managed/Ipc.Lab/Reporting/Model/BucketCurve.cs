using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Scenario `batch` over one transport, pair and codec: how the time of an object falls and rises with the bucket it travels in.</summary>
/// <param name="Points">By bucket, the smallest first; all have figures.</param>
internal sealed record BucketCurve(string Transport, string Pair, string Codec, IReadOnlyList<CellResult> Points)
{
    /// <summary>Which bucket is best, by the rule of all answers: others between which and the best there is no difference are tied with it.</summary>
    public Verdict Verdict { get; } = Verdict.Of(Points)!;

    /// <summary>How often as many objects the best bucket lets pass as they do one by one; null where these were not measured, or where it is they that
    /// are best.</summary>
    public double? Gain => Single is { P50Ns: { } single } && Best.P50Ns is { } best && Best != Single ? single / best : null;

    /// <summary>By the intervals of both: the least and the most that the gain may be.</summary>
    public double[]? GainCi => Gain is not null && Single?.P50Ci is [var low, var high] && Best.P50Ci is [var from, var to] ? [low / to, high / from] : null;

    private CellResult Best => Verdict.Best;
    private CellResult? Single => Points.FirstOrDefault(c => BucketOf(c) == 1);

    /// <summary>The best bucket in words: of several between which there is no difference the smallest, because it makes nobody wait.</summary>
    public string BestText => Verdict switch
    {
        { IsCertain: false } => $"{BucketOf(Best)}?",
        { Tied.Count: 1 } => $"{BucketOf(Best)}",
        _ => string.Join(" = ", Verdict.Tied.Select(BucketOf).Order()),
    };

    /// <summary>The gain in words.</summary>
    public string GainText =>
        Gain is null ? Units.Unknown : $"{Units.Ratio(Gain)} x{(GainCi is { } ci ? $" ({Units.Ratio(ci[0])} .. {Units.Ratio(ci[1])})" : "")}";

    /// <summary>Objects that go together.</summary>
    public static int BucketOf(CellResult cell) => Choices.WorkloadEntry(cell.Workload).Bucket;

    /// <summary>The curves of which there are two points at least.</summary>
    public static IReadOnlyList<BucketCurve> Of(IEnumerable<CellResult> cells) =>
    [
        .. cells.Where(c => c is { Scenario: "batch", Status: "ok", P50Ns: not null, Count: null })
            .GroupBy(c => (c.Transport, c.Pair, c.Codec)).Where(g => g.Count() > 1)
            .Select(g => new BucketCurve(g.Key.Transport, g.Key.Pair, g.Key.Codec, [.. g.OrderBy(BucketOf)])),
    ];
}
