using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Spectre.Console;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class ReportingTests
{
    private static CellResult Cell(string transport, string pair, uint? p50, string status = "ok", string? reason = null) => new()
    {
        Cell = new(transport, pair, "raw", "call", "1k-10k"),
        Status = status,
        Reason = reason,
        P50Ns = p50,
        P99Ns = p50 * 3,
        P999Ns = p50 * 40,
        MaxNs = p50 * 4000,
        P90Ns = p50 * 2,
        P50Ci = p50 is { } p ? [p - 1, p + 1] : null,
        OpsPerS = 1e9 / p50,
        MeanNs = p50,
        FloorRatio = p50 / 400.0,
        Launches = 3,
        Operations = 30,
    };

    private static RunResults Results(string preset, params CellResult[] cells)
    {
        var kept = Fakes.Kept(Fakes.Plan());
        return new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = new RunFacts(preset, 7, new Pins(0, 1), kept.Plan.Schedule, "release", DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch, 3, true),
            Machine = kept.Machine,
            Floors = new FloorFigures(100, new Dictionary<string, double> { ["64"] = 200 }, 800, 700, 500, 1e10, 20, null, null, null),
            FloorsReason = null,
            Cells = cells,
        };
    }

    private static readonly RunResults s_results = Results(
        "chosen",
        Cell("shm-event?wait=adaptive", "managed:managed", 123_456), Cell("shm", "native:native", 2_500),
        Cell(Planning.Cell.NoTransport, "managed:managed", 123_456) with
        {
            Scenario = "serialize",
            Codec = "protobuf-direct",
            Phases = ((string[])["build_ns", "translate_ns", "encode_ns", "decode_ns", "traverse_ns"]).ToDictionary(name => name, _ => (double?)123_456),
        },
        Cell("fifo", "bound:bound", null, "failed", "HUNG: the server did not say 'ready' within 20 s and was killed"));

    private static string Render(int width)
    {
        using var text = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(text)
        });
        console.Profile.Width = width;
        ConsoleReport.WriteTables(console, s_results);
        return text.ToString();
    }

    [Theory]
    [InlineData(80)]
    [InlineData(200)]
    public void TablesFitTheTerminalAndBreakNoCell(int width)
    {
        var lines = Render(width).Split('\n');

        Assert.All(lines, line => Assert.True(line.TrimEnd().Length <= width, $"{line.Length} > {width}: {line}"));
        Assert.Contains(lines, line => line.Contains("shm-event?wait=adaptive", StringComparison.Ordinal)
            && line.Contains("managed:managed", StringComparison.Ordinal) && line.Contains("123 µs", StringComparison.Ordinal));
        Assert.Single(lines, line => line.Split("123 µs").Length == 7 && line.TrimStart().StartsWith("managed ", StringComparison.Ordinal));
        Assert.Contains(lines, line => line.Contains("fifo", StringComparison.Ordinal) && line.Contains("failed", StringComparison.Ordinal));
    }

    [Fact]
    public void FastestStandsFirstAndFailuresLast()
    {
        var text = Render(80);

        Assert.True(text.IndexOf("native:native", StringComparison.Ordinal) < text.IndexOf("managed:managed", StringComparison.Ordinal));
        Assert.True(text.IndexOf("managed:managed", StringComparison.Ordinal) < text.IndexOf("bound:bound", StringComparison.Ordinal));
    }

    [Fact]
    public void ElsewhereEveryCellIsOneLine()
    {
        using var text = new StringWriter();
        ConsoleReport.WriteLines(text, s_results);

        var lines = text.ToString().TrimEnd().Split('\n');
        Assert.Equal(4, lines.Length);
        Assert.Equal("shm\tnative:native\traw\tcall\t1k-10k\tok\tp50 2.50 µs\tp99 7.50 µs\t400 k/s\tx floor 6.25", lines[1].TrimEnd());
        Assert.EndsWith("failed\tHUNG: the server did not say 'ready' within 20 s and was killed", lines[3].TrimEnd(), StringComparison.Ordinal);
    }

    [Fact]
    public void MarkdownHasMachineFloorsCellsAndFailures()
    {
        var text = MarkdownReport.Write(s_results);

        Assert.StartsWith("# Measurements on ", text, StringComparison.Ordinal);
        Assert.Contains("## Machine\n", text, StringComparison.Ordinal);
        Assert.Contains("| futex | 800 ns |\n", text, StringComparison.Ordinal);
        Assert.Contains("## call 1k-10k raw\n", text, StringComparison.Ordinal);
        Assert.Contains("| shm | native:native | 2.50 µs | 2.50 µs .. 2.50 µs |", text, StringComparison.Ordinal);
        Assert.Contains("**1 of 4 cells failed**", text, StringComparison.Ordinal);
        Assert.Contains("- failed: fifo bound:bound: HUNG: the server did not say 'ready'", text, StringComparison.Ordinal);
        Assert.DoesNotContain("published", text, StringComparison.Ordinal);
        foreach (var table in text.Split("\n\n").Where(block => block.StartsWith('|')))
            Assert.Single(table.TrimEnd().Split('\n').Select(row => row.Replace("\\|", "", StringComparison.Ordinal).Count(c => c == '|')).Distinct());
    }

    [Fact]
    public void PublishedFiguresStandBesideOursAndWhatCannotRunIsListed()
    {
        var ours = Cell("pipe", "native:native", 5_000) with { Count = 1000 };
        var text = MarkdownReport.Write(Results("seed", ours));

        Assert.Contains("| ipc-readme, machine1 | pipe native:native raw call 1000 -> 10000 B x1000 | 26.0 µs | 5.00 µs |  |\n", text,
            StringComparison.Ordinal);
        Assert.Contains("cannot run here: transport 'msrpc-alpc' exists on windows, not on linux", text, StringComparison.Ordinal);
        Assert.Equal(PublishedFigures.All.Count, PublishedTable.Rows(PublishedFigures.All, [ours]).Count());
    }

    [Theory]
    [InlineData(0.0, "0 ns")]
    [InlineData(999.4, "999 ns")]
    [InlineData(999.6, "1.00 µs")]
    [InlineData(12_345.0, "12.3 µs")]
    [InlineData(1_500_000.0, "1.50 ms")]
    [InlineData(2e9, "2.00 s")]
    [InlineData(null, "-")]
    public void TimesHaveThreeDigits(double? nanoseconds, string text) => Assert.Equal(text, Units.Time(nanoseconds));

    [Theory]
    [InlineData(999_999.99, "1.00 M/s")]
    [InlineData(12.34, "12.3 /s")]
    public void RatesHaveThreeDigits(double rate, string text) => Assert.Equal(text, Units.Rate(rate));
}
