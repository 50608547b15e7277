using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Where the p50 of a call goes.</summary>
public sealed class DecompositionTests
{
    private static readonly FloorFigures s_floors = new(
        100, new Dictionary<string, double> { ["1k-10k"] = 500 }, null, null, null, null, null, new Dictionary<string, double> { ["1k-10k"] = 20_500 }, null,
        null);

    private static CellResult Call(string transport, string pair, string codec, double p50, string floor, string? placement = "near") =>
        new(new Figures { P50Ns = p50, Floor = floor, FloorNs = 450 })
        {
            Cell = new(transport, pair, codec, "call", "1k-10k"),
            Status = "ok",
            Reason = null,
            Placement = placement
        };

    private static CellResult Codec(string side, double scale) => new(new Figures
    {
        P50Ns = 1,
        Phases = new Dictionary<string, double?>
        {
            ["build_ns"] = 77,
            ["translate_ns"] = 0,
            ["encode_ns"] = 1100 * scale,
            ["decode_ns"] = 2200 * scale,
            ["traverse_ns"] = 55,
            ["request_bytes"] = 1000,
            ["reply_bytes"] = 10_000,
        },
    })
    {
        Cell = new(Cell.NoTransport, $"{side}:{side}", "custom", "serialize", "1k-10k"),
        Status = "ok",
        Reason = null,
    };

    private static Decomposition? Of(CellResult cell, params CellResult[] others) => new DecompositionBuilder([cell, .. others], s_floors).Of(cell);

    private static IEnumerable<(string, double)> Steps(Decomposition? parts) => parts!.Steps.Select(s => (s.Name, s.Ns));

    [Fact]
    public void EitherSideCountsWithTheMessagesItEncodesAndDecodes()
    {
        // The client is native and four times as fast: an eleventh of encoding and ten of decoding are its.
        var parts = Of(Call("shm", "managed:native", "custom", 5000, "slot"), Call("shm", "managed:native", "raw", 600, "slot"), Codec("native", 0.25),
            Codec("managed", 1));

        Assert.Equal([("encode", 1025.0), ("decode", 700.0), ("transfer", 600.0)], Steps(parts));
        Assert.Equal((5000.0, 2675.0), (parts!.P50Ns, parts.NotExplainedNs));
    }

    [Fact]
    public void TransportsThatSleepShowTheWakeUp() => Assert.Equal(
        [("encode", 1100.0), ("decode", 2200.0), ("transfer", 10_000.0), ("wake-up", 20_000.0)],
        Steps(Of(Call("unix", "bound:bound", "custom", 34_000, "unix"), Call("unix", "bound:bound", "raw", 30_000, "unix"), Codec("managed", 1))));

    [Fact]
    public void OfBytesTheFloorIsExplainedAndTheTransportIsTheRest()
    {
        var parts = Of(Call("shm", "native:native", "raw", 600, "slot"));

        Assert.Equal([("transfer", 450.0)], Steps(parts));
        Assert.Equal(150, parts!.NotExplainedNs);
    }

    [Fact]
    public void SharpOverTheCLibraryShowsTheBoundaryBetweenThem()
    {
        CellResult bound = Call("shm", "bound:bound", "raw", 625, "slot"), native = Call("shm", "native:native", "raw", 600, "slot");

        var raw = Of(bound, native);
        Assert.Equal([("boundary", 25.0), ("transfer", 450.0)], Steps(raw));
        Assert.Equal(150, raw!.NotExplainedNs);
        Assert.Equal(
            [("encode", 1100.0), ("decode", 2200.0), ("boundary", 25.0), ("transfer", 600.0)],
            Steps(Of(Call("shm", "bound:bound", "custom", 5000, "slot"), bound, native, Codec("managed", 1))));
        Assert.Equal([("boundary", 25.0), ("transfer", 450.0)],
            Steps(Of(Call("shm", "hosted:managed", "raw", 625, "slot"), Call("shm", "native:managed", "raw", 600, "slot"))));

        // In another placement a call takes another time for other reasons; and less than nothing it cannot take.
        Assert.Equal([("transfer", 450.0)], Steps(Of(bound, Call("shm", "native:native", "raw", 600, "slot", "far"))));
        Assert.Equal([("boundary", 0.0), ("transfer", 450.0)], Steps(Of(bound, Call("shm", "native:native", "raw", 650, "slot"))));
    }

    [Fact]
    public void TheMarkdownShowsItInNumbers()
    {
        var raw = Call("shm", "native:native", "raw", 600, "slot");
        var kept = Fakes.Kept(Fakes.Plan());
        var text = MarkdownReport.Write(new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = new RunFacts("chosen", 7, Pins.None, kept.Plan.Schedule, "release", DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch, 6, true),
            Machine = kept.Machine,
            Floors = s_floors,
            FloorsReason = null,
            Cells = [raw with { Decomposition = Of(raw) }],
        });

        Assert.Contains("| shm native:native raw call 1k-10k | 600 ns |  |  |  |  | 450 ns |  | 25 % |\n", text, StringComparison.Ordinal);
    }

    [Fact]
    public void WithoutItsPartsInTheSamePlacementThereIsNone()
    {
        var cell = Call("shm", "managed:managed", "custom", 5000, "slot");

        Assert.Null(Of(cell, Codec("managed", 1)));
        Assert.Null(Of(cell, Call("shm", "managed:managed", "raw", 600, "slot")));
        Assert.Null(Of(cell, Codec("managed", 1), Call("shm", "managed:managed", "raw", 600, "slot", "far")));
        Assert.Null(Of(cell with { Status = "failed" }, Codec("managed", 1), Call("shm", "managed:managed", "raw", 600, "slot")));
    }
}
