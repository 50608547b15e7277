namespace Ipc.Lab.Planning;

/// <summary>What the user asked `ipc run` for, as parsed; nothing is checked yet. Empty lists and nulls mean "not said".</summary>
internal sealed record RunRequest
{
    public string? Preset { get; init; }
    /// <summary>Ids of claims in reference/claims.csv, whose cells are meant.</summary>
    public IReadOnlyList<string> Claims { get; init; } = [];
    public IReadOnlyList<string> Transports { get; init; } = [];
    public IReadOnlyList<string> Pairs { get; init; } = [];
    public IReadOnlyList<string> Codecs { get; init; } = [];
    public IReadOnlyList<string> Scenarios { get; init; } = [];
    public IReadOnlyList<string> Workloads { get; init; } = [];
    public int? Launches { get; init; }
    public double? Seconds { get; init; }
    public double? WarmupSeconds { get; init; }
    public string? Pin { get; init; }
    /// <summary>Whether idle processors are kept from halting.</summary>
    public bool Awake { get; init; }
    public long? Seed { get; init; }
    public TableRequest? Table { get; init; }
    public bool AllowDebug { get; init; }
    /// <summary>Whether everything works is asked, not how fast it is.</summary>
    public bool Check { get; init; }
    /// <summary>Measured seconds of the other tree's launches where they differ from this one's.</summary>
    public double? AgainstSeconds { get; init; }
    /// <summary>Peers that are not the lab's own.</summary>
    public IReadOnlyList<ForeignPeer> Peers { get; init; } = [];

    /// <summary>Whether the user picked cells on any axis.</summary>
    public bool PicksCells =>
        Claims.Count + Transports.Count + Pairs.Count + Codecs.Count + Scenarios.Count + Workloads.Count + Peers.Count > 0 || Table is not null;
}

/// <summary>A CSV file of the user's own and what to ask of it.</summary>
/// <param name="Header"><c>first</c> (the first row names the fields), <c>none</c> (fields are numbered from 1) or names separated by semicolons.</param>
/// <param name="Ids">Rows to ask for; empty: the first eight.</param>
/// <param name="Fields">Columns to ask for; empty: all but the first, which is the id.</param>
internal sealed record TableRequest(string File, string Separator, string Header, IReadOnlyList<string> Ids, IReadOnlyList<string> Fields);
