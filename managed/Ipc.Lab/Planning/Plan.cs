using Ipc.Lab.Machine;

namespace Ipc.Lab.Planning;

/// <summary>Everything that decides a run, kept in plan.json so that an interrupted run goes on with exactly the same.</summary>
internal sealed record Plan
{
    public const int CurrentSchema = 1;

    public required int Schema { get; init; }
    /// <summary>The preset, or "chosen" when the user picked cells, or <see cref="Presets.OfClaims"/>.</summary>
    public required string Preset { get; init; }
    /// <summary>The claims whose cells these are (`--claim`); none where cells were picked otherwise.</summary>
    public IReadOnlyList<string> Claims { get; init; } = [];
    /// <summary>Decides the order of launches and the content of payloads.</summary>
    public required long Seed { get; init; }
    public required Schedule Schedule { get; init; }
    public required Pins Pins { get; init; }
    /// <summary>Whether idle processors are kept from halting while it is measured.</summary>
    public bool Awake { get; init; }
    /// <summary>Debug builds were asked for and are measured; everything is labelled so.</summary>
    public required bool Debug { get; init; }
    public required DateTimeOffset Started { get; init; }
    /// <summary>What workload `table` asks of the user's file; null: the registry's.</summary>
    public required TableEntry? Table { get; init; }
    /// <summary>Peers that are not the lab's own.</summary>
    public IReadOnlyList<ForeignPeer> Peers { get; init; } = [];
    /// <summary>What this run and the one whose launches alternate with its own have in common (`--against`); null: it runs alone.</summary>
    public string? Twin { get; init; }
    /// <summary>The tree whose programs are measured, where it is not the lab's own.</summary>
    public string? Tree { get; init; }
    public required IReadOnlyList<BinaryHash> Binaries { get; init; }
    public required IReadOnlyList<PlannedCell> Cells { get; init; }

    /// <summary>Cells that run here, by their place in <see cref="Cells"/>.</summary>
    public IEnumerable<int> Runnable() => Enumerable.Range(0, Cells.Count).Where(i => Cells[i].SkipReason is null);
}
