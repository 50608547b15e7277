using Ipc.Lab.Findings;

namespace Ipc.Lab.Planning;

/// <summary>A named choice of cells and schedule.</summary>
internal sealed record Preset(string Id, string Summary, Schedule Schedule, Func<IReadOnlyList<Cell>> Cells);

/// <summary>The presets, stated in registry words. Everything that is a list here is a choice; everything that is "all" comes from the registry.</summary>
internal static class Presets
{
    /// <summary>What a run of the cells of claims (`--claim`) says where others name their preset.</summary>
    public const string OfClaims = "claims";

    // From what fits a cache line to what fills the second cache, by tens.
    private static readonly string[] s_sizesOfCaches = [.. Registry.Workloads.Where(w => w.Scenarios.Contains("shuffled")).Select(w => w.Id)];

    public static IReadOnlyList<Preset> All { get; } =
    [
        new("quick", "our own transports and pairs of languages at the headline sizes, in 4 to 6 minutes",
            new Schedule(Launches: 6, WarmupSeconds: 0.10, Seconds: 0.10, BudgetSeconds: 225), QuickCells),
        new("seed", "the published workloads and counts, beside the published figures",
            new Schedule(Launches: 6, WarmupSeconds: 0.5, Seconds: 1.0, BudgetSeconds: null), SeedCells),
        new("reference", "what the figures of README and docs/findings.md are taken from",
            new Schedule(Launches: 6, WarmupSeconds: 0.10, Seconds: 0.15, BudgetSeconds: null), ReferenceCells),
        new("full", "everything in the registry, all pairs, every way to wait, each where it says something new, within two hours",
            new Schedule(Launches: 6, WarmupSeconds: 0.1, Seconds: 0.15, BudgetSeconds: 6_300), FullCells),
    ];

    /// <summary>What is measured when the user picks cells instead of a preset.</summary>
    public static Schedule ChosenCells { get; } =
        new(Launches: 6, WarmupSeconds: 0.3, Seconds: 0.5, BudgetSeconds: null);

    /// <summary>What is measured when the user names claims: launches differ more among themselves than within, so many short ones decide.</summary>
    public static Schedule CellsOfClaims { get; } =
        new(Launches: 30, WarmupSeconds: 0.10, Seconds: 0.15, BudgetSeconds: null);

    /// <summary>What `--check` plays of each cell, of a preset, too.</summary>
    public static Schedule CheckedCells { get; } =
        new(Launches: 1, WarmupSeconds: 0.05, Seconds: 0.1, BudgetSeconds: null) { ChecksOnly = true };

    /// <summary>One pair for each way two languages meet, and the C ABI against itself.</summary>
    public static IReadOnlyList<string> MainPairs { get; } = ["native:native", "native:managed", "managed:native", "managed:managed", "bound:bound"];

    /// <summary>The pairs of preset full.</summary>
    public static IReadOnlyList<string> FullPairs { get; } =
    [
        .. from server in Registry.Sides.Where(PlaysCalls) from client in Registry.Sides.Where(PlaysCalls)
           where (server.Runtime is null && client.Runtime is null) || server == client || server.Id == "native" || client.Id == "native"
           select $"{server.Id}:{client.Id}",
    ];

    /// <summary>Every side without a runtime of its own with every other: native, managed and bound.</summary>
    public static IReadOnlyList<string> NinePairs { get; } =
    [
        .. from server in Registry.Sides from client in Registry.Sides
           where server.Runtime is null && client.Runtime is null
           select $"{server.Id}:{client.Id}",
    ];

    private static bool PlaysCalls(SideEntry side) => side.Scenarios?.Contains("call") != false;

    public static Preset Get(string id) => All.First(p => p.Id == Choices.Check("preset", id, All.Select(q => q.Id)));

    // So few that four minutes give each its six launches where a managed pair starts, settles and ends within a second (Pace, on slower machines).
    private static List<Cell> QuickCells() =>
    [
        .. Grid.Cross(Grid.OwnTransports, ["native:native", "managed:managed"], ["raw"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["shm"], ["native:managed", "managed:native", "bound:bound"], ["raw"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["pipe"], ["native:managed"], ["raw"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["shm"], ["native:managed", "managed:managed"], ["custom"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["shm"], ["native:managed"], ["protobuf"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["pipe"], ["native:managed"], ["custom"], ["call"], ["1k-10k"]),
        .. Grid.Cross(["shm", "pipe"], ["native:native", "managed:managed"], ["raw"], ["call"], ["64"]),
        .. Grid.Cross(["shm"], ["native:native"], ["raw"], ["push"], ["push-1k"]),
        .. Grid.Cross(["shm"], ["native:managed"], ["custom"], ["call"], ["table"]),
        .. Grid.Cross(["shm"], ["native:managed"], ["custom"], ["batch"], ["batch-1", "batch-500"]),
        .. Grid.Cross(["shm"], ["native:managed"], ["raw"], ["paced"], ["paced-1k"]),
        .. Grid.Cross([], ["native:native", "managed:managed"], ["custom", "protobuf"], ["serialize"], ["1k-10k"]),
    ];

    private static List<Cell> ReferenceCells()
    {
        string[] alike = ["native:native", "managed:managed"];
        IEnumerable<Cell> cells =
        [
            .. Grid.Cross(Grid.OwnTransports, MainPairs, ["raw"], ["call"], ["64"]),
            .. Grid.Cross(Grid.OwnTransports, MainPairs, ["custom"], ["call"], ["1k-10k"]),
            // What a call of objects is taken apart by.
            .. Grid.Cross(["shm", "unix"], MainPairs, ["raw"], ["call"], ["1k-10k"]),
            .. Grid.Cross(Grid.OwnTransports, alike, ["raw"], ["call"], ["100k-1000k"]),
            .. Grid.Cross(["shm", "ring", "queue", "unix"], alike, ["raw"], ["oneway"], ["oneway-32"]),
            .. Grid.Cross([], alike, ["custom", "protobuf", "flatbuffers", "json"], ["serialize"], ["1k-10k"]),
            .. Grid.Cross(Grid.OwnTransports, alike, ["raw"], ["reconnect"], ["64"]),
            .. Grid.Cross(["pipe"], MainPairs, ["raw"], ["startup"], ["64"]),
            .. Grid.Cross(["shm"], alike, ["custom"], ["batch"], Choices.Workloads("batch")),
            .. Grid.Cross(["shm", "unix", "pipe"], NinePairs, ["raw"], ["pipelined-1", "pipelined-8", "pipelined"], ["64"]),
            .. Grid.Cross(Grid.AllWaits, ["native:native"], ["raw"], ["idle"], ["64"]),
            .. Grid.Cross(["shm", "shm?wait=spin", "shm?wait=block"], ["native:native"], ["raw"], ["paced"],
                ["paced-100", "paced-1k", "paced-10k", "paced-100k"]),
            .. CellsOfFindings(),
        ];
        return [.. cells.Distinct()];
    }

    // What docs/findings.md asks beyond what readers ask: the claims say it themselves.
    private static IEnumerable<Cell> CellsOfFindings() => PublishedClaims.All.Where(c => !c.NeedsWindows).SelectMany(c => c.Cells);

    private static List<Cell> SeedCells() => [.. PublishedFigures.All.Select(f => f.ToCell().Cell).OfType<Cell>().Distinct()];

    // Not the product of all axes, which is a day's work. What `reference` has, and beyond it: each pair over each transport, each way to wait, each codec,
    // each scenario. Sizes are those of the curves, not of every workload again. A launch with a managed side takes two seconds and more, most of them
    // until its runtime has settled: what differs by the transport alone is measured in C++ where it is many cells.
    private static List<Cell> FullCells()
    {
        string[] native = ["native:native"];
        string[] alike = [.. native, "managed:managed"];
        string[] withRuntimes = ["hosted:hosted", "managed-netfx:managed-netfx", "managed-aot:managed-aot"];
        IEnumerable<Cell> cells =
        [
            .. ReferenceCells(),
            .. Grid.Cross(Grid.AllWaits, alike, ["raw"], ["call"], ["64"]),
            .. Grid.Cross(Grid.AllTransports, NinePairs, ["raw"], ["call"], ["1k-10k"]),
            .. Grid.Cross(["shm"], FullPairs, ["raw"], ["call"], ["1k-10k"]),
            .. Grid.Cross(["pipe"], withRuntimes, ["raw"], ["call"], ["1k-10k"]),
            .. Grid.Cross(Grid.AllTransports.Except(Grid.OwnTransports), FullPairs, ["raw"], ["call"], ["1k-10k"]),
            .. Grid.Cross(Grid.AllTransports, native, ["raw"], ["call"], ["10k-100k", "100k-1000k"]),
            .. Grid.Cross(["shm", "pipe"], MainPairs.Except(["bound:bound"]), Grid.ObjectCodecs, ["call"], ["1k-10k"]),
            .. Grid.Cross(["shm"], alike, Grid.ObjectCodecs, ["call"], ["100k-1000k"]),
            .. Grid.Cross(["shm"], ["native:managed"], Grid.AllCodecs, ["call"], ["table", "ping"]),
            .. Grid.Cross(["shm"], native, ["raw"], ["call", "oneway", "push"], Grid.SingleWorkloads),
            .. Grid.Cross([], FullPairs, Grid.AllCodecs, ["serialize"], ["1k-10k", "100k-1000k"]),
            .. Grid.Cross(Grid.AllWaits, alike, ["raw"], ["oneway"], ["oneway-32"]),
            .. Grid.Cross(["shm"], NinePairs, ["raw"], ["oneway"], ["oneway-32"]),
            .. Grid.Cross(Grid.AllTransports, native, ["raw"], ["oneway-batch", "fanin"], ["oneway-32"]),
            .. Grid.Cross(["shm", "unix", "queue"], ["managed:managed"], ["raw"], ["oneway-batch", "fanin"], ["oneway-32"]),
            .. Grid.Cross(Grid.AllTransports, native, ["raw"], ["push", "reconnect", "ui-idle", "ui-busy", "ui-blocked"], Grid.SingleWorkloads),
            .. Grid.Cross(["pipe"], withRuntimes, ["raw"], ["startup"], ["64"]),
            .. Grid.Cross(["pipe"], ["managed-aot:managed-aot"], ["raw"], ["footprint"], ["64"]),
            .. Variants(),
            .. Curves(),
        ];
        return [.. cells.Distinct()];
    }

    // The same with another number of processes, or on other CPUs, is measured over the transports that it says most about.
    private static IEnumerable<Cell> Variants()
    {
        string[] native = ["native:native"];
        string[] alike = [.. native, "managed:managed"];
        return
        [
            .. Grid.Cross(["shm", "unix"], MainPairs, ["raw"], ["handler"], ["64"]),
            .. Grid.Cross(Grid.OwnTransports, alike, ["raw"], ["one-cpu"], ["1k-10k"]),
            // Beside the same calls with the same data each time: what caches give.
            .. Grid.Cross(["shm", "unix"], alike, ["raw"], ["call", "in-order", "shuffled"], s_sizesOfCaches),
            .. Grid.Cross(["pipe", "tcp"], native, ["raw"], ["call", "in-order", "shuffled"], s_sizesOfCaches),
            .. Grid.Cross(["shm", "unix"], Choices.ScenarioEntry("bitness").Pairs!, ["raw"], ["bitness"], ["64", "1k-10k", "100k-1000k"]),
            .. Grid.Cross(["pipe", "tcp", "shm-event"], Choices.ScenarioEntry("bitness").Pairs!.Where(p => !p.Contains("managed", StringComparison.Ordinal)),
                ["raw"], ["bitness"], ["64"]),
            .. Grid.Cross(["unix", "shm"], alike, ["raw"], ["footprint"], ["64"]),
            .. Grid.Cross(Grid.AllWaits, native, ["raw"], ["idle"], ["64"]),
            .. Grid.Cross(["shm", "unix"], alike, ["raw"], ["pipelined-256"], ["64"]),
            .. Grid.Cross(["shm"], alike, ["custom", "protobuf"], ["pipelined-1", "pipelined"], ["0.1k-1k"]),
            // A byte over a socket, a wake-up, spinning: what a confirmation costs is how its sender waits for it.
            .. Grid.Cross(["unix", "shm?wait=block", "shm-event", "shm?wait=spin"], native, ["raw"], ["push-many"], Choices.Workloads("push")),
            .. Grid.Cross(["shm"], native, ["raw"], Grid.VariantsOf("fanin"), ["oneway-32"]),
            .. Grid.Cross(["shm", "queue"], alike, ["raw"], ["fanin-16", "fanin-threads-16"], ["oneway-32"]),
            .. Grid.Cross(["broadcast"], native, ["raw"], ["broadcast-1", "broadcast-2", "broadcast-10"], ["oneway-32"]),
            .. Grid.Cross(["broadcast", "broadcast?policy=drop"], alike, ["raw"], ["broadcast", "broadcast-slow", "broadcast-dead"], ["oneway-32"]),
            .. Grid.Cross(["broadcast?wait=spin", "broadcast?wait=block"], native, ["raw"], ["broadcast"], ["oneway-32"]),
            .. Grid.Cross(["broadcast"], alike, ["raw"], ["broadcast-last"], ["publish-100", "publish-1k", "publish-10k"]),
            .. Grid.Cross(["broadcast"], native, ["raw"], ["broadcast-last-1", "broadcast-last-2", "broadcast-last-10"], ["publish-1k"]),
        ];
    }

    // A curve is many cells. Each is drawn where it says something new: over shared memory and a socket, and for buckets and rates by what else decides
    // them.
    private static IEnumerable<Cell> Curves()
    {
        string[] native = ["native:native"];
        var (batch, paced, sweep) = (Choices.Workloads("batch"), Choices.Workloads("paced"), Choices.Workloads("sweep"));
        return
        [
            .. Grid.Cross(["shm"], ["native:native", "managed:managed"], ["protobuf"], ["batch"], batch),
            .. Grid.Cross(["unix"], native, ["custom"], ["batch"], batch),
            .. Grid.Cross(["shm"], ["native:managed"], ["custom"], ["batch"], batch),
            .. Grid.Cross(["shm", "shm?wait=spin", "shm?wait=block", "unix"], native, ["raw"], ["paced"], paced),
            .. Grid.Cross(["shm", "unix"], native, ["raw"], ["call"], sweep),
        ];
    }
}
