using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class CacheEffectTests
{
    [Fact]
    public void RatiosAreOfOneSizeAndOnePlacement()
    {
        var call = Cell("call", "64", Of("far", 200, [190, 210]), Of("near", 100, [95, 105]));
        var shuffled = Cell("shuffled", "64", Of("near", 150, [140, 160]));
        var effects = CacheEffect.Of([
            call, shuffled, Cell("in-order", "64", Of("far", 210, null)), Cell("call", "1k-10k", Of("near", 900, null)),
            Cell("call", "10k-100k", Of("near", 5000, null)), Cell("shuffled", "10k-100k", Of("far", 9000, null)),
        ]);

        Assert.Equal(["64", "10k-100k"], effects.Select(e => e.Same.Workload));
        Assert.Equal(1.5, effects[0].RatioOf(shuffled));
        Assert.Equal([1.33, 1.68], effects[0].RatioCiOf(shuffled)!.Select(r => Math.Round(r, 2)));
        Assert.Equal("1.50 x (1.33 .. 1.68), near", effects[0].TextOf(effects[0].Shuffled));
        Assert.Equal("1.05 x, far", effects[0].TextOf(effects[0].InOrder));
        Assert.Null(effects[1].InOrder);
        // Of placements that have nothing in common there is no ratio.
        Assert.DoesNotContain('x', effects[1].TextOf(effects[1].Shuffled));
    }

    private static CellResult Cell(string scenario, string workload, params PlacementFigures[] placements) => new(placements[0])
    {
        Cell = new Cell("shm", "native:managed", "raw", scenario, workload),
        Status = "ok",
        Reason = null,
        Placement = placements[0].Placement,
        Placements = placements,
        EachLaunch = [],
    };

    private static PlacementFigures Of(string placement, double p50, double[]? interval) =>
        new() { Placement = placement, Launches = 6, P50Ns = p50, P50Ci = interval };
}
