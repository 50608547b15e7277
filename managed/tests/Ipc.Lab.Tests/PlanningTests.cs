using Ipc.Lab.Findings;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class PlanningTests
{
    private static readonly CpuTopology s_twoCpus = new([0, 1], [new CpuPlace(0, 0, 0, "0-1"), new CpuPlace(1, 1, 0, "0-1")], []);

    private static Plan PlanOf(RunRequest request) => Planner.Make(request, s_twoCpus, DateTimeOffset.UnixEpoch);

    private static string MistakeOf(RunRequest request) => Assert.Throws<UserMistakeException>(() => PlanOf(request)).Message;

    [Fact]
    public void QuickCoversEveryTransportAndPairAtTheHeadlineSizeWithRoomForTwelveLaunchesOfEach()
    {
        var cells = Presets.Get("quick").Cells();
        var schedule = Presets.Get("quick").Schedule;

        foreach (var transport in Registry.Transports.Where(IsQuick))
        {
            foreach (var pair in (string[])["native:native", "managed:managed"])
                Assert.Contains(new Cell(transport.Id, pair, "raw", "call", "1k-10k"), cells);
        }
        foreach (var pair in Presets.MainPairs)
            Assert.Contains(new Cell("shm", pair, "raw", "call", "1k-10k"), cells);
        Assert.Equal(4, cells.Count(c => c is { Scenario: "serialize", Transport: Cell.NoTransport, Workload: "1k-10k" }));
        Assert.Single(cells, c => c.Workload == "table");
        Assert.InRange(12 * cells.Count * (0.3 + schedule.WarmupSeconds + schedule.Seconds), 0, schedule.BudgetSeconds!.Value);
        Assert.Equal(6, schedule.Launches);
        Assert.Equal(cells.Count, cells.Distinct().Count());
    }

    private static bool IsQuick(TransportEntry transport) =>
        transport.Kind == "channel" && transport.Module is null && transport.Platforms.Contains("linux");

    [Fact]
    public void AClaimIsPlannedWithEveryCellItIsJudgedByThirtyLaunchesEach()
    {
        var plan = PlanOf(new RunRequest { Claims = ["managed-client"] });

        Assert.Equal(PublishedClaims.WithCells("managed-client").Cells, plan.Cells.Select(c => c.Cell));
        Assert.Equal(12, plan.Cells.Count);
        Assert.Equal(30, plan.Schedule.Launches);
        Assert.Equal(["managed-client"], plan.Claims);
        Assert.Equal(4, PlanOf(new RunRequest { Claims = ["managed-client", "managed-server"], Transports = ["shm"], Workloads = ["64"], Launches = 4 })
            .Schedule.Launches);
        // What both name is measured once.
        Assert.Equal(3, PlanOf(new RunRequest { Claims = ["managed-client", "managed-server"], Transports = ["shm"], Workloads = ["64"] }).Cells.Count);
    }

    [Fact]
    public void AClaimThatCannotBeMeasuredIsRefused()
    {
        Assert.StartsWith("there is no claim 'x'; the claims are serialization-outweighs, ", MistakeOf(new RunRequest { Claims = ["x"] }),
            StringComparison.Ordinal);
        Assert.Equal("claim 'cloudtoid-windows' has no cells: it needs both systems on one machine",
            MistakeOf(new RunRequest { Claims = ["cloudtoid-windows"] }));
        Assert.Equal("claim 'window-messages' speaks of Windows: measure it there, or, for the order of cost under Wine, by "
            + "scripts/ipc-windows run --claim window-messages", MistakeOf(new RunRequest { Claims = ["window-messages"] }));
        Assert.Equal("claim 'wcf-against-shared-memory' speaks of Windows: measure it there",
            MistakeOf(new RunRequest { Claims = ["wcf-against-shared-memory"] }));
        Assert.Equal("--claim names its cells itself; omit --preset, --peer and --table, or omit --claim",
            MistakeOf(new RunRequest { Claims = ["streaming"], Preset = "quick" }));
        Assert.Equal("no cell of claim streaming fits the other choices; omit these",
            MistakeOf(new RunRequest { Claims = ["streaming"], Transports = ["tcp"] }));
    }

    [Theory, InlineData("ui-idle"), InlineData("ui-busy"), InlineData("ui-blocked")]
    public void AScenarioOfAnotherSystemIsPlannedAndSaidNotToRun(string scenario)
    {
        var plan = PlanOf(new RunRequest { Transports = ["unix"], Pairs = ["native:managed"], Scenarios = [scenario] });

        var cell = Assert.Single(plan.Cells);
        Assert.Equal(("raw", "0.1k-1k"), (cell.Cell.Codec, cell.Cell.Workload));
        Assert.Equal($"scenario '{scenario}' is played on windows, not on linux", cell.SkipReason);
    }

    [Fact]
    public void AScenarioIsPlayedWithItsCodecsOnly()
    {
        Assert.Equal("scenario 'ui-idle' is played with codec raw, not with custom",
            MistakeOf(new RunRequest { Scenarios = ["ui-idle"], Codecs = ["custom"] }));
        Assert.All(Presets.Get("full").Cells().Where(c => c.Scenario.StartsWith("ui-", StringComparison.Ordinal)), c => Assert.Equal("raw", c.Codec));
    }

    [Theory, InlineData("memorypack"), InlineData("messagepack")]
    public void ACodecOfOneLanguageIsMeasuredAloneAndThereOnly(string codec)
    {
        var cell = Assert.Single(PlanOf(new RunRequest { Codecs = [codec], Scenarios = ["serialize"], Workloads = ["1k-10k"] }).Cells).Cell;
        Assert.Equal(new Cell(Cell.NoTransport, "managed:managed", codec, "serialize", "1k-10k"), cell);
        var refusal = $"codec '{codec}' is measured in scenario serialize of side managed, with workloads that have objects; see `ipc list codecs`";
        Assert.Equal(refusal, MistakeOf(new RunRequest { Codecs = [codec], Scenarios = ["call"], Workloads = ["1k-10k"] }));
        Assert.Equal(refusal, MistakeOf(new RunRequest { Codecs = [codec], Pairs = ["native:native"], Scenarios = ["serialize"] }));
        Assert.Contains(PlanOf(new RunRequest { Scenarios = ["serialize"] }).Cells, c => c.Cell.Codec == codec);
    }

    [Fact]
    public void WithoutAnyWishQuickIsPlanned() =>
        Assert.Equal(("quick", 225.0), (PlanOf(new RunRequest()).Preset, PlanOf(new RunRequest()).Schedule.BudgetSeconds));

    [Fact]
    public void StatedTimesAreKeptToWhateverTheBudget()
    {
        var schedule = PlanOf(new RunRequest { WarmupSeconds = 0.05, Seconds = 7 }).Schedule;

        Assert.Equal((0.05, 7.0, null), (schedule.WarmupSeconds, schedule.Seconds, schedule.BudgetSeconds));
        Assert.Null(PlanOf(new RunRequest { WarmupSeconds = 0.05 }).Schedule.BudgetSeconds);
    }

    [Fact]
    public void SeedRunsEveryPublishedFigureThatExistsHereAndSaysWhyNotOtherwise()
    {
        var cells = Presets.Get("seed").Cells();

        Assert.Contains(new Cell("pipe", "native:native", "raw", "call", "1k-10k", 1000), cells);
        Assert.Contains(new Cell("pipe", "native:managed", "custom", "call", "0.1k-1k", 2000), cells);
        Assert.Contains(new Cell("pipe", "native:native", "raw", "push", "push-10k", 1000), cells);
        Assert.Contains(new Cell("unix", "native:native", "raw", "call", "ping"), cells);
        Assert.Contains(new Cell("shm-event", "native:native", "json", "call", "ping"), cells);
        Assert.Contains(new Cell("shm-event", "managed:managed", "raw", "call", "256k"), cells);
        Assert.All(PublishedFigures.All, f => Assert.NotEqual(f.ToCell().Cell is null, f.ToCell().WhyNot.Length == 0));
        Assert.All(PublishedFigures.All, f => Assert.NotNull(f.MeanNanoseconds));
        Assert.Contains(PublishedFigures.All, f => f.ToCell().WhyNot == "transport 'msrpc-np' exists on windows, not on linux");
    }

    // Not every combination, which would be a day's work: everything there is, somewhere.
    [Fact]
    public void FullHasEverythingOfTheRegistryAndFitsIntoTwoHours()
    {
        var preset = Presets.Get("full");
        var cells = preset.Cells();

        Assert.Equal(cells.Count, cells.Distinct().Count());
        Assert.Equal(Registry.Scenarios.Select(s => s.Id).Order(), cells.Select(c => c.Scenario).Distinct().Order());
        Assert.Equal(Registry.Workloads.Select(w => w.Id).Order(), cells.Select(c => c.Workload).Distinct().Order());
        Assert.Equal(Registry.Codecs.Select(c => c.Id).Order(), cells.Select(c => c.Codec).Distinct().Order());
        string[] otherOptions = ["broadcast?policy=drop"];
        Assert.Equal(Grid.AllWaits.Concat(otherOptions).Order(), cells.Where(c => !c.IsAlone).Select(c => c.Transport).Distinct().Order());
        // Nine pairs of native, managed and bound; three of each side that is another one run in another way: hosted, two of netfx, managed-aot.
        Assert.Equal(Presets.FullPairs.Union(Choices.ScenarioEntry("bitness").Pairs!).Order(), cells.Select(c => c.Pair).Distinct().Order());
        Assert.Equal(9 + (4 * 3), Presets.FullPairs.Count);
        Assert.Equal(9, Presets.NinePairs.Count);
        foreach (var wait in Grid.AllWaits.Where(w => Grid.KindOf(w) is "channel" or "call"))
            Assert.All(["native:native", "managed:managed"], (string pair) => Assert.Contains(new Cell(wait, pair, "raw", "call", "64"), cells));
        foreach (var transport in Grid.AllTransports.Where(t => Grid.KindOf(t) is "channel" or "call"))
            Assert.All(Presets.NinePairs, pair => Assert.Contains(new Cell(transport, pair, "raw", "call", "1k-10k"), cells));
        Assert.Subset(cells.ToHashSet(), Presets.Get("reference").Cells().ToHashSet());
        // Of curves some, each of them whole, but for what findings ask.
        var curves = cells.Where(c => c.Load.Group is not null).GroupBy(c => (c.Transport, c.Pair, c.Codec, c.Scenario, c.Load.Group))
            .Where(curve => curve.Count() > 2);
        Assert.All(curves, curve => Assert.Equal(Choices.Workloads(curve.Key.Group!).Order(), curve.Select(c => c.Workload).Order()));
        Assert.InRange(preset.Schedule.BudgetSeconds!.Value, 1, 2 * 3600);
    }

    // Without a pair it means its own, and which those are is said to whoever asks for others.
    [Fact]
    public void BitnessNamesItsPairs()
    {
        var request = new RunRequest { Transports = ["unix"], Scenarios = ["bitness"], Workloads = ["64"] };

        Assert.Equal(Choices.ScenarioEntry("bitness").Pairs!.Order(), PlanOf(request).Cells.Select(c => c.Cell.Pair).Order());
        Assert.Equal("native-x86:managed", Assert.Single(PlanOf(request with { Pairs = ["native-x86:managed", "bound:bound"] }).Cells).Cell.Pair);
        Assert.Equal("scenario 'bitness' is played between native:native, native-x86:native, native:native-x86, native-x86:native-x86, managed:managed, "
            + "native-x86:managed, managed:native-x86, not between bound:bound", MistakeOf(request with { Pairs = ["bound:bound"] }));
        Assert.Equal("side 'native-x86' plays bitness: for all others see side 'native'",
            Assert.Single(PlanOf(request with { Scenarios = ["call"], Pairs = ["native-x86:native"] }).Cells).SkipReason);
    }

    [Fact]
    public void OneCpuIsThatOfTheServer()
    {
        var cell = new Cell("shm", "native:managed", "raw", "one-cpu", "64");
        var pins = new Pins(1, 0) { MoreClients = [2] };

        Assert.Equal((1, 1), (pins.For(cell.Scene).Server, pins.For(cell.Scene).Client));
        Assert.Same(pins, pins.For(Choices.ScenarioEntry("call")));
        var request = new RunRequest { Transports = ["shm"], Pairs = ["native:managed"], Scenarios = ["one-cpu"], Workloads = ["64"] };
        Assert.Null(Assert.Single(PlanOf(request).Cells).SkipReason);
        Assert.Equal("scenario 'one-cpu' pins both processes to one CPU, and `--pin none` pins none",
            Assert.Single(PlanOf(request with { Pin = "none" }).Cells).SkipReason);
    }

    // Who names a curve, or a scenario that is one, means all its points; one point can be named as well.
    [Theory]
    [InlineData("batch", null, "batch", 6)]
    [InlineData("paced", null, "paced", 6)]
    [InlineData(null, "sweep", "call", 25)]
    [InlineData(null, "paced", "paced", 6)]
    [InlineData(null, "batch-500", "batch", 1)]
    public void ACurveIsPlannedWhole(string? scenario, string? workload, string played, int points)
    {
        var plan = PlanOf(new RunRequest
        {
            Transports = ["unix"],
            Pairs = ["native:managed"],
            Scenarios = scenario is null ? [] : [scenario],
            Workloads = workload is null ? [] : [workload],
        });
        Assert.Equal(points, plan.Cells.Count);
        Assert.All(plan.Cells, c => Assert.Equal(played, c.Cell.Scenario));
    }

    [Fact]
    public void ASweepGoesFromOneByteToSixteenMebibytesInPowersOfTwo()
    {
        var sizes = Choices.Workloads("sweep").Select(Choices.WorkloadEntry).ToList();
        Assert.Equal(Enumerable.Range(0, 25).Select(power => 1 << power), sizes.Select(w => w.RequestBytes));
        Assert.All(sizes, w => Assert.Equal(w.RequestBytes, w.ReplyBytes));
    }

    // Five calls at least, however seldom they are; and no longer than asked where they are frequent.
    [Theory]
    [InlineData("paced-1", 5), InlineData("paced-10", 0.5), InlineData("paced-100", 0.2), InlineData("paced-100k", 0.2), InlineData("64", 0.2)]
    public void APacedCellLastsLongEnoughForAMedian(string workload, double seconds) =>
        Assert.Equal(seconds, new LaunchTiming(0.1, 0.2).For(Choices.WorkloadEntry(workload)).Seconds, 6);

    [Fact]
    public void ChosenAxesAreCrossed()
    {
        var plan = PlanOf(new RunRequest { Transports = ["shm?wait=spin", "unix"], Pairs = ["native:managed"], Workloads = ["64", "push-1k"] });

        Assert.Equal(
            [
                new Cell("shm?wait=spin", "native:managed", "raw", "call", "64"), new Cell("unix", "native:managed", "raw", "call", "64"),
                new Cell("shm?wait=spin", "native:managed", "raw", "push", "push-1k"), new Cell("unix", "native:managed", "raw", "push", "push-1k"),
            ],
            plan.Cells.Select(c => c.Cell));
    }

    [Fact]
    public void OneWayScenariosArePickedByNameOrByTheirWorkload()
    {
        var named = PlanOf(new RunRequest
        {
            Transports = ["shm"],
            Pairs = ["native:native"],
            Scenarios = ["oneway", "oneway-batch"],
            Workloads = ["oneway-32"]
        });
        var implied = PlanOf(new RunRequest { Transports = ["shm"], Pairs = ["native:native"], Workloads = ["oneway-32", "oneway-0.1k"] });
        var fanin = PlanOf(new RunRequest { Transports = ["unix"], Pairs = ["bound:managed"], Scenarios = ["fanin"] });

        Assert.Equal(["shm native:native raw oneway oneway-32", "shm native:native raw oneway-batch oneway-32"], named.Cells.Select(c => c.Cell.ToString()));
        // Over a channel the 100 bytes are a push, as before; a queue can only take them one way.
        Assert.Equal(["shm native:native raw oneway oneway-32", "shm native:native raw push oneway-0.1k"], implied.Cells.Select(c => c.Cell.ToString()));
        Assert.Equal(["unix bound:managed raw fanin oneway-32"], fanin.Cells.Select(c => c.Cell.ToString()));
    }

    [Fact]
    public void EveryTransportGetsAScenarioItsKindCanPlay()
    {
        foreach (var transport in Registry.Transports)
        {
            var plan = PlanOf(new RunRequest { Transports = [transport.Id], Workloads = ["oneway-0.1k"], Pairs = ["native:native"] });

            Assert.Contains(transport.Kind, Assert.Single(plan.Cells).Cell.Scene.Kinds);
        }
    }

    [Fact]
    public void OneWayScenariosStayOutOfQuickAndAreInFull()
    {
        Assert.DoesNotContain(Presets.Get("quick").Cells(), c => c.Scene.Receiver is not null);
        foreach (var scenario in (string[])["oneway", "oneway-batch", "fanin"])
            Assert.Contains(new Cell("shm", "managed:managed", "raw", scenario, "oneway-32"), Presets.Get("full").Cells());
    }

    [Fact]
    public void AScenarioNoChosenTransportCanPlayIsAMistakeThatSaysWhich() => Assert.Equal(
        "scenario 'broadcast' is played over broadcast transports, and 'shm' is of kind channel; see `ipc list transports`",
        MistakeOf(new() { Scenarios = ["broadcast"], Transports = ["shm"] }));

    [Fact]
    public void SeveralClientsShareTheCpusThatTheServerLeaves()
    {
        var fourCpus = new CpuTopology([0, 1, 2, 3], [.. Enumerable.Range(0, 4).Select(i => new CpuPlace(i, i, 0, "0-3"))], []);

        Assert.Equal([1, 2, 3, 1], Enumerable.Range(0, 4).Select(i => Pins.Choose(null, fourCpus).ForClient(i)!.Value));
        Assert.Equal([1, 1], Enumerable.Range(0, 2).Select(i => Pins.Choose(null, s_twoCpus).ForClient(i)!.Value));
        Assert.Equal([2, 2], Enumerable.Range(0, 2).Select(i => Pins.Choose("3,2", fourCpus).ForClient(i)!.Value));
        Assert.Null(Pins.None.ForClient(3));
    }

    [Fact]
    public void APublishedOneWayFigureIsRepeatedByItsMessageSize()
    {
        var figure = new PublishedFigure("osipc", "", "shm", "native:native", "raw", "oneway", null, 3000, null, null, 266667, null, "");

        Assert.Equal(new Cell("shm", "native:native", "raw", "oneway", "oneway-3k"), figure.ToCell().Cell);
        Assert.Equal("the source states no message size", (figure with { RequestBytes = null }).ToCell().WhyNot);
        Assert.Equal("scenario 'broadcast' is not played over transports of kind channel, as 'shm' is",
            (figure with { Scenario = "broadcast" }).ToCell().WhyNot);
    }

    [Fact]
    public void APresetIsNarrowedAndItsTransportMayGetOptions()
    {
        var plan = PlanOf(new RunRequest { Preset = "quick", Transports = ["shm?wait=block"], Pairs = ["managed:managed"], Codecs = ["custom"] });

        Assert.Equal([new Cell("shm?wait=block", "managed:managed", "custom", "call", "1k-10k")], plan.Cells.Select(c => c.Cell));
    }

    [Fact]
    public void SerializeIsOneProcessOfEachLanguage()
    {
        var plan = PlanOf(new RunRequest { Scenarios = ["serialize"], Codecs = ["custom"] });

        Assert.Equal(["none native:native custom serialize 1k-10k", "none managed:managed custom serialize 1k-10k"], plan.Cells.Select(c => c.Cell.ToString()));
    }

    [Fact]
    public void ATransportNamedAloneIsPlayedAsItsKindCanBe()
    {
        Assert.All(PlanOf(new RunRequest { Transports = ["broadcast"] }).Cells, c => Assert.Equal("broadcast", c.Cell.Scenario));
        Assert.Equal(["call", "oneway"], PlanOf(new RunRequest { Transports = ["shm", "ring"] }).Cells.Select(c => c.Cell.Scenario).Distinct().Order());
    }

    [Fact]
    public void EveryMistakeIsAnErrorMessageThatSaysWhatThereIs()
    {
        Assert.Equal($"there is no transport 'quic'; the transports are {string.Join(", ", Registry.Transports.Select(t => t.Id))}",
            MistakeOf(new() { Transports = ["quic"] }));
        Assert.Equal("workload '64' is not played over transports of kind queue, as 'queue' is; there are oneway-32, oneway-0.1k, oneway-3k",
            MistakeOf(new() { Transports = ["queue"], Workloads = ["64"] }));
        Assert.Contains("'lazy'", MistakeOf(new() { Transports = ["shm?wait=lazy"] }), StringComparison.Ordinal);
        Assert.Contains("'colour'", MistakeOf(new() { Transports = ["shm?colour=red"] }), StringComparison.Ordinal);
        Assert.Equal("pair 'native' is not of the form server:client, e.g. native:managed", MistakeOf(new() { Pairs = ["native"] }));
        Assert.Equal("there is no side 'java'; the sides are native, managed, bound, hosted, managed-netfx, bound-netfx, managed-aot, native-x86",
            MistakeOf(new() { Pairs = ["native:java"] }));
        Assert.StartsWith("there is no workload '2k'; the workloads are 0.1k-1k, ", MistakeOf(new() { Workloads = ["2k"] }), StringComparison.Ordinal);
        Assert.Equal("there is no preset 'fast'; the presets are quick, seed, reference, full", MistakeOf(new() { Preset = "fast" }));
        Assert.Equal("workload 'push-1k' has no codec 'json'; it takes raw", MistakeOf(new() { Workloads = ["push-1k"], Codecs = ["json"] }));
        Assert.Equal("workload '64' has no scenario 'push'; it takes call, handler, one-cpu, reconnect, startup, footprint, idle, pipelined, pipelined-1, "
            + "pipelined-8, pipelined-256, shuffled, in-order, bitness", MistakeOf(new() { Workloads = ["64"], Scenarios = ["push"] }));
        Assert.StartsWith("preset 'quick' has no cell", MistakeOf(new() { Preset = "quick", Workloads = ["ping"] }), StringComparison.Ordinal);
        Assert.Equal("--launches 0 is not between 1 and 1000", MistakeOf(new() { Launches = 0 }));
        Assert.Equal("--seconds NaN is not between 0.01 and 3600", MistakeOf(new() { Seconds = double.NaN }));
        Assert.Equal("--warmup 0.001 is not between 0.01 and 3600", MistakeOf(new() { WarmupSeconds = 0.001 }));
        Assert.Equal("--seed -1 is negative; give a number from 0 on", MistakeOf(new() { Seed = -1 }));
        Assert.Equal("CPU 9 of --pin '0,9' cannot be used; this process may run on 0, 1", MistakeOf(new() { Pin = "0,9" }));
        Assert.Equal("--pin 'x' is neither two CPU numbers such as 0,1 nor none", MistakeOf(new() { Pin = "x" }));
    }

    [Fact]
    public void OrderIsShuffledByRoundAndRepeatedBySeed()
    {
        var plan = PlanOf(new RunRequest { Seed = 5 });

        var first = LaunchOrder.Of(plan, 0);
        Assert.Equal(first, LaunchOrder.Of(plan, 0));
        Assert.NotEqual(first, LaunchOrder.Of(plan, 1));
        Assert.NotEqual(first, LaunchOrder.Of(plan with { Seed = 6 }, 0));
        Assert.Equal(plan.Runnable(), first.Order());
    }

    [Fact]
    public void PortsAreLeftToTheSystemAndNamesAreGiven()
    {
        Assert.Equal("tcp://127.0.0.1:0?users=any", TransportSpec.ToAddress("tcp?users=any", "lab-1"));
        Assert.Equal("shm://lab-1?wait=spin", TransportSpec.ToAddress("shm?wait=spin", "lab-1"));
    }

    [Fact]
    public void SeedRepeatsCountsButNotWhatOthersManagedInTheirTime()
    {
        var cells = Presets.Get("seed").Cells();
        Assert.Contains(cells, c => c is { Transport: "pipe", Workload: "1k-10k", Codec: "raw", Count: 1000 });
        Assert.Contains(cells, c => c is { Transport: "shm-event", Codec: "json", Count: null });
        Assert.DoesNotContain(cells, c => c.Count > 10_000);
    }

    [Fact]
    public void WhatGivesNoCellWithTheOtherChoicesIsNamed()
    {
        var request = new RunRequest
        {
            Transports = ["shm?wait=spin", "queue"],
            Pairs = ["native:native"],
            Codecs = ["raw", "custom"],
            Scenarios = ["handler"],
            Workloads = ["200-1500", "0.1k-1k", "table"],
        };
        var cells = CellSelection.Select(request);
        Assert.All(cells, cell => Assert.Equal(("shm?wait=spin", "200-1500"), (cell.Transport, cell.Workload)));
        var left = CellSelection.LeftOut(request, cells).ToList();
        Assert.Equal(["left out: transport queue", "left out: codec custom", "left out: workload 0.1k-1k, table"],
            left.Select(line => line[..line.IndexOf(", which", StringComparison.Ordinal)]));

        // A plain id stands for all its ways to wait, and what was not named cannot be left out.
        var quick = new RunRequest { Preset = "quick", Transports = ["shm"] };
        Assert.Empty(CellSelection.LeftOut(quick, CellSelection.Select(quick)));
    }
}
