namespace Ipc.Lab.Results;

/// <summary>The figures of several launches of one cell, all of one placement. docs/results-schema.md says what each means. A figure is the
/// median over the launches of the launch's own figure; its <c>_ci</c> is the interval of that median, [low, high]; null where launches are
/// too few (<see cref="Coverage"/> is null then) or have not the figure.</summary>
internal record Figures
{
    /// <summary>How many launches the figures are of: settled ones of this placement.</summary>
    public int Launches { get; init; }
    /// <summary>How often intervals made this way hold the true value; null where launches are too few for any.</summary>
    public double? Coverage { get; init; }
    /// <summary>Of these launches together.</summary>
    public long? Operations { get; init; }
    /// <summary>Messages dropped for subscribers of a broadcast, which were told so; null where nothing may be dropped.</summary>
    public long? Lost { get; init; }

    /// <summary>Of several sending clients the messages a second of the slowest by those of the fastest; null where there are not several.</summary>
    public double? SlowestByFastest { get; init; }

    public double? P50Ns { get; init; }
    public double[]? P50Ci { get; init; }
    public double? P90Ns { get; init; }
    public double[]? P90Ci { get; init; }
    public double? P99Ns { get; init; }
    public double[]? P99Ci { get; init; }
    public double? P999Ns { get; init; }
    public double[]? P999Ci { get; init; }
    public double? P9999Ns { get; init; }
    public double[]? P9999Ci { get; init; }
    /// <summary>The slowest operation of all these launches; it has no interval.</summary>
    public double? MaxNs { get; init; }
    public double? MeanNs { get; init; }
    public double[]? MeanCi { get; init; }

    /// <summary>Operations by wall time: what the client does between two operations (making payloads, checking) included. One-way messages: by
    /// the receiver's time from the first message to the last end mark; of a broadcast, what one subscriber receives.</summary>
    public double? OpsPerS { get; init; }
    public double[]? OpsPerSCi { get; init; }
    /// <summary>One by the mean latency: what a client could do that does nothing between two operations. Null for one-way messages.</summary>
    public double? OpsPerSByMeanLatency { get; init; }
    public double[]? OpsPerSByMeanLatencyCi { get; init; }
    /// <summary>Payload, both ways, by wall time.</summary>
    public double? BytesPerS { get; init; }

    /// <summary>A cache line's round trip between the two processors around these launches.</summary>
    public double? LineNs { get; init; }
    /// <summary>The floor that bounds the cell, by its name in the registry, or oneway; null where nothing does.</summary>
    public string? Floor { get; init; }
    public double? FloorNs { get; init; }
    /// <summary>p50 by the floor measured right before and right after the same launch.</summary>
    public double? FloorRatio { get; init; }
    public double[]? FloorRatioCi { get; init; }
    /// <summary>How many launches the ratio is of.</summary>
    public int? FloorLaunches { get; init; }

    /// <summary>Connect plus first operation.</summary>
    public double? ColdNs { get; init; }
    public BySide? CpuNsPerOp { get; init; }
    public BySide? VoluntarySwitchesPerOp { get; init; }
    public BySide? InvoluntarySwitchesPerOp { get; init; }
    public BySide? MinorFaultsPerOp { get; init; }
    public BySide? MajorFaultsPerOp { get; init; }
    /// <summary>Proportional set size right after the measurement.</summary>
    public BySide? MemoryBytes { get; init; }
    /// <summary>Managed heap of both processes; null when neither has one.</summary>
    public double? AllocatedBytesPerOp { get; init; }
    public BySide? AllocatedBytesPerOpBySide { get; init; }
    /// <summary>Collections of all these launches together.</summary>
    public BySide? Collections { get; init; }
    public IReadOnlyDictionary<string, double?>? Phases { get; init; }
    /// <summary>Where the p50 goes; null where its steps were not measured in this run.</summary>
    public Decomposition? Decomposition { get; init; }
}

/// <summary>The figures of one placement of a cell that was launched in several.</summary>
internal sealed record PlacementFigures : Figures
{
    /// <summary>As in the results' <c>placements</c>; null where line times were not measured.</summary>
    public required string? Placement { get; init; }
}

/// <summary>Where a cell's p50 goes, in nanoseconds.</summary>
/// <param name="NotExplainedNs">The p50 less the steps; below zero where they add up to more.</param>
internal sealed record Decomposition(IReadOnlyList<DecompositionStep> Steps, double P50Ns, double NotExplainedNs)
{
    /// <summary>A step's nanoseconds; null where there is none of this name.</summary>
    public double? Of(string step) => Steps.FirstOrDefault(s => s.Name == step)?.Ns;
}

/// <summary>One step of a call.</summary>
/// <param name="Name">One of <see cref="Names"/>.</param>
/// <param name="How">How it was measured, for people.</param>
internal sealed record DecompositionStep(string Name, double Ns, string How)
{
    public static IReadOnlyList<string> Names { get; } = ["translate", "encode", "decode", "boundary", "transfer", "wake-up"];
}

/// <summary>One launch by itself: what comparisons resample, and the evidence for what was left out.</summary>
internal sealed record LaunchFigures
{
    public required int Round { get; init; }
    /// <summary>ok, checked, unsteady, moved or failed; only launches that are ok enter figures and ratios.</summary>
    public required string Status { get; init; }
    /// <summary>Why it is not ok.</summary>
    public string? Reason { get; init; }
    /// <summary>Whether it repeats an earlier launch of the same round that was not ok.</summary>
    public bool Repeated { get; init; }
    public string? Placement { get; init; }
    /// <summary>A cache line's round trip: the mean of right before and right after.</summary>
    public double? LineNs { get; init; }
    public double? FloorBeforeNs { get; init; }
    public double? FloorAfterNs { get; init; }
    public double? FloorRatio { get; init; }
    public long Operations { get; init; }
    public double? P50Ns { get; init; }
    public double? P90Ns { get; init; }
    public double? P99Ns { get; init; }
    public double? P999Ns { get; init; }
    public double? P9999Ns { get; init; }
    public double? MaxNs { get; init; }
    public double? MeanNs { get; init; }
    public double? OpsPerS { get; init; }
    public BySide? CpuNsPerOp { get; init; }
    public double? ColdNs { get; init; }
    /// <summary>Proportional set size right after the measurement.</summary>
    public BySide? MemoryBytes { get; init; }
    /// <summary>Managed heap of both processes; null when neither has one.</summary>
    public double? AllocatedBytesPerOp { get; init; }
    /// <summary>The steps of scenario serialize.</summary>
    public IReadOnlyDictionary<string, double?>? Phases { get; init; }
    /// <summary>The file of raw samples, relative to the results folder.</summary>
    public string? Samples { get; init; }
}
