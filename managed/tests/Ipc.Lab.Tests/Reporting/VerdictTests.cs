using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class VerdictTests
{
    [Fact]
    public void WithoutAnIntervalTheFastestIsNamedWhereEachOfItsLaunchesIsFaster()
    {
        // Seven launches in two placements: too few of either for an interval.
        var shm = Cell("shm", 200, 190, 195, 200, 205, 440, 450, 460);
        var verdict = Verdict.Of([Cell("unix", 42_000, 40_000, 41_000, 42_000, 43_000, 60_000, 61_000, 62_000), shm])!;

        Assert.True(verdict.IsCertain);
        Assert.Equal(("shm", "unix"), (verdict.Best.Transport, verdict.Next!.Transport));
        Assert.Equal(["shm"], verdict.Tied.Select(c => c.Transport));
    }

    [Theory]
    [InlineData(106, true)]
    [InlineData(301, false)]
    public void PlacementsMatterOnlyWhereLaunchesOverlap(double slowest, bool apart)
    {
        var best = Cell("shm", 103, 100, 101, 102, 103, 104, 105, slowest) with { Placement = "near", P50Ci = [101, 105] };
        var next = Cell("unix", 320, 300, 310, 320, 330, 340, 350) with { Placement = "far", P50Ci = [305, 335] };
        Assert.Equal((true, !apart), (Verdict.Of([best, next])!.IsCertain, Verdict.Of([best, next])!.IsMixed));
    }

    [Theory]
    // One launch of the other is faster than one of its own.
    [InlineData(new double[] { 100, 101, 102, 103, 104, 105, 301 }, new double[] { 300, 310, 320, 330, 340, 350, 360 }, false)]
    [InlineData(new double[] { 100, 101, 102, 103, 104, 105, 106 }, new double[] { 300, 310, 320, 330, 340, 350, 360 }, true)]
    // Of two equals, three and four would fall so in 2 of 35 runs, four and four in 2 of 70.
    [InlineData(new double[] { 100, 101, 102 }, new double[] { 300, 310, 320, 330 }, false)]
    [InlineData(new double[] { 100, 101, 102, 103 }, new double[] { 300, 310, 320, 330 }, true)]
    [InlineData(new double[] { }, new double[] { 300, 310, 320, 330 }, false)]
    public void ItTakesLaunchesThatChanceWouldHardlyOrderSo(double[] own, double[] others, bool isCertain) =>
        Assert.Equal(isCertain, Verdict.Of([Cell("shm", 100, own), Cell("unix", 320, others)])!.IsCertain);

    [Fact]
    public void MoreCandidatesTakeMoreLaunches()
    {
        List<CellResult> cells = [Cell("shm", 100, 100, 101, 102, 103), Cell("unix", 320, 300, 310, 320, 330)];
        Assert.True(Verdict.Of(cells)!.IsCertain);
        Assert.False(Verdict.Of([.. cells, Cell("pipe", 320, 300, 310, 320, 330)])!.IsCertain);
    }

    [Fact]
    public void WhatCannotBeToldApartIsNamedTogether()
    {
        var verdict = Verdict.Of([
            Cell("unix", 42_000, 40_000, 41_000, 42_000, 43_000, 60_000, 61_000, 62_000), Cell("shm", 200, 190, 195, 200, 205, 440, 450, 460),
            Cell("shm?wait=spin", 210, 180, 205, 210, 215, 430, 440, 450),
        ])!;
        Assert.False(verdict.IsCertain);
        Assert.Equal(["shm", "shm?wait=spin"], verdict.Tied.Select(c => c.Transport));
        Assert.Equal("unix", verdict.Next!.Transport);
        Assert.Equal("shm, shm?wait=spin (too few launches to tell)", new Question("native:managed", "call", "64", false, verdict).Answer);
    }

    private static CellResult Cell(string transport, double p50, params double[] launches) => new()
    {
        Cell = new Cell(transport, "native:managed", "raw", "call", "64"),
        Status = "ok",
        Reason = null,
        P50Ns = p50,
        EachLaunch = [.. launches.Select((l, i) => new LaunchFigures { Round = i, Status = "ok", P50Ns = l })],
    };

    [Fact]
    public void ScenariosThatDifferInANumberStandInItsOrder()
    {
        string[] order = [.. Names.Scenarios.Select(s => s.Id)];

        Assert.Equal(Registry.Scenarios.Select(s => s.Id).Order(), order.Order());
        Assert.Equal("call", order[0]);
        Assert.Equal(["pipelined-1", "pipelined-8", "pipelined", "pipelined-256"], order.Where(id => id.StartsWith("pipelined", StringComparison.Ordinal)));
        Assert.Equal(["fanin-2", "fanin", "fanin-8", "fanin-16"], order.Where(id => id.StartsWith("fanin", StringComparison.Ordinal)).Take(4));
        Assert.Equal(["broadcast-1", "broadcast-2", "broadcast", "broadcast-10", "broadcast-slow", "broadcast-dead"],
            order.Where(id => id.StartsWith("broadcast", StringComparison.Ordinal)).Take(6));
    }
}
