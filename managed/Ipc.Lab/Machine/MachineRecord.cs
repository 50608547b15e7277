namespace Ipc.Lab.Machine;

/// <summary>What a peer says of itself in its `environment` event.</summary>
internal sealed record PeerEnvironment(string? Runtime, string? Compiler, string? Build, string? Library)
{
    /// <summary>Settings of its runtime that figures depend on; null where it names none.</summary>
    public IReadOnlyDictionary<string, string>? Settings { get; init; }
}

/// <summary>The processor as far as the system tells. Null means not known.</summary>
internal sealed record CpuRecord(
    string Model, int Cpus, int AllowedCpus, int AllowedCores, string? Governor, bool? Turbo, string? Clocksource,
    IReadOnlyList<CpuPlace> Places, IReadOnlyList<CpuCache> Caches)
{
    /// <summary>Within how many microseconds idle processors must wake, as other programs demand; null: nobody demands it, or this user may not know.</summary>
    public int? WakesWithinUs { get; init; }
}

/// <summary>The machine a run was measured on (docs/measurement.md). Sizes are bytes; null means not known or not limited.</summary>
internal sealed record MachineRecord
{
    public required string Name { get; init; }
    public required string System { get; init; }
    public required string Kernel { get; init; }
    public required string Architecture { get; init; }
    /// <summary>The hypervisor's name, "none" on bare metal.</summary>
    public required string Virtualisation { get; init; }
    /// <summary>"Wine" labels figures that prove behaviour, not speed.</summary>
    public required string? Wine { get; init; }
    public required CpuRecord Cpu { get; init; }
    public required long? MemoryBytes { get; init; }
    public required long? SwapBytes { get; init; }
    public required long? SwapUsedBytes { get; init; }
    public required string? TransparentHugePages { get; init; }
    public required long? HugePages { get; init; }
    public required long? HugePageBytes { get; init; }
    public required long? LockableMemoryBytes { get; init; }
    /// <summary>CPUs' worth of time the control group may use.</summary>
    public required double? CpuQuota { get; init; }
    public required double? LoadAverage { get; init; }
    /// <summary>Share of CPU time the hypervisor gave to others, in percent; over the whole run in results.</summary>
    public required double? StealPercent { get; init; }
    public required string LabRuntime { get; init; }
    /// <summary>What each peer program says of itself, by side.</summary>
    public required IReadOnlyDictionary<string, PeerEnvironment> Peers { get; init; }
    public required IReadOnlyList<BinaryHash> Binaries { get; init; }
}
