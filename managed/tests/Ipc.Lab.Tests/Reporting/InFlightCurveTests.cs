using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class InFlightCurveTests
{
    [Fact]
    public void TheGainIsOfOnePlacement()
    {
        var curve = Assert.Single(InFlightCurve.Of([
            Cell("pipelined-1", Of("far", 1e6, [0.9e6, 1.1e6]), Of("near", 4e6, null)), Cell("pipelined-8", Of("near", 6e6, null)),
            Cell("pipelined", Of("near", 8e6, null), Of("far", 8e6, [7.7e6, 8.8e6])), Cell("call", Of("far", 2e6, null)),
        ]));

        Assert.Equal([1, 8, 64], curve.Points.Select(c => InFlightCurve.InFlightOf(c.Scenario)));
        Assert.Equal(8, curve.GainOf(64));
        Assert.Equal([7, 9.78], curve.GainCiOf(64)!.Select(g => Math.Round(g, 2)));
        Assert.EndsWith(", far", curve.GainTextOf(64), StringComparison.Ordinal);
        Assert.Equal((1.5, null), (curve.GainOf(8), curve.GainCiOf(8)));
        Assert.Null(curve.GainOf(256));
        Assert.Equal("1.50 x, near", curve.GainTextOf(8));
    }

    [Fact]
    public void PlacementsThatHaveNothingInCommonHaveNoGain()
    {
        var curve = Assert.Single(InFlightCurve.Of([Cell("pipelined-1", Of("far", 1e6, null)), Cell("pipelined", Of("near", 8e6, null))]));

        Assert.Null(curve.GainOf(64));
        Assert.DoesNotContain('x', curve.GainTextOf(64));
    }

    private static CellResult Cell(string scenario, params PlacementFigures[] placements) => new(placements[0])
    {
        Cell = new Cell("shm", "native:managed", "raw", scenario, "64"),
        Status = "ok",
        Reason = null,
        Placement = placements[0].Placement,
        Placements = placements,
        EachLaunch = [],
    };

    private static PlacementFigures Of(string placement, double rate, double[]? interval) =>
        new() { Placement = placement, Launches = 6, OpsPerS = rate, OpsPerSCi = interval };
}
