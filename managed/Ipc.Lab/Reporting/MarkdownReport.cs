using System.Globalization;
using System.Text;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>results.md: the run for people, with the machine before the figures and every failure among them.</summary>
internal static class MarkdownReport
{
    public static string Write(RunResults results)
    {
        var text = new StringBuilder();
        WriteHead(text, results);
        WriteMachine(text, results);
        WriteFloors(text, results);
        foreach (var group in CellGroup.Of(results.Cells))
            WriteGroup(text, group);
        WriteBuckets(text, results);
        WriteCallsInFlight(text, results);
        WriteCaches(text, results);
        WriteParts(text, results);
        if (results.Run.Preset == "seed")
            WritePublished(text, results);
        return text.ToString();
    }

    private static void WriteHead(StringBuilder text, RunResults results)
    {
        var run = results.Run;
        Line(text, $"# Measurements on {results.Machine.Name}");
        Line(text);
        if (results.Machine.Wine is { } wine)
            Paragraph(text, $"**{WineVersion.Label(wine)}.**");
        if (run.Build == "debug")
            Paragraph(text, "**Debug builds: these figures say nothing about speed.**");
        if (!run.Complete)
            Paragraph(text, $"**Not complete: {run.RoundsDone} of {run.Schedule.Launches} rounds are whole.**");
        Paragraph(text, $"Preset {run.Preset}, seed {run.Seed}, {run.Pins.Describe(run.Awake)}, "
            + $"started {run.Started.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)}. "
            + "Times are of one operation, seen from the client; each figure is the median over launches of the launch's own, and its 95 % interval "
                + "is of that median. "
            + "`x floor` is p50 by the floor measured right before and after the launch. One-way messages are timed at their receiver, a sample for "
                + "every 1,000 of them (docs/measurement.md).");
        if (results.Cells.Count(c => c.Status == "failed") is var failed and > 0)
            Paragraph(text, $"**{failed} of {results.Cells.Count} cells failed**; they stand in their tables with the reason.");
    }

    private static void WriteMachine(StringBuilder text, RunResults results)
    {
        var machine = results.Machine;
        Line(text, "## Machine");
        Line(text);
        Row(text, "what", "value");
        Row(text, "---", "---");
        Row(text, "CPU", $"{machine.Cpu.Model}, {machine.Cpu.Cpus} CPUs, {machine.Cpu.AllowedCores} cores usable");
        Row(text, "governor, turbo, clock",
            $"{machine.Cpu.Governor ?? "not known"}, {machine.Cpu.Turbo?.ToString() ?? "not known"}, {machine.Cpu.Clocksource ?? "not known"}");
        Row(text, "virtualisation, steal", $"{machine.Virtualisation}, {(machine.StealPercent is { } s ? $"{s} %" : "not known")}");
        Row(text, "system", $"{machine.System}, kernel {machine.Kernel}, {machine.Architecture}");
        Row(text, "memory, huge pages", $"{Units.Bytes(machine.MemoryBytes)}, {machine.TransparentHugePages ?? "none"}");
        foreach (var (side, peer) in machine.Peers.OrderBy(p => p.Key, StringComparer.Ordinal))
            Row(text, $"side {side}", string.Join(", ",
                ((string?[])[peer.Runtime, peer.Compiler, peer.Build, peer.Library]).Where(v => !string.IsNullOrEmpty(v))));
        foreach (var binary in machine.Binaries)
            Row(text, binary.File, $"sha256 {binary.Sha256}");
        Line(text);
    }

    private static void WriteFloors(StringBuilder text, RunResults results)
    {
        Line(text, "## Floors");
        Line(text);
        if (results.FloorsReason is { } reason)
            Paragraph(text, $"**Floors failed: {Escape(reason)}**");
        if (results.Floors is not { } floors)
            return;
        Row(text, "floor", "p50 round trip");
        Row(text, "---", "---:");
        Row(text, "cache line", Units.Time(floors.CachelineRttNs));
        foreach (var (workload, time) in floors.SlotRttNs ?? new Dictionary<string, double>())
            Row(text, $"slot, {workload}", Units.Time(time));
        Row(text, "futex", Units.Time(floors.FutexRttNs));
        Row(text, "pipe", Units.Time(floors.PipeRttNs));
        Row(text, "unix", Units.Time(floors.UnixRttNs));
        foreach (var (bytes, oneWay) in floors.OnewayNs ?? new Dictionary<string, OneWayFloor>())
            Row(text, $"one way, {bytes} B, one by one; by 64 (per message)", $"{Units.Time(oneWay.Single)}; {Units.Time(oneWay.Batch)}");
        Row(text, "clock, one reading", Units.Time(floors.ClockNs));
        Row(text, "memory copied", Units.BytesPerSecond(floors.MemcpyBytesPerS));
        Line(text);
    }

    private static void WriteGroup(StringBuilder text, CellGroup group)
    {
        IReadOnlyList<Column> columns = group.IsAlone ? Columns.AloneFull : group.Fit(Columns.Full);
        Line(text, $"## {group.Title}");
        Line(text);
        Row(text, [.. columns.Select(c => c.Title)]);
        Row(text, [.. columns.Select(c => c.IsText ? "---" : "---:")]);
        foreach (var cell in group.Cells)
            Row(text, [.. columns.Select(c => c.Value(cell))]);
        Line(text);
        foreach (var cell in group.Cells.Where(c => c.Status is "failed" or "skipped"))
            Line(text, $"- {cell.Status}: {cell.Transport} {cell.Pair}: {Escape(cell.Reason ?? "")}");
        foreach (var note in group.Cells.Where(c => c.Note is not null).Select(c => $"- note on {c.Transport}: {Escape(c.Note!)}").Distinct())
            Line(text, note);
        if (group.Cells.Any(c => c.Status is "failed" or "skipped" || c.Note is not null))
            Line(text);
    }

    private static void WriteBuckets(StringBuilder text, RunResults results)
    {
        var curves = BucketCurve.Of(results.Cells);
        if (curves.Count == 0)
            return;
        int[] buckets = [.. curves.SelectMany(c => c.Points).Select(BucketCurve.BucketOf).Distinct().Order()];
        Line(text, "## What buckets gain");
        Line(text);
        Paragraph(text, "Time of one object (p50) by how many go together in one call. Best: between those named there is no difference; a question "
            + "mark says that launches are too few to tell. Gain: of the best over one by one.");
        Row(text, ["transport", "server:client", "codec", .. buckets.Select(b => b.ToString(CultureInfo.InvariantCulture)), "best", "gain"]);
        Row(text, ["---", "---", "---", .. buckets.Select(_ => "---:"), "---:", "---:"]);
        foreach (var curve in curves)
            Row(text, [curve.Transport, curve.Pair, curve.Codec,
                .. buckets.Select(b => Units.Time(curve.Points.FirstOrDefault(c => BucketCurve.BucketOf(c) == b)?.P50Ns)), curve.BestText, curve.GainText]);
        Line(text);
    }

    private static void WriteCallsInFlight(StringBuilder text, RunResults results)
    {
        var curves = InFlightCurve.Of(results.Cells);
        if (curves.Count == 0)
            return;
        int[] counts = [.. curves.SelectMany(c => c.Points).Select(c => InFlightCurve.InFlightOf(c.Scenario)).Distinct().Order()];
        Line(text, "## What calls in flight gain");
        Line(text);
        Paragraph(text, $"Calls a second by wall time, by how many are in flight on one channel. Gain: of {InFlightCurve.Headline} in flight over one "
            + "at a time, of launches of one placement, with what the intervals of both leave open.");
        Row(text, ["transport", "server:client", "message", "codec", .. counts.Select(n => n.ToString(CultureInfo.InvariantCulture)), "gain"]);
        Row(text, ["---", "---", "---", "---", .. counts.Select(_ => "---:"), "---:"]);
        foreach (var curve in curves)
        {
            Row(text, [curve.Transport, curve.Pair, curve.Workload, curve.Codec, .. counts.Select(n => Units.Rate(curve.At(n)?.OpsPerS)),
                curve.GainTextOf(InFlightCurve.Headline)]);
        }
        Line(text);
    }

    private static void WriteCaches(StringBuilder text, RunResults results)
    {
        var effects = CacheEffect.Of(results.Cells);
        if (effects.Count == 0)
            return;
        Line(text, "## What caches give");
        Line(text);
        Paragraph(text, "Time of a raw call (p50) that has the same data every time, and how many times as long it takes when each request and reply is "
            + "another one of 64 MiB on either side, in the order of memory and in random order; of launches of one placement, with what the intervals of "
            + "both leave open.");
        Row(text, "transport", "server:client", "message", "same data", "in the order of memory", "in random order");
        Row(text, "---", "---", "---", "---:", "---:", "---:");
        foreach (var effect in effects)
        {
            Row(text, effect.Same.Transport, effect.Same.Pair, Names.Size("call", effect.Same.Workload), Units.Time(effect.Same.P50Ns),
                effect.TextOf(effect.InOrder), effect.TextOf(effect.Shuffled));
        }
        Line(text);
    }

    private static void WriteParts(StringBuilder text, RunResults results)
    {
        var cells = results.Cells.Where(c => c.Decomposition is not null).ToList();
        if (cells.Count == 0)
            return;
        Line(text, "## Where the time goes");
        Line(text);
        Paragraph(text, "Of the p50 of calls: codecs alone, the same call with raw bytes, and the floors, as this run measured them apart "
            + "(docs/measurement.md).");
        Row(text, ["call", "p50", .. DecompositionStep.Names, "not explained"]);
        Row(text, ["---", "---:", .. DecompositionStep.Names.Select(_ => "---:"), "---:"]);
        foreach (var cell in cells)
        {
            var parts = cell.Decomposition!;
            Row(text, [cell.Cell.ToString(), Units.Time(parts.P50Ns), .. DecompositionStep.Names.Select(name => parts.Of(name) is { } ns ? Units.Time(ns) : ""),
                string.Create(CultureInfo.InvariantCulture, $"{parts.NotExplainedNs / parts.P50Ns * 100:0} %")]);
        }
        Line(text);
    }

    private static void WritePublished(StringBuilder text, RunResults results)
    {
        Line(text, "## Beside published figures");
        Line(text);
        Paragraph(text, "Mean time of one operation. Theirs were measured on other machines by other programs (reference/published-figures.csv); they "
            + "are shown, never mixed in.");
        Row(text, [.. PublishedTable.Titles]);
        Row(text, "---", "---", "---:", "---:", "---");
        foreach (var row in PublishedTable.Rows(PublishedFigures.All, results.Cells))
            Row(text, [.. row]);
        Line(text);
    }

    private static void Paragraph(StringBuilder text, string line)
    {
        Line(text, line);
        Line(text);
    }

    private static void Row(StringBuilder text, params string[] values) => Line(text, $"| {string.Join(" | ", values.Select(Escape))} |");

    private static string Escape(string value) => value.Replace("|", "\\|", StringComparison.Ordinal);

    // Files are the same on every system.
    private static void Line(StringBuilder text, string line = "") => text.Append(line).Append('\n');
}
