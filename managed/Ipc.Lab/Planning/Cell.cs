using System.Text.Json.Serialization;

namespace Ipc.Lab.Planning;

/// <summary>One transport x pair x codec x scenario x workload; Count is a published number of operations, null for a stated time.</summary>
/// <param name="Transport">Registry id with its options as in an address, e.g. <c>shm?wait=spin</c>; <c>none</c> without IPC.</param>
/// <param name="Pair">server:client; the same side twice for a process that plays alone.</param>
internal sealed record Cell(string Transport, string Pair, string Codec, string Scenario, string Workload, long? Count = null)
{
    /// <summary>The transport of a scenario without IPC.</summary>
    public const string NoTransport = "none";

    [JsonIgnore]
    public string TransportId => TransportSpec.IdOf(Transport);
    [JsonIgnore]
    public string ServerSide => Pair[..Pair.IndexOf(':', StringComparison.Ordinal)];
    [JsonIgnore]
    public string ClientSide => Pair[(Pair.IndexOf(':', StringComparison.Ordinal) + 1)..];
    /// <summary>The scenario as the registry has it.</summary>
    [JsonIgnore]
    public ScenarioEntry Scene => Choices.ScenarioEntry(Scenario);
    /// <summary>The workload as the registry has it.</summary>
    [JsonIgnore]
    public WorkloadEntry Load => Choices.WorkloadEntry(Workload);
    /// <summary>Whether the times of its operations may overlap: several are in flight, or each counts from when it was due.</summary>
    [JsonIgnore]
    public bool Overlaps => Load.Rate > 0 || Scene.InFlight > 1;
    /// <summary>Whether one process plays the scenario alone.</summary>
    [JsonIgnore]
    public bool IsAlone => Transport == NoTransport;

    /// <summary>The cell in words, unique within a plan.</summary>
    public override string ToString() =>
        $"{Transport} {Pair} {Codec} {Scenario} {Workload}{(Count is { } count ? $" x{count}" : "")}";

    /// <summary>The cell as part of a file name.</summary>
    public string ToFileName() =>
        string.Concat(ToString().Select(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '-' ? c : '_'));
}

/// <summary>A cell of a plan, with the reason it cannot run here, or null if it can.</summary>
internal sealed record PlannedCell(Cell Cell, string? SkipReason);
