using System.Text.Json;
using Ipc.Lab.Commands;
using Ipc.Lab.Comparing;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Comparisons of simulated runs, whose truth is known.</summary>
public sealed class CompareTests
{
    private const int Launches = 8;
    private static readonly MachineRecord s_machine = MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real));
    private static readonly string[] s_transports = ["shm", "unix", "pipe", "tcp", "fifo", "shm-event"];
    private static readonly string[] s_workloads = ["32", "64", "1k-10k", "10k-100k"];

    /// <summary>A run of 120 cells; what varies is decided by the seed.</summary>
    /// <param name="noise">Of launches, in logarithms.</param>
    /// <param name="slower">By how much which transport is slower.</param>
    /// <param name="machine">By how much the machine is slower, floors and all.</param>
    /// <param name="far">The share of launches whose processors are far apart, where shared memory takes thrice as long.</param>
    private static RunResults Run(int seed, double noise = 0.03, (string Transport, double By)? slower = null, double machine = 1, double far = 0,
        string? twin = null, int launches = Launches)
    {
        var random = new MersenneTwister(seed);
        var cells = from transport in s_transports
                    from pair in Presets.MainPairs
                    from workload in s_workloads
                    select CellOf(random, transport, pair, workload, noise, machine, far, slower?.Transport == transport ? slower.Value.By : 1, launches);
        return new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = new RunFacts("chosen", 1, Pins.None, new Schedule(Launches, 0.1, 0.1, null), "release", DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch,
                Launches, true, twin),
            Machine = s_machine,
            Floors = null,
            FloorsReason = null,
            Cells = [.. cells],
        };
    }

    private static CellResult CellOf(MersenneTwister random, string transport, string pair, string workload, double noise, double machine, double far,
        double by, int count)
    {
        var launches = Enumerable.Range(0, count).Select(round =>
        {
            var isFar = random.NextDouble() < far;
            var distance = isFar ? 3.0 : 1.0;
            var p50 = 5000 * machine * by * (transport == "shm" ? distance : 1) * Math.Exp(Normal.Sample(random, 0, noise));
            var floor = 4000 * machine * (transport == "shm" ? distance : 1) * Math.Exp(Normal.Sample(random, 0, noise / 2));
            return new LaunchFigures
            {
                Round = round,
                Status = "ok",
                P50Ns = p50,
                LineNs = 120 * distance * Math.Exp(Normal.Sample(random, 0, 0.02)),
                FloorBeforeNs = floor,
                FloorAfterNs = floor,
            };
        });
        return new CellResult
        {
            Cell = new Cell(transport, pair, "raw", "call", workload),
            Status = "ok",
            Reason = null,
            Floor = transport == "shm" ? "slot" : "unix",
            EachLaunch = [.. launches],
        };
    }

    private static Comparison Compare(RunResults first, RunResults second)
    {
        ComparedRun facts = new("x", "m", "chosen", DateTimeOffset.UnixEpoch, true, Launches);
        return new Comparer(first, second, TwinFolder.AreTwins(first, second)).Compare(facts, facts);
    }

    [Theory]
    [InlineData(0.02, null)]
    [InlineData(0.10, null)]
    [InlineData(0.10, "twins")]
    [InlineData(0.30, null)]
    public void TheSameTwiceShowsNoDifference(double noise, string? twin)
    {
        var all = Enumerable.Range(0, 20).Select(i => Compare(Run(1000 + i, noise, twin: twin), Run(2000 + i, noise, twin: twin))).ToList();

        // Of 120 cells in 20 comparisons; and in nearly every comparison of none at all.
        Assert.InRange(all.Sum(c => c.Summary.NoDifference), 0.99 * 2400, 2400);
        Assert.InRange(all.Count(c => c.Summary.Faster + c.Summary.Slower == 0), 16, 20);
        Assert.InRange(all.Sum(c => c.Transports.Count(t => t.Verdict != CellVerdict.NoDifference)), 0, 3);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("twins")]
    public void ATransportSlowedByATenthIsNamedAndTheRestIsNotBlamed(string? twin)
    {
        for (var i = 0; i < 10; i++)
        {
            var comparison = Compare(Run(3000 + i, twin: twin), Run(4000 + i, slower: ("unix", 1.1), twin: twin));

            var unix = comparison.Transports.Single(t => t.Transport == "unix");
            Assert.Equal(CellVerdict.Slower, unix.Verdict);
            Assert.InRange(unix.Slower, 10, 20);
            Assert.InRange(unix.Ratio, 1.07, 1.13);
            Assert.All(comparison.Transports.Where(t => t.Transport != "unix"), t => Assert.Equal(CellVerdict.NoDifference, t.Verdict));
            Assert.InRange(comparison.Cells.Count(c => c.Transport != "unix" && c.Verdict != CellVerdict.NoDifference), 0, 2);
            Assert.Equal(1, CompareCommand.ExitCodeOf(comparison, 0));
            Assert.Equal(0, CompareCommand.ExitCodeOf(comparison, 50));
        }
    }

    [Fact]
    public void WhatBecameFasterIsNamedAndIsNoReasonToStop()
    {
        var comparison = Compare(Run(1, slower: ("shm", 1.5)), Run(2));

        Assert.Equal((20, 0), (comparison.Summary.Faster, comparison.Summary.Slower));
        Assert.Equal(0, CompareCommand.ExitCodeOf(comparison, 0));
    }

    [Fact]
    public void ASlowerMachineIsToldByItsFloorsAndNotBlamedOnTheProgram()
    {
        var comparison = Compare(Run(1), Run(2, machine: 1.15));

        Assert.Equal(0, comparison.Summary.Slower);
        Assert.InRange(comparison.Drift["unix"], 0.1, 0.2);
    }

    [Fact]
    public void OfRunsInTurnsRestlessFloorsDoNotHideATenth()
    {
        // Floors that vary more than the cells, and few cells: their ratios differ from 1 by chance.
        RunResults Restless(RunResults run, int seed)
        {
            var random = new MersenneTwister(seed);
            LaunchFigures With(LaunchFigures launch) => launch with { FloorBeforeNs = 4000 * Math.Exp(Normal.Sample(random, 0, 0.2)), FloorAfterNs = 4000 };
            return run with
            {
                Cells = [.. run.Cells.Where(c => c.Transport == "unix").Take(3)
                .Select(c => c with { EachLaunch = [.. c.EachLaunch.Select(With)] })]
            };
        }
        var (found, named) = (0, 0);
        for (var i = 0; i < 20; i++)
        {
            var (first, slower, same) = (Run(100 + i, twin: "twins"), Run(200 + i, slower: ("unix", 1.1), twin: "twins"), Run(300 + i, twin: "twins"));
            found += Compare(Restless(first, i), Restless(slower, 50 + i)).Transports.Count(t => t.Verdict == CellVerdict.Slower);
            named += Compare(Restless(first, i), Restless(same, 50 + i)).Transports.Count(t => t.Verdict != CellVerdict.NoDifference);
        }

        Assert.Equal(20, found);
        Assert.InRange(named, 0, 3);
    }

    [Fact]
    public void PlacementsAreNeverMixed()
    {
        // Mostly near before, mostly far after: the medians differ by three, the program not at all.
        var comparison = Compare(Run(1, far: 0.35), Run(2, far: 0.65));

        Assert.All(comparison.Cells.Where(c => c.Verdict is not null), c => Assert.Equal(CellVerdict.NoDifference, c.Verdict));
        var together = comparison.Cells.Where(c => c.Placement == "near and far").ToList();
        Assert.NotEmpty(together);
        Assert.All(together, c => Assert.Equal((null, null), (c.BaseP50Ns, c.NewP50Ns)));
        Assert.All(comparison.Cells.Except(together).Where(c => c is { Verdict: not null, Transport: "shm" }), c =>
            Assert.Equal(c.Placement == "far", c.BaseP50Ns > 10_000));
        Assert.All(comparison.Cells.Where(c => c.Verdict is null), c =>
            Assert.Contains("too few settled launches of like placement: near ", c.Reason!, StringComparison.Ordinal));
    }

    [Fact]
    public void InterleavedLaunchesMeetThoseOfTheirOwnPlacementWhateverTheirRound()
    {
        // The host moved the processors between the two launches of most rounds; each half has five near ones all the same.
        string[] first = ["near", "far", "near", "far", "near", "near", "near"], second = ["far", "near", "near", "near", "far", "near", "near"];
        LaunchFigures[] Launches(string[] placements, double by) =>
            [.. placements.Select((p, round) =>
                new LaunchFigures { Round = round, Status = "ok", Placement = p, P50Ns = by * (p == "near" ? 100 + round : 300) })];

        var pairs = LaunchPairs.Of(Launches(first, 1).Where(l => l.Placement == "near"), Launches(second, 2).Where(l => l.Placement == "near"), l => l.P50Ns);

        Assert.Equal([(102, 204), (105, 210), (106, 212), (100, 202), (104, 206)], pairs);
    }

    [Fact]
    public void OfTwoInterleavedHalvesInTwoPlacementsNearlyEveryCellIsCompared()
    {
        var (compared, all) = (0, 0);
        for (var i = 0; i < 10; i++)
        {
            var comparison = Compare(Run(5000 + i, far: 0.3, twin: "twins"), Run(6000 + i, far: 0.3, twin: "twins"));

            compared += comparison.Cells.Where(c => c.Verdict is not null).DistinctBy(c => c.Cell).Count();
            all += comparison.Cells.DistinctBy(c => c.Cell).Count();
            Assert.InRange(comparison.Summary.Faster + comparison.Summary.Slower, 0, 2);
        }
        // Five near ones of eight in either half have 65 of 100 cells; five pairs of either placement 95.
        Assert.InRange(compared / (double)all, 0.93, 1);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("twins")]
    public void OnARestlessHostSixLaunchesOfACellAreEnoughToFindATenth(string? twin)
    {
        var (compared, named, all, found) = (0, 0, 0, 0);
        for (var i = 0; i < 10; i++)
        {
            var comparison = Compare(Run(7000 + i, far: 0.45, twin: twin, launches: 6),
                Run(8000 + i, slower: ("unix", 1.1), far: 0.45, twin: twin, launches: 6));

            var rest = comparison.Cells.Where(c => c.Transport != "unix").ToList();
            compared += rest.Where(c => c.Verdict is not null).DistinctBy(c => c.Cell).Count();
            named += rest.Count(c => c.Verdict is CellVerdict.Faster or CellVerdict.Slower);
            all += rest.DistinctBy(c => c.Cell).Count();
            found += comparison.Transports.Single(t => t.Transport == "unix").Verdict == CellVerdict.Slower ? 1 : 0;
            Assert.All(comparison.Transports.Where(t => t.Transport != "unix"), t => Assert.Equal(CellVerdict.NoDifference, t.Verdict));
        }
        // Launches of unlike placement make no pair: a run in turns launches those cells again (PlacementTests), which these have not been.
        Assert.InRange(compared / (double)all, twin is null ? 0.85 : 0.55, 1);
        Assert.InRange(named / (double)all, 0, 0.02);
        Assert.Equal(10, found);
    }

    [Fact]
    public void IntervalsOverSeveralPlacementsHoldTheTruth()
    {
        var random = new MersenneTwister(6);
        var held = 0;
        const int Times = 1000;
        for (var i = 0; i < Times; i++)
        {
            double[] Sample(double mean, int count) => [.. Enumerable.Range(0, count).Select(_ => mean * Math.Exp(Normal.Sample(random, 0, 0.1)))];
            var ratio = RatioEstimate.Stratified([(Sample(1000, 4), Sample(1200, 3)), (Sample(3000, 2), Sample(3600, 3)), (Sample(9000, 1), Sample(1, 3))], 0)!;
            if (ratio.Interval[0] <= 1.2 && 1.2 <= ratio.Interval[1])
                held++;
        }
        Assert.InRange(held / (double)Times, 0.93, 0.985);
        Assert.Null(RatioEstimate.Stratified([([1, 2, 3], [1, 2]), ([9], [9, 9])], 0));
    }

    [Fact]
    public void ACellIsOneIdentityWithItsPartsInJsonByThemselves()
    {
        var cell = new Cell("shm?wait=block", "native:managed", "custom", "call", "1k-10k", 50);
        var verdict = new CellVerdict { Cell = cell };

        var json = JsonSerializer.SerializeToNode(verdict, LabJson.Line)!;

        Assert.Equal(["shm?wait=block", "native:managed", "custom", "call", "1k-10k"],
            ((string[])["transport", "pair", "codec", "scenario", "workload"]).Select(part => (string)json[part]!));
        Assert.Null(json["cell"]);
        Assert.Equal(cell, json.Deserialize<CellVerdict>(LabJson.Line)!.Cell);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void IntervalsOfRatiosHoldTheTruth(bool paired)
    {
        var random = new MersenneTwister(5);
        var held = 0;
        const int Times = 1000;
        for (var i = 0; i < Times; i++)
        {
            double[] Sample(double mean) => [.. Enumerable.Range(0, 10).Select(_ => mean * Math.Exp(Normal.Sample(random, 0, 0.1)))];
            var (first, second) = (Sample(1000), Sample(1200));
            var ratio = paired ? RatioEstimate.Paired([.. first.Zip(second)], 0) : RatioEstimate.Unpaired(first, second, 0);
            if (ratio.Interval[0] <= 1.2 && 1.2 <= ratio.Interval[1])
                held++;
        }
        Assert.InRange(held / (double)Times, 0.93, 0.985);
    }

    [Fact]
    public void AdjustedValuesAreThoseOfBenjaminiAndHochberg() =>
        Assert.Equal([0.04, 0.04, 0.0425, 0.9], Multiplicity.Adjust([0.01, 0.02, 0.031875, 0.9]).Select(p => Math.Round(p, 4)));

    [Fact]
    public void CellsWithoutFiguresAreNotCompared()
    {
        var (first, second) = (Run(1), Run(2));
        second = second with { Cells = [second.Cells[0] with { Status = "failed", Reason = "HUNG: the server" }, .. second.Cells.Skip(2)] };

        var comparison = Compare(first, second);

        Assert.Equal(("failed in the new run: HUNG: the server", true), (comparison.Cells[0].Reason, comparison.Cells[0].NewlyFailed));
        Assert.Equal("not in the new run", comparison.Cells[1].Reason);
        Assert.Equal(1, CompareCommand.ExitCodeOf(comparison, 1000));
    }

    [Fact]
    public void UnlikeRunsAreNamed()
    {
        var run = Run(1);
        var other = run with
        {
            Machine = s_machine with { Name = "elsewhere" },
            Run = run.Run with { Pins = new Pins(0, 1), Awake = true, Schedule = run.Run.Schedule with { Seconds = 2 } }
        };

        Assert.Empty(Contract.Differences(run, run));
        Assert.Equal(["machine", "pins", "idle processors kept awake", "measured time of a launch"],
            Contract.Differences(run, other).Select(d => d.Split(':')[0]));
    }

    [Fact]
    public void MarkdownNamesWhatDiffersFirst()
    {
        using var text = new StringWriter();
        ComparisonText.WriteMarkdown(text, Compare(Run(1), Run(2, slower: ("unix", 1.3))));

        Assert.StartsWith("**20 slower, 100 without a difference, of 120 cells**", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("- unix: slower, 1.", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("| **slower** | 1.", text.ToString(), StringComparison.Ordinal);
    }
}
