using Ipc.Lab.Machine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Results;

/// <summary>results.json. Field names are the snake_case forms; times are nanoseconds, sizes bytes; null means not measured or not applicable.</summary>
internal sealed record RunResults
{
    public const int CurrentSchema = 1;

    public required int Schema { get; init; }
    public required RunFacts Run { get; init; }
    public required MachineRecord Machine { get; init; }
    public required FloorFigures? Floors { get; init; }
    /// <summary>Why floors are missing, or null.</summary>
    public required string? FloorsReason { get; init; }
    public required IReadOnlyList<CellResult> Cells { get; init; }
}

/// <summary>How the run was made.</summary>
/// <param name="Build">"debug" labels figures that say nothing about speed.</param>
/// <param name="Complete">Whether every round is done; a run may be continued otherwise.</param>
internal sealed record RunFacts(
    string Preset, long Seed, Pins Pins, Schedule Schedule, string Build, DateTimeOffset Started, DateTimeOffset Written, int RoundsDone, bool Complete);

/// <summary>A figure of each process; null where a process has none.</summary>
internal sealed record BySide(double? Server, double? Client);

/// <summary>One cell's figures over all its launches.</summary>
internal sealed record CellResult
{
    public required string Transport { get; init; }
    public required string Pair { get; init; }
    public required string Codec { get; init; }
    public required string Scenario { get; init; }
    public required string Workload { get; init; }
    public required long? Count { get; init; }
    /// <summary>ok, failed, skipped, or pending in a run that was interrupted.</summary>
    public required string Status { get; init; }
    public required string? Reason { get; init; }
    /// <summary>"Wine 8.0" where the cell ran under Wine: it proves behaviour, not speed, and is never ranked with others. Null on a real system.</summary>
    public string? Wine { get; init; }
    /// <summary>What must stand beside this cell's figures, or null.</summary>
    public string? Note { get; init; }
    public long? Operations { get; init; }
    public int Launches { get; init; }
    /// <summary>Messages dropped for subscribers of a broadcast, which were told so; null where nothing may be dropped.</summary>
    public long? Lost { get; init; }
    /// <summary>Each launch's own median, in the order of the rounds.</summary>
    public IReadOnlyList<double> LaunchP50Ns { get; init; } = [];
    public double? P50Ns { get; init; }
    /// <summary>95 % interval, over launches, of the median launch's p50.</summary>
    public double[]? P50Ci95Ns { get; init; }
    public double? P90Ns { get; init; }
    public double? P99Ns { get; init; }
    public double? P999Ns { get; init; }
    public double? P9999Ns { get; init; }
    public double? MaxNs { get; init; }
    /// <summary>Operations by the sum of their timed regions; what a client does between two operations does not count. One-way messages: by
    /// the receiver's time from the first message to the last end mark; of a broadcast, what one subscriber receives.</summary>
    public double? OpsPerS { get; init; }
    public double[]? OpsPerSCi95 { get; init; }
    public double? BytesPerS { get; init; }
    public string? Floor { get; init; }
    public double? FloorNs { get; init; }
    /// <summary>The median, over the launches, of a launch's p50 by the floor of the same moment (docs/measurement.md).</summary>
    public double? FloorRatio { get; init; }
    /// <summary>How many launches that median is of.</summary>
    public int? FloorLaunches { get; init; }
    public double? ColdNs { get; init; }
    public BySide? CpuNsPerOp { get; init; }
    public BySide? VoluntarySwitchesPerOp { get; init; }
    public BySide? InvoluntarySwitchesPerOp { get; init; }
    public BySide? MinorFaultsPerOp { get; init; }
    public BySide? MajorFaultsPerOp { get; init; }
    public BySide? MemoryBytes { get; init; }
    /// <summary>Managed heap of both processes; null when neither has one.</summary>
    public double? AllocatedBytesPerOp { get; init; }
    public BySide? AllocatedBytesPerOpBySide { get; init; }
    public BySide? Collections { get; init; }
    public IReadOnlyDictionary<string, double?>? Phases { get; init; }
    public IReadOnlyList<string> Samples { get; init; } = [];
}
