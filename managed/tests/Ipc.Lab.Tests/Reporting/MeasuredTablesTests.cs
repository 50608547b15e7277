using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class MeasuredTablesTests
{
    private const string Mark = "<!-- measured: call raw 64 -->";

    private static MachineReport Plausible { get; } = new PlausibleResults(1).Machine(cells: 5000);

    [Fact]
    public void WhatStandsBetweenTheMarksIsMadeOfTheResultsAndNothingElseChanges()
    {
        var filled = MeasuredTables.Fill($"# Page\n\n{Mark}\nold\n<!-- /measured -->\n\nText.\n", Plausible);

        Assert.StartsWith($"# Page\n\n{Mark}\n\n| 64 B -> 64 B, raw | native:native | native:managed |", filled, StringComparison.Ordinal);
        Assert.EndsWith("|\n\n<!-- /measured -->\n\nText.\n", filled, StringComparison.Ordinal);
        Assert.DoesNotContain("old", filled, StringComparison.Ordinal);
        Assert.Equal(filled, MeasuredTables.Fill(filled, Plausible));
        var cell = Plausible.Sound.Select(c => c.Result)
            .First(c => c is { Placement: "near", Pair: "native:native", Scenario: "call", Codec: "raw", Workload: "64", Count: null });
        Assert.Contains($"| `{cell.Transport}` | {Units.Time(cell.P50Ns)} |", filled, StringComparison.Ordinal);
    }

    [Fact]
    public void ATableHasFiguresOfOnePlacement()
    {
        static CellResult Of(CellResult like, string transport, string placement, double near, double far)
        {
            PlacementFigures[] both = [new() { Placement = "near", P50Ns = near }, new() { Placement = "far", P50Ns = far }];
            return like with
            {
                Transport = transport,
                Pair = "native:native",
                Status = "ok",
                Placement = placement,
                P50Ns = placement == "near" ? near : far,
                Placements = both
            };
        }
        var like = Plausible.Sound.First(c => c.Result is { Scenario: "call", Codec: "raw", Workload: "64", Count: null }).Result;
        var machine = Plausible with
        {
            Cells = [.. new[] { Of(like, "shm", "near", 100, 400), Of(like, "unix", "far", 3000, 4000), Of(like, "pipe", "near", 5000, 6000) }.Select(c =>
                new ReportCell(c, 0, false))],
        };

        var filled = MeasuredTables.Fill($"{Mark}\n<!-- /measured -->", machine);

        Assert.Equal($"{Mark}\n\n| 64 B -> 64 B, raw | native:native |\n|---|---:|\n| `shm` | 100 ns |\n| `unix` | 3.00 µs |\n| `pipe` | 5.00 µs "
            + "|\n\n<!-- /measured -->", filled);
    }

    // Another way to wait measured with one pair, and a transport that this system has not, would be rows without figures.
    [Fact]
    public void RowsAreTransportsMeasuredWithMostPairs()
    {
        var like = Plausible.Sound.First(c => c.Result is { Scenario: "call", Codec: "raw", Workload: "64", Count: null }).Result;
        CellResult Of(string transport, string pair, string status = "ok") => like with
        {
            Transport = transport,
            Pair = pair,
            Status = status,
            Placement = "near",
            P50Ns = status == "ok" ? 100 : null,
            Placements = status == "ok" ? [new() { Placement = "near", P50Ns = 100 }] : []
        };
        string[] pairs = ["native:native", "native:managed", "managed:managed"];
        CellResult[] cells =
        [
            .. pairs.Select(p => Of("shm", p)), .. pairs.Select(p => Of("unix", p)), Of("shm?wait=spin", "native:native"),
            .. pairs.Select(p => Of("com", p, "skipped")),
        ];
        var machine = Plausible with { Cells = [.. cells.Select(c => new ReportCell(c, 0, false))] };

        var filled = MeasuredTables.Fill($"{Mark}\n<!-- /measured -->", machine);

        Assert.Contains("| 64 B -> 64 B, raw | native:native | native:managed | managed:managed |\n", filled, StringComparison.Ordinal);
        Assert.Contains("| `shm` |", filled, StringComparison.Ordinal);
        Assert.Contains("| `unix` |", filled, StringComparison.Ordinal);
        Assert.DoesNotContain("wait=spin", filled, StringComparison.Ordinal);
        Assert.DoesNotContain("com", filled, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("# Page", "there is no place for a table")]
    [InlineData("<!-- measured: call raw 64 -->", "is not closed")]
    [InlineData("<!-- measured: call raw 64 -->\n<!-- measured: call raw 64 -->\n<!-- /measured -->", "is not closed")]
    [InlineData("<!-- measured: call raw -->\n<!-- /measured -->", "is not closed")]
    [InlineData("<!-- measured: call raw 65 -->\n<!-- /measured -->", "nothing was measured of 'call raw 65'")]
    public void AMarkThatCannotBeFilledIsTold(string text, string told) =>
        Assert.Contains(told, Assert.Throws<UserMistakeException>(() => MeasuredTables.Fill(text, Plausible)).Message, StringComparison.Ordinal);
}
