using System.Text.Json.Serialization;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Running;

/// <summary>What a process used before and after the measured operations.</summary>
internal sealed record UsageSpan(Usage? Before, Usage? After)
{
    /// <summary>What several processes used together.</summary>
    public static UsageSpan Sum(IEnumerable<UsageSpan> spans) =>
        spans.Aggregate((a, b) => new UsageSpan(Usage.Sum(a.Before, b.Before), Usage.Sum(a.After, b.After)));
}

/// <summary>What one launch gave: one line of launches.jsonl. A failed launch has a reason and no figures.</summary>
internal sealed record LaunchRecord
{
    private const double MostBetweenFloors = 1.25;

    /// <summary>The cell's place in the plan.</summary>
    public required int Cell { get; init; }
    public required int Round { get; init; }
    /// <summary>ok; checked, unsteady or moved, which keep their figures out of the cell's; or failed.</summary>
    public required string Status { get; init; }
    /// <summary>Whether it repeats one of the same round that was not ok.</summary>
    public bool Repeated { get; init; }
    /// <summary>A cache line's round trip right before and right after; null if not measured.</summary>
    public IReadOnlyList<double>? LinesAroundNs { get; init; }
    /// <summary>Whether the two differ by more than a quarter: the host moved the processors meanwhile, and there is nothing to hold the launch
    /// against.</summary>
    [JsonIgnore]
    public bool FloorsDiffer => FloorsAroundNs is [var before, var after] && Math.Max(before, after) > MostBetweenFloors * Math.Min(before, after);
    /// <summary>The mean of the lines.</summary>
    [JsonIgnore]
    public double? LineNs => LinesAroundNs is [var before, var after] ? (before + after) / 2 : null;
    public string? Reason { get; init; }
    public LaunchTiming? Timing { get; init; }
    /// <summary>Of scenario `batch`: objects, of which a sample has a bucket full.</summary>
    public long Operations { get; init; }
    /// <summary>The client's own time from its first to its last operation, checking included.</summary>
    public long ElapsedNs { get; init; }
    /// <summary>The sum of all samples: the timed regions alone.</summary>
    public long TimedNs { get; init; }
    /// <summary>Request and reply bytes moved.</summary>
    public long Bytes { get; init; }
    /// <summary>Messages that a broadcast dropped for its subscribers and told them so.</summary>
    public long Lost { get; init; }
    /// <summary>Of several sending clients the messages a second of the slowest by those of the fastest; null where there are not several.</summary>
    public double? SlowestByFastest { get; init; }
    /// <summary>The floor of this cell right before and right after the launch, in nanoseconds; null if not measured.</summary>
    public IReadOnlyList<double>? FloorsAroundNs { get; init; }
    /// <summary>Connect plus first operation.</summary>
    public long? ColdNs { get; init; }
    public UsageSpan? Server { get; init; }
    public UsageSpan? Client { get; init; }
    /// <summary>Exchanges the server served between its two usages: a few more than were measured.</summary>
    public long? ServerOperations { get; init; }
    /// <summary>The numbers of a `phases` event (scenario serialize).</summary>
    public IReadOnlyDictionary<string, double?>? Phases { get; init; }
    /// <summary>The file of raw samples, relative to the results folder.</summary>
    public string? Samples { get; init; }

    public static LaunchRecord Failed(int cell, int round, PeerFailure failure) =>
        new() { Cell = cell, Round = round, Status = "failed", Reason = failure.Message };
}
