using Ipc.Lab.Comparing;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Where the host put the processors: found by clustering, and never mixed in one figure.</summary>
public sealed class PlacementTests : IDisposable
{
    private static readonly Cell s_call = new("shm", "native:managed", "raw", "call", "1k-10k");

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private static double[] Around(double center, double spread, int count, int seed)
    {
        var random = new MersenneTwister(seed);
        return [.. Enumerable.Range(0, count).Select(_ => center * Math.Exp(Normal.Sample(random, 0, spread)))];
    }

    [Fact]
    public void OneKindOfLineTimesIsOneGroup()
    {
        Assert.Empty(LineClusters.Bounds([]));
        Assert.Empty(LineClusters.Bounds([100, 450]));
        Assert.Empty(LineClusters.Bounds(Enumerable.Repeat(148.0, 100)));
        Assert.Empty(LineClusters.Bounds(Around(150, 0.1, 300, 1)));
        Assert.Empty(LineClusters.Bounds(Around(150, 0.5, 300, 2)));
        // Evenly from 100 to 400, and a few strays.
        Assert.Empty(LineClusters.Bounds(Enumerable.Range(100, 300).Select(i => (double)i)));
        Assert.Empty(LineClusters.Bounds([.. Around(150, 0.05, 100, 3), 900, 950, 1000, 5000]));
    }

    [Fact]
    public void NearAndFarAreToldApart()
    {
        var bound = Assert.Single(LineClusters.Bounds([.. Around(120, 0.08, 60, 4), .. Around(450, 0.08, 20, 5), 2000]));
        Assert.InRange(bound, 150, 380);

        var three = LineClusters.Bounds([.. Around(60, 0.05, 30, 6), .. Around(150, 0.05, 30, 7), .. Around(450, 0.05, 30, 8)]);
        Assert.Equal(2, three.Count);
        Assert.InRange(three[0], 70, 130);
        Assert.InRange(three[1], 180, 400);
    }

    [Fact]
    public async Task ACellInTwoPlacementsHasFiguresOfEachAndTheCommonestForItsHeadline()
    {
        // The host moves the processors apart from the eighth answer on, which is after the table and three launches.
        var results = await RunAsync("moving", 9);

        Assert.Equal([("near", 100.0, 3), ("far", 300.0, 6)], results.Placements.Select(p => (p.Label, p.LineNs, p.Launches)));
        var cell = results.Cells[0];
        Assert.Equal(("ok", "far", 6, 300.0, 0.833), (cell.Status, cell.Placement, cell.Launches, cell.LineNs, cell.FloorRatio));
        Assert.Equal([("far", 6, 0.833, 1200.0), ("near", 3, 2.5, 400.0)],
            cell.Placements.Select(p => (p.Placement, p.Launches, p.FloorRatio!.Value, p.FloorNs!.Value)));
        Assert.NotNull(cell.P50Ci);
        Assert.Null(cell.Placements[1].P50Ci);
    }

    [Fact]
    public async Task ALaunchBetweenTwoFloorsThatDifferIsRepeatedOnce()
    {
        // First answer: the table; second: before the first launch; third: after it.
        var results = await RunAsync("moved-once", 3);

        var cell = results.Cells[0];
        Assert.Equal([("moved", false), ("ok", true), ("ok", false), ("ok", false)], cell.EachLaunch.Select(l => (l.Status, l.Repeated)));
        Assert.Equal("the floor took 400 ns right before and 1200 ns right after: the host moved the processors meanwhile", cell.EachLaunch[0].Reason);
        Assert.Null(cell.EachLaunch[0].FloorRatio);
        Assert.Equal((3, 3, 2.5), (cell.Launches, cell.FloorLaunches, cell.FloorRatio));
        Assert.Equal(8, Fakes.StartedPeers(_folder).Count);
    }

    [Fact]
    public async Task TwoTreesInTurnsOnARestlessHostAreLaunchedUntilTheyCanBeCompared()
    {
        // Of the two launches of a round one is near and the other far, whichever tree comes first.
        var plan = Fakes.Plan(s_call);
        var kept = Fakes.Kept(plan with { Schedule = plan.Schedule with { Launches = 6 }, Twin = "both" });
        ResultsFolder[] folders = [new(Path.Combine(_folder.Path, "new")), new(Path.Combine(_folder.Path, "base"))];
        foreach (var folder in folders)
            folder.Create(kept);
        var programs = Fakes.Programs(_folder, floors: "restless");
        var twin = Fakes.Session(folders[1], kept, programs);
        var session = Fakes.Session(folders[0], kept, programs, twin: twin);

        Assert.True(await session.RunAsync(CancellationToken.None));
        var (second, first) = (session.WriteResults(), twin.WriteResults());

        // One clustering for both, and three of either placement in either tree, which make six pairs: by rounds alone no two would ever be alike.
        foreach (var results in (RunResults[])[first, second])
        {
            Assert.Equal([("near", 100.0), ("far", 300.0)], results.Placements.Select(p => (p.Label, p.LineNs)));
            Assert.All(results.Cells[0].Placements, p => Assert.Equal(3, p.Launches));
        }
        Assert.All(first.Cells[0].EachLaunch.Zip(second.Cells[0].EachLaunch), pair => Assert.NotEqual(pair.First.Placement, pair.Second.Placement));
        var comparison = new Comparer(first, second, TwinFolder.AreTwins(first, second)).Compare(Facts(first), Facts(second));
        Assert.Equal([("near and far", "no difference", 6, 6)], comparison.Cells.Select(c => (c.Placement, c.Verdict, c.BaseLaunches, c.NewLaunches)));
    }

    private static ComparedRun Facts(RunResults results) => new("x", results.Machine.Name, "chosen", DateTimeOffset.UnixEpoch, true, 6);

    private async Task<RunResults> RunAsync(string floors, int launches)
    {
        var plan = Fakes.Plan(s_call);
        var kept = Fakes.Kept(plan with { Schedule = plan.Schedule with { Launches = launches } });
        var folder = new ResultsFolder(Path.Combine(_folder.Path, "results"));
        folder.Create(kept);
        var session = Fakes.Session(folder, kept, Fakes.Programs(_folder, floors: floors));
        Assert.True(await session.RunAsync(CancellationToken.None));
        return session.WriteResults();
    }
}
