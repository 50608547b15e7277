using Ipc.Lab.Machine;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>The results on a terminal as tables that fit it; elsewhere as one plain line per cell.</summary>
internal static class ConsoleReport
{
    // Below this, the wide tables would break their columns.
    private const int WideFrom = 170;

    public static void WriteTables(IAnsiConsole console, RunResults results)
    {
        if (results.Machine.Wine is { } wine)
            console.MarkupLineInterpolated($"[yellow]{WineVersion.Label(wine)}[/]");
        WriteFloors(console, results);
        foreach (var group in CellGroup.Of(results.Cells))
            WriteGroup(console, group);
        WriteBuckets(console, results);
        WriteCallsInFlight(console, results);
        WriteCaches(console, results);
        WriteParts(console, results);
    }

    private static void WriteBuckets(IAnsiConsole console, RunResults results)
    {
        var curves = BucketCurve.Of(results.Cells);
        if (curves.Count == 0)
            return;
        var table = TableOf("which bucket is best", ["transport", "server:client", "codec"], ["one by one", "bucket", "each", "gain"]);
        foreach (var curve in curves)
        {
            var single = curve.Points.FirstOrDefault(c => BucketCurve.BucketOf(c) == 1);
            table.AddRow(curve.Transport, curve.Pair, curve.Codec, Units.Time(single?.P50Ns), curve.BestText, Units.Time(curve.Verdict.Best.P50Ns),
                curve.Gain is null ? Units.Unknown : $"{Units.Ratio(curve.Gain)} x");
        }
        console.Write(table);
    }

    private static void WriteCallsInFlight(IAnsiConsole console, RunResults results)
    {
        var curves = InFlightCurve.Of(results.Cells);
        if (curves.Count == 0)
            return;
        int[] counts = [.. curves.SelectMany(c => c.Points).Select(c => InFlightCurve.InFlightOf(c.Scenario)).Distinct().Order()];
        var table = TableOf("calls a second, by how many are in flight", ["transport", "server:client", "message", "codec"],
            [.. counts.Select(n => $"{n}").Append($"gain of {InFlightCurve.Headline}")]);
        foreach (var curve in curves)
        {
            var gain = curve.GainOf(InFlightCurve.Headline) is { } times ? $"{Units.Ratio(times)} x" : Units.Unknown;
            table.AddRow([Markup.Escape(curve.Transport), curve.Pair, curve.Workload, curve.Codec, .. counts.Select(n => Units.Rate(curve.At(n)?.OpsPerS)),
                gain]);
        }
        console.Write(table);
    }

    private static void WriteCaches(IAnsiConsole console, RunResults results)
    {
        var effects = CacheEffect.Of(results.Cells);
        if (effects.Count == 0)
            return;
        var table = TableOf("calls with data that no cache holds, by those with the same data", ["transport", "server:client", "message"],
            ["same data", "in order", "shuffled"]);
        foreach (var effect in effects)
        {
            string Times(CellResult? own) => effect.RatioOf(own) is { } ratio ? $"{Units.Ratio(ratio)} x" : Units.Unknown;
            table.AddRow(Markup.Escape(effect.Same.Transport), effect.Same.Pair, effect.Same.Workload, Units.Time(effect.Same.P50Ns), Times(effect.InOrder),
                Times(effect.Shuffled));
        }
        console.Write(table);
    }

    private static Table TableOf(string title, string[] texts, string[] figures)
    {
        var table = new Table().Border(TableBorder.Simple).Title($"[bold]{title}[/]");
        table.Title!.Style = Style.Plain;
        foreach (var text in texts)
            table.AddColumn(new TableColumn(text) { NoWrap = true });
        foreach (var figure in figures)
            table.AddColumn(new TableColumn(figure) { Alignment = Justify.Right, NoWrap = true });
        return table;
    }

    /// <summary>One line per cell, fields separated by tabs: fit for grep and cut.</summary>
    public static void WriteLines(TextWriter output, RunResults results)
    {
        foreach (var cell in results.Cells)
        {
            var name = $"{cell.Transport}\t{cell.Pair}\t{cell.Codec}\t{cell.Scenario}\t{cell.Workload}\t{cell.Status}";
            output.WriteLine(cell.Status == "ok"
                ? $"{name}\tp50 {Units.Time(cell.P50Ns)}\tp99 {Units.Time(cell.P99Ns)}\t{RateOf(cell)}"
                    + $"\tx floor {Units.Ratio(cell.FloorRatio)}{(cell.Wine is { } wine ? $"\t{wine}" : "")}"
                : $"{name}\t{cell.Reason}");
        }
    }

    private static string RateOf(CellResult cell) =>
        Planning.Choices.ScenarioEntry(cell.Scenario).IsStream ? Units.MessageRate(cell.OpsPerS) : Units.Rate(cell.OpsPerS);

    private static void WriteFloors(IAnsiConsole console, RunResults results)
    {
        if (results.Floors is { } f)
        {
            var slot = Units.Time(f.For("slot", FloorFigures.SmallestSize));
            console.MarkupLine($"[bold]floors[/] (round trips): cache line {Units.Time(f.CachelineRttNs)}, slot {slot}, futex {Units.Time(f.FutexRttNs)}, "
                + $"pipe {Units.Time(f.PipeRttNs)}, unix {Units.Time(f.UnixRttNs)}; memcpy {Units.BytesPerSecond(f.MemcpyBytesPerS)}; "
                + $"clock {Units.Time(f.ClockNs)}");
        }
        foreach (var (bytes, oneWay) in results.Floors?.OnewayNs ?? new Dictionary<string, OneWayFloor>())
            console.MarkupLineInterpolated(
                $"[bold]floor one way[/], {bytes} B: {Units.MessageRate(1e9 / oneWay.Single)} one by one, {Units.MessageRate(1e9 / oneWay.Batch)} by 64");
        if (results.FloorsReason is { } reason)
            console.MarkupLineInterpolated($"[red]floors failed: {reason}[/]");
    }

    private static void WriteParts(IAnsiConsole console, RunResults results)
    {
        var cells = results.Cells.Where(c => c.Decomposition is not null).ToList();
        if (cells.Count == 0)
            return;
        var table = new Table().Border(TableBorder.Simple).Title("[bold]where the p50 of calls goes[/]");
        table.Title!.Style = Style.Plain;
        table.AddColumn("call");
        foreach (var name in DecompositionStep.Names.Prepend("p50").Append("not explained"))
            table.AddColumn(new TableColumn(name) { Alignment = Justify.Right, NoWrap = true });
        foreach (var cell in cells)
        {
            var parts = cell.Decomposition!;
            table.AddRow([Markup.Escape(cell.Cell.ToString()), Units.Time(parts.P50Ns),
                .. DecompositionStep.Names.Select(name => parts.Of(name) is { } ns ? Units.Time(ns) : ""),
                string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{100 * parts.NotExplainedNs / parts.P50Ns:0} %")]);
        }
        console.Write(table);
    }

    private static void WriteGroup(IAnsiConsole console, CellGroup group)
    {
        IReadOnlyList<Column> columns = group.IsAlone ? Columns.Alone
            : group.Fit(console.Profile.Width >= WideFrom ? Columns.Wide : Columns.Narrow);
        var table = new Table().Border(TableBorder.Simple).Title($"[bold]{Markup.Escape(group.Title)}[/]");
        table.Title!.Style = Style.Plain;
        foreach (var column in columns)
            table.AddColumn(Format(column));
        foreach (var cell in group.Cells)
            table.AddRow([.. columns.Select(c => Markup.Escape(c.Value(cell)))]);
        console.Write(table);
        foreach (var cell in group.Cells.Where(c => c.Status is "failed" or "skipped"))
            console.MarkupLineInterpolated($"  [{(cell.Status == "failed" ? "red" : "yellow")}]{cell.Status}[/] {cell.Transport} {cell.Pair}: {cell.Reason}");
    }

    private static TableColumn Format(Column column)
    {
        var formatted = new TableColumn(Markup.Escape(column.Title)).NoWrap().Padding(0, 0, 1, 0);
        return column.IsText ? formatted : formatted.RightAligned();
    }
}
