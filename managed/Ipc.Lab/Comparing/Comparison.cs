using System.Text.Json.Serialization;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Comparing;

/// <summary>Two results compared, as `--json` prints it (docs/measurement.md, "Comparing two runs").</summary>
internal sealed record Comparison
{
    public const int CurrentSchema = 1;

    public int Schema { get; init; } = CurrentSchema;
    public required ComparedRun Base { get; init; }
    public required ComparedRun New { get; init; }
    /// <summary>Whether the launches of both were interleaved, and so are compared pair by pair.</summary>
    public required bool Paired { get; init; }
    /// <summary>What differs between machines or settings; compared all the same because the user said so.</summary>
    public required IReadOnlyList<string> Unlike { get; init; }
    public string Correction { get; init; } = Multiplicity.Method;
    public required double Level { get; init; }
    /// <summary>Ratios nearer to 1 are no difference that anybody would act on.</summary>
    public required double LeastDifference { get; init; }
    /// <summary>By how much the floors, which are no part of either tree, changed from one run to the other: by floor, a standard deviation of
    /// logarithms.</summary>
    public required IReadOnlyDictionary<string, double> Drift { get; init; }
    public required VerdictCounts Summary { get; init; }
    public required IReadOnlyList<TransportVerdict> Transports { get; init; }
    public required IReadOnlyList<CellVerdict> Cells { get; init; }
}

/// <param name="Path">As the user gave it.</param>
internal sealed record ComparedRun(string Path, string Machine, string Preset, DateTimeOffset Written, bool Complete, int Launches);

internal sealed record VerdictCounts(int Faster, int Slower, int NoDifference, int NotCompared, int NewlyFailed);

/// <summary>A transport's cells together: a change of all of them is seen where each by itself is lost in chance.</summary>
/// <param name="Faster">How many of its cells are, each by itself; so too <paramref name="Slower"/>.</param>
/// <param name="Ratio">The mean (geometric) of its cells' ratios.</param>
internal sealed record TransportVerdict(string Transport, string Verdict, double Ratio, double[] Interval, double PAdjusted, int Faster, int Slower, int Cells);

/// <summary>One cell in one placement, or in several together.</summary>
internal sealed record CellVerdict
{
    public const string Faster = "faster";
    public const string Slower = "slower";
    public const string NoDifference = "no difference";

    /// <summary>Which cell; in JSON its parts stand by themselves.</summary>
    [JsonIgnore]
    public Cell Cell
    {
        get => new(Transport, Pair, Codec, Scenario, Workload, Count);
        init => (Transport, Pair, Codec, Scenario, Workload, Count) = value;
    }
    public string Transport { get; init; } = "";
    public string Pair { get; init; } = "";
    public string Codec { get; init; } = "";
    public string Scenario { get; init; } = "";
    public string Workload { get; init; } = "";
    public long? Count { get; init; }
    /// <summary>near, middle or far, found in the line times of both runs together; several ("near and far") where none by itself has launches enough;
    /// null where they were not measured or are all alike.</summary>
    public string? Placement { get; init; }
    /// <summary>faster, slower or no difference; null where the cell could not be compared, for <see cref="Reason"/>.</summary>
    public string? Verdict { get; init; }
    public string? Reason { get; init; }
    /// <summary>Whether the base has figures and the new run failed.</summary>
    public bool NewlyFailed { get; init; }
    /// <summary>New by base: above 1 is slower.</summary>
    public double? Ratio { get; init; }
    public double[]? Interval { get; init; }
    public double? P { get; init; }
    /// <summary>What ratio, interval and p are of.</summary>
    [JsonIgnore]
    public RatioEstimate? Estimate { get; init; }
    /// <summary>P adjusted to the number of cells.</summary>
    public double? PAdjusted { get; init; }
    /// <summary>Null where the ratio is of several placements, as <see cref="NewP50Ns"/> then is.</summary>
    public double? BaseP50Ns { get; init; }
    public double? NewP50Ns { get; init; }
    public int BaseLaunches { get; init; }
    public int NewLaunches { get; init; }

    /// <summary>The cell in words.</summary>
    public string Name => $"{Cell}{(Placement is null ? "" : $" ({Placement})")}";
}
