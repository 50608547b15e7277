using System.Text.Json.Serialization;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Results;

/// <summary>results.json (docs/results-schema.md). Field names are the snake_case forms; times are nanoseconds, sizes bytes; null means not measured or
/// not applicable.</summary>
internal sealed record RunResults
{
    public const int CurrentSchema = 2;

    public required int Schema { get; init; }
    public required RunFacts Run { get; init; }
    public required MachineRecord Machine { get; init; }
    /// <summary>The whole table of floors, measured once at the beginning: for orientation. Ratios are made of those around each launch.</summary>
    public required FloorFigures? Floors { get; init; }
    /// <summary>Why floors are missing, or null.</summary>
    public required string? FloorsReason { get; init; }
    /// <summary>How far apart the host put the two processors, as found in the line times of all launches; empty where they were not measured.</summary>
    public IReadOnlyList<PlacementFacts> Placements { get; init; } = [];
    public required IReadOnlyList<CellResult> Cells { get; init; }
}

/// <summary>How the run was made.</summary>
/// <param name="Build">"debug" labels figures that say nothing about speed.</param>
/// <param name="Complete">Whether every round is done; a run may be continued otherwise.</param>
/// <param name="Twin">The same in the two runs of `--against`, whose launches alternate; null in a run by itself.</param>
/// <param name="Awake">Whether idle processors were kept from halting (`--awake`).</param>
internal sealed record RunFacts(
    string Preset, long Seed, Pins Pins, Schedule Schedule, string Build, DateTimeOffset Started, DateTimeOffset Written, int RoundsDone, bool Complete,
    string? Twin = null, bool Awake = false)
{
    /// <summary>Whether the two processes had a processor each, in the state in which the machine usually has them.</summary>
    [JsonIgnore]
    public bool OnUsualProcessors => !Pins.AreOne && !Awake;
}

/// <summary>A group of launches with like line times.</summary>
/// <param name="Label">single, or near and far, or near, middle and far.</param>
/// <param name="LineNs">The median line time of its launches; <paramref name="LeastLineNs"/> and <paramref name="MostLineNs"/> enclose them.</param>
internal sealed record PlacementFacts(string Label, double LineNs, double LeastLineNs, double MostLineNs, int Launches);

/// <summary>A figure of each process; null where a process has none.</summary>
internal sealed record BySide(double? Server, double? Client);

/// <summary>One cell: what it is, what became of it, and its headline figures, which are those of its commonest placement.</summary>
internal sealed record CellResult : Figures
{
    public CellResult()
    {
    }

    /// <summary>A cell with these for its headline.</summary>
    public CellResult(Figures headline)
        : base(headline)
    {
    }

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
    /// <summary>ok, checked (by --check: no figures), unsteady (no launch settled: no figures), failed, skipped, or pending in a run that was
    /// interrupted.</summary>
    public required string Status { get; init; }
    public required string? Reason { get; init; }
    /// <summary>"Wine 8.0" where the cell ran under Wine: it proves behaviour, not speed, and is never ranked with others. Null on a real system.</summary>
    public string? Wine { get; init; }
    /// <summary>What must stand beside this cell's figures, or null.</summary>
    public string? Note { get; init; }
    /// <summary>The placement of the headline figures.</summary>
    public string? Placement { get; init; }
    /// <summary>The figures of each placement by itself, the commonest first.</summary>
    public IReadOnlyList<PlacementFigures> Placements { get; init; } = [];
    /// <summary>Every launch, in the order they were made.</summary>
    public IReadOnlyList<LaunchFigures> EachLaunch { get; init; } = [];

    /// <summary>The figures of one placement, or null: what may stand beside another cell's of the same one.</summary>
    public PlacementFigures? FiguresIn(string? placement) => Placements.FirstOrDefault(p => p.Placement == placement);
}
