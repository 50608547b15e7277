using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Tests.Reporting;

/// <summary>Results as a machine might have measured them, made from a seed: what they say is invented, their shape is the real one.</summary>
internal sealed class PlausibleResults(int seed)
{
    /// <summary>A reason that would run as script in a page that took text for markup.</summary>
    public const string HostileReason = "</script><img src=x onerror=\"console.error('reason ran')\"> HUNG: the server did not say 'ready' within 20 s";

    private const int Launches = 10;

    private readonly Random _random = new(seed);

    /// <summary>A whole machine with at most so many cells.</summary>
    public MachineReport Machine(string name = "testbox", int cells = int.MaxValue, string? wine = null) =>
        MachineReport.Of([new ReportRun($"{name}-full", Run(name, cells, wine))]).Single();

    /// <summary>A finished run.</summary>
    public RunResults Run(string name, int cells, string? wine = null)
    {
        var kept = Fakes.Kept(Fakes.Plan());
        var platform = wine is null ? "linux" : "windows";
        var all = Grid.Cross(
                Grid.AllWaits.Where(t => Registry.Transport(TransportSpec.IdOf(t)).Platforms.Contains(platform)),
                from server in Sides from client in Sides select $"{server}:{client}",
                Grid.AllCodecs, Grid.AllScenarios.Where(IsTold).Where(s => wine is not null || !s.StartsWith("ui-", StringComparison.Ordinal)),
                Grid.SingleWorkloads)
            .Concat(PublishedFigures.All.Select(f => f.ToCell().Cell).OfType<Cell>()).Distinct().ToList();
        // Whole pairs as far as they go: charts then have lines, not stray points.
        string[] first = ["native:managed", "native:native", "managed:managed"];
        var whole = all.OrderBy(c => c.Count is null).ThenBy(c => first.TakeWhile(p => p != c.Pair).Count()).ThenBy(c => c.Pair, StringComparer.Ordinal);
        var curves = Curves(platform).ToList();
        var taken = cells <= curves.Count ? [.. whole.Take(cells)] : whole.Take(cells - curves.Count).Concat(curves).ToList();
        return new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = new RunFacts("full", seed, new Pins(0, 1), new Schedule(Launches, 0.3, 0.5, null), "release", DateTimeOffset.UnixEpoch,
                DateTimeOffset.UnixEpoch, Launches, true),
            Machine = kept.Machine with
            {
                Name = name,
                Wine = wine,
                Virtualisation = "none",
                Cpu = kept.Machine.Cpu with { Model = $"Processor of {name}" },
                Peers = new Dictionary<string, PeerEnvironment> { ["native"] = new("native, glibc 2.36", "g++ 12.2.0", "release", "ipc ABI 1.1") },
                Binaries = [new BinaryHash("ipc-peer", new string('a', 64))],
            },
            Floors = new FloorFigures(100, new Dictionary<string, double> { ["64"] = 110 }, 7_000, 7_500, 7_400, 1e10, 20, null, null, null),
            FloorsReason = null,
            Placements = [new PlacementFacts("near", 100, 95, 110, taken.Count * 8), new PlacementFacts("far", 380, 350, 420, taken.Count * 2)],
            Cells = [.. taken.Select((cell, i) => CellOf(cell, i, wine))],
        };
    }

    // A few, and each of them whole; and sizes of somebody's own.
    private static IEnumerable<Cell> Curves(string platform) => Grid.Cross(
        ((string[])["shm", "shm?wait=spin", "pipe"]).Where(t => Registry.Transport(TransportSpec.IdOf(t)).Platforms.Contains(platform)),
        ["native:managed"], ["raw", "custom"], ["batch", "paced", "call", "oneway"],
        [.. Registry.Workloads.Where(w => w.Group is not null).Select(w => w.Id), "200-1500", "200-0"]);

    // Of scenarios that differ in a number only, some.
    private static bool IsTold(string scenario) =>
        !scenario.StartsWith("fanin-threads-", StringComparison.Ordinal) && scenario is not ("pipelined-8" or "pipelined-256");

    private static string[] Sides { get; } = ["native", "managed", "bound"];

    private CellResult CellOf(Cell cell, int index, string? wine)
    {
        var status = (index % 97) switch { 13 => "failed", 29 => "skipped", 53 => "unsteady", _ => "ok" };
        var reason = status switch
        {
            "failed" => HostileReason,
            "skipped" => $"transport '{cell.TransportId}' has no '{cell.ServerSide}' side",
            "unsteady" => "no launch settled within its bound: the runtime was still compiling",
            _ => null,
        };
        var launches = Enumerable.Range(0, status == "skipped" ? 0 : Launches).Select(round => LaunchOf(cell, round, status, reason)).ToList();
        var figures = status == "ok" ? Figures(cell, [.. launches.Where(l => l.Placement == "near")]) : new Figures();
        var placement = status == "ok" ? (index % 5 == 2 ? "far" : "near") : null;
        return new CellResult(figures)
        {
            Placements = status == "ok" ? [new PlacementFigures { Placement = placement, Launches = figures.Launches, P50Ns = figures.P50Ns,
                P50Ci = figures.P50Ci }] : [],
            Cell = cell,
            Status = status,
            Reason = reason,
            Wine = wine,
            Placement = placement,
            EachLaunch = launches,
        };
    }

    private LaunchFigures LaunchOf(Cell cell, int round, string status, string? reason)
    {
        var placement = round % 5 == 4 ? "far" : "near";
        var p50 = TimeOf(cell) * (placement == "far" ? 1.4 : 1) * Spread(0.06);
        return new LaunchFigures
        {
            Round = round,
            Status = status == "ok" ? "ok" : status,
            Reason = status == "ok" ? null : reason,
            Placement = placement,
            LineNs = placement == "far" ? 380 : 100,
            Operations = (long)(5e8 / p50),
            P50Ns = p50,
            P90Ns = p50 * 1.3 * Spread(0.05),
            P99Ns = p50 * 2.5 * Spread(0.2),
            P999Ns = p50 * 9 * Spread(0.3),
            P9999Ns = p50 < 50_000 ? p50 * 40 * Spread(0.5) : null,
            MaxNs = p50 * 400 * Spread(0.7),
            MeanNs = p50 * 1.1,
            OpsPerS = 0.85e9 / p50,
            FloorRatio = p50 / 110,
        };
    }

    private static Figures Figures(Cell cell, IReadOnlyList<LaunchFigures> launches)
    {
        double? Median(Func<LaunchFigures, double?> figure) =>
            launches.All(l => figure(l) is not null) ? Medians.Of(launches.Select(l => figure(l)!.Value)) : null;
        double[]? Interval(Func<LaunchFigures, double?> figure) =>
            launches.All(l => figure(l) is not null) ? MedianInterval.Of([.. launches.Select(l => figure(l)!.Value)]) : null;
        var p50 = Median(l => l.P50Ns)!.Value;
        var spins = cell.Transport.StartsWith("shm", StringComparison.Ordinal) && !cell.Transport.Contains("block", StringComparison.Ordinal);
        return new Figures
        {
            Launches = launches.Count,
            Coverage = MedianInterval.Coverage(launches.Count),
            Operations = launches.Sum(l => l.Operations),
            P50Ns = p50,
            P50Ci = Interval(l => l.P50Ns),
            P90Ns = Median(l => l.P90Ns),
            P90Ci = Interval(l => l.P90Ns),
            P99Ns = Median(l => l.P99Ns),
            P99Ci = Interval(l => l.P99Ns),
            P999Ns = Median(l => l.P999Ns),
            P999Ci = Interval(l => l.P999Ns),
            P9999Ns = Median(l => l.P9999Ns),
            P9999Ci = Interval(l => l.P9999Ns),
            MaxNs = launches.Max(l => l.MaxNs),
            MeanNs = Median(l => l.MeanNs),
            MeanCi = Interval(l => l.MeanNs),
            OpsPerS = Median(l => l.OpsPerS),
            OpsPerSCi = Interval(l => l.OpsPerS),
            LineNs = 100,
            Floor = "slot",
            FloorNs = 110,
            FloorRatio = Math.Round(p50 / 110, 3),
            FloorRatioCi = Interval(l => l.FloorRatio),
            FloorLaunches = launches.Count,
            ColdNs = 1e6,
            CpuNsPerOp = new BySide(spins ? p50 * 1.02 : p50 * 0.4 + 900, spins ? p50 : p50 * 0.35 + 900),
            MemoryBytes = new BySide(cell.ServerSide == "native" ? 3.4e6 : 41e6, cell.ClientSide == "native" ? 2.1e6 : 38e6),
            AllocatedBytesPerOp = cell.Pair == "native:native" ? null : 0,
            Phases = cell.IsAlone
                ? ((string[])["build_ns", "translate_ns", "encode_ns", "decode_ns", "traverse_ns"]).Select((name, i) => (name, share: 0.1 + 0.05 * i))
                    .ToDictionary(s => s.name, s => (double?)(s.share * p50))
                : null,
            Decomposition = cell.Scenario == "call"
                ? new Decomposition([new("encode", 0.2 * p50, "codec alone"), new("transfer", 0.5 * p50, "bytes of this size, raw"),
                    new("wake-up", 0.1 * p50, "futex floor"), new("decode", 0.15 * p50, "codec alone")], p50, 0.05 * p50)
                : null,
        };
    }

    // A fixed cost, a cost per byte, and factors of sides and codecs.
    private static double TimeOf(Cell cell)
    {
        var (fixedNs, perByte) = cell.TransportId switch
        {
            "shm" => (cell.Transport.Contains("block", StringComparison.Ordinal) ? 9_000.0 : 120, 0.12),
            "ring" or "queue" or "broadcast" => (60, 0.15),
            "shm-event" => (8_000, 0.15),
            "unix" => (7_500, 0.35),
            "pipe" => (7_800, 0.37),
            "fifo" => (7_900, 0.4),
            "tcp" => (11_000, 0.45),
            "boost-mq" => (9_500, 0.5),
            "iceoryx" => (6_500, 0.3),
            Cell.NoTransport => (300, 1.1),
            _ => (60_000, 0.9),
        };
        var entry = Choices.WorkloadEntry(cell.Workload);
        var bytes = Math.Max(entry.RequestBytes + entry.ReplyBytes, 100);
        if (cell.Scene.Receiver is not null)
            (fixedNs, bytes) = (fixedNs / (cell.Scene.Batch > 1 ? 40 : 12), entry.RequestBytes);
        var codec = cell.Codec switch { "raw" => 0, "custom" => 0.5, "protobuf" => 1.4, "protobuf-direct" => 1.0, _ => 4.0 };
        double Side(string side) => side switch { "native" => 1, "bound" => 1.15, _ => 1.3 };
        return (fixedNs + perByte * bytes + codec * bytes) * (Side(cell.ServerSide) + Side(cell.ClientSide)) / 2;
    }

    private double Spread(double by) => Math.Exp(by * (_random.NextDouble() - 0.5) * 2);
}
