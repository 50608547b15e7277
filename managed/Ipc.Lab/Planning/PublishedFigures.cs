using CsvHelper;

namespace Ipc.Lab.Planning;

/// <summary>One row of reference/published-figures.csv: what somebody else measured on another machine. Never mixed into results.</summary>
internal sealed record PublishedFigure(
    string Source, string Machine, string Transport, string Pair, string Codec, string Scenario, long? Count, long? RequestBytes, long? ReplyBytes,
    double? Seconds, double? OpsPerSecond, double? NanosecondsPerOp, string Note)
{
    /// <summary>Mean nanoseconds of one operation, from whichever figure the source gives.</summary>
    public double? MeanNanoseconds =>
        NanosecondsPerOp ?? (OpsPerSecond is { } rate ? 1e9 / rate : Seconds is { } s && Count is { } n ? s * 1e9 / n : null);

    /// <summary>The cell that repeats this figure here, or the reason there is none.</summary>
    public (Cell? Cell, string WhyNot) ToCell()
    {
        if (Registry.Transports.All(t => t.Id != Transport))
            return (null, $"there is no transport '{Transport}'");
        if (Pair.Split(':').Any(side => Registry.Sides.All(s => s.Id != side)))
            return (null, $"there is no pair '{Pair}'");
        if (Pair.Split(':').Select(side => Registry.WhyNotAvailable(Transport, side)).FirstOrDefault(why => why.Length > 0) is { } unavailable)
            return (null, unavailable);
        if (Registry.Scenarios.All(s => s.Id != Scenario))
            return (null, $"there is no scenario '{Scenario}'");
        var kind = Registry.Transport(Transport).Kind;
        if (!Choices.ScenarioEntry(Scenario).Kinds.Contains(kind))
            return (null, $"scenario '{Scenario}' is not played over transports of kind {kind}, as '{Transport}' is");
        if (IsOneWay && RequestBytes is null)
            return (null, "the source states no message size");
        var workload = Registry.Workloads.FirstOrDefault(IsOfOurSizes);
        return workload is null
            ? (null, $"there is no workload of {RequestBytes} to {ReplyBytes} bytes with codec '{Codec}'")
            : (new Cell(Transport, Pair, Codec, Scenario, workload.Id, CountToRepeat), "");
    }

    // Nothing comes back, so only the message's own size says what was measured.
    private bool IsOneWay => Choices.ScenarioEntry(Scenario).Receiver is not null;

    // A source that gives a rate counted what it managed in its time; what it repeats is the time, not that count.
    private long? CountToRepeat => OpsPerSecond is null ? Count : null;

    // A source without sizes sent its two texts as JSON; only the workload with texts repeats that.
    private bool IsOfOurSizes(WorkloadEntry workload) =>
        workload.Scenarios.Contains(Scenario) && workload.Codecs.Contains(Codec)
        && (IsOneWay ? workload.RequestBytes == RequestBytes
            : RequestBytes is null && ReplyBytes is null
            ? workload.Text is not null
            : workload.RequestBytes == RequestBytes && workload.ReplyBytes == ReplyBytes);
}

/// <summary>Figures published elsewhere, carried inside the lab.</summary>
internal static class PublishedFigures
{
    private static readonly Lazy<IReadOnlyList<PublishedFigure>> s_all = new(Load);

    public static IReadOnlyList<PublishedFigure> All => s_all.Value;

    private static List<PublishedFigure> Load()
    {
        using var stream = typeof(PublishedFigures).Assembly.GetManifestResourceStream("ipc.published-figures.csv")!;
        using var csv = CsvReader.Create(stream, new CsvReaderOptions { Separator = ',', CommentPrefix = '#' });
        var figures = new List<PublishedFigure>();
        while (csv.Read())
        {
            figures.Add(new PublishedFigure(
                csv.GetString("source"), csv.GetString("machine"), csv.GetString("transport"), csv.GetString("pair"), csv.GetString("codec"),
                csv.GetString("scenario"), csv["count"].ParseOrNull<long>(), csv["request_bytes"].ParseOrNull<long>(), csv["reply_bytes"].ParseOrNull<long>(),
                csv["seconds"].ParseOrNull<double>(), csv["ops_per_second"].ParseOrNull<double>(), csv["nanoseconds_per_op"].ParseOrNull<double>(),
                csv.GetString("note")));
        }
        return figures;
    }
}
