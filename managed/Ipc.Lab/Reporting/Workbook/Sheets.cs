using System.Globalization;
using Ipc.Lab.Findings;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>The sheets of the workbook, in their order.</summary>
internal static class Sheets
{
    public static IReadOnlyList<Sheet> Of(IReadOnlyList<MachineReport> machines)
    {
        var sheets = new List<Sheet> { SummarySheet.Of(machines) };
        foreach (var machine in machines)
        {
            // One machine needs no name on every sheet.
            string Named(string name) => machines.Count == 1 ? name : Fit($"{name} {machine.Label}", sheets);
            sheets.AddRange(new[]
            {
                MeasuredSheet.Of(Named("Request"), "Calls: request and reply", machine, c =>
                    c.Scenario is "call" or "handler" or "one-cpu" or "shuffled" or "in-order" or "bitness" or "reconnect" or "startup"
                    || c.Scenario.StartsWith("ui-", StringComparison.Ordinal)),
                MeasuredSheet.Of(Named("Push"), "Messages whose receiver confirms them with one byte", machine, c => c.Scenario is "push" or "push-many"),
                MeasuredSheet.Of(Named("One-way"), "One-way messages, timed at the receiver", machine, c => Names.IsStream(c.Scenario)),
                SerializationSheet.Of(Named("Serialization"), machine),
                GainSheet.OfBatches.Of(Named("Batching"), machine),
                GainSheet.OfCallsInFlight.Of(Named("In flight"), machine),
                CachesSheet.Of(Named("Caches"), machine),
                MeasuredSheet.Of(Named("Buckets"), "Objects in buckets, each bucket one call; figures are of one object", machine, c => c.Scenario == "batch"),
                MeasuredSheet.Of(Named("Pipelined"), "Calls of which several are in flight on one channel, each timed from its submission", machine, c =>
                    InFlightCurve.InFlightOf(c.Scenario) > 0),
                MeasuredSheet.Of(Named("Paced"), "So many calls a second, timed from when each was due", machine, c => c.Scenario == "paced"),
                OutsideSheet.Of(Named("Startup"), "Starts of processes: until the server listens, until the client has its first reply", machine, "startup",
                    Value.Time),
                OutsideSheet.Of(Named("Footprint"), "Memory by the kernel's account; the column ten servers is all ten together", machine, "footprint", v =>
                    new Value(v, Look.Bytes)),
                OutsideSheet.Of(Named("Idle"), "Processor time of a second in which nobody calls, by how the server waits", machine, "idle", Value.Time),
                PairsSheet.Of(Named("Pairs"), machine),
            }.OfType<Sheet>());
        }
        if (PublishedSheet.Of(machines) is { } published)
            sheets.Add(published);
        sheets.Add(FindingsSheet.Of(machines));
        sheets.Add(EnvironmentSheet.Of(machines));
        sheets.Add(RawSheet.Of(machines));
        return sheets;
    }

    /// <summary>A name that no other sheet has, in the 31 characters and without the signs that Excel refuses.</summary>
    private static string Fit(string wish, List<Sheet> taken)
    {
        var name = string.Concat(wish.Select(c => c is '[' or ']' or ':' or '*' or '?' or '/' or '\\' or '\'' ? '-' : c));
        name = name.Length <= 31 ? name : name[..31];
        for (var number = 2; taken.Any(s => string.Equals(s.Name, name, StringComparison.OrdinalIgnoreCase)); number++)
            name = string.Create(CultureInfo.InvariantCulture, $"{name[..Math.Min(name.Length, 27)]} {number}");
        return name;
    }

    /// <summary>A sheet's name as part of a defined one.</summary>
    public static string NameOf(Sheet sheet, string what) => $"{string.Concat(sheet.Name.Select(c => char.IsAsciiLetterOrDigit(c) ? c : '_'))}_{what}";
}

/// <summary>What to use for what, on every machine, and the chart that shows it.</summary>
internal static class SummarySheet
{
    private static readonly string[] s_head = ["machine", "server", "client", "message", "use", "p50", "interval from", "to", "CPU, both ends", "next best"];

    public static Sheet Of(IReadOnlyList<MachineReport> machines)
    {
        var sheet = new Sheet("Summary") { Widths = [18, 18, 18, 36, 46, 12, 14, 12, 15, 44], Frozen = (2, 0) };
        sheet.Add(new Value("What to use for what", Look.Title));
        sheet.Add(new Value($"{Verdict.Rule} Filter by machine, server and client.", Look.Note));
        foreach (var (machine, banner) in machines.SelectMany(m => m.Banners().Select(b => (m, b))))
            sheet.Add(new Value($"{machine.Label}: {banner}", Look.Bad));
        // The charts stand above the table, so that the answer is seen first.
        const int ChartRows = 20;
        var chartRow = sheet.Count + 2;
        while (sheet.Count < chartRow + ChartRows)
            sheet.Add();
        var data = Decisions(machines);
        sheet.AddHead(s_head);
        var head = sheet.Count;
        foreach (var machine in machines)
        {
            foreach (var question in machine.Sound.Where(c => !c.IsAlone).Select(c => c.Result.Pair).Distinct().SelectMany(p => Question.Of(machine, p)))
            {
                var best = question.Verdict.Best;
                var sides = question.Pair.Split(':');
                sheet.Add(Value.Text(machine.Label), Value.Text(Names.Side(sides[0])), Value.Text(Names.Side(sides[1])), Value.Text(question.Title),
                    new Value(question.Answer, question.Verdict is { IsCertain: true, Tied.Count: 1 } ? Look.Best : Look.Text),
                    Value.Time(best.P50Ns), Value.Time(best.P50Ci?[0]), Value.Time(best.P50Ci?[1]),
                    Value.Time(best.CpuNsPerOp?.Server + best.CpuNsPerOp?.Client), Value.Text(question.Next));
            }
        }
        sheet.Table = (head, sheet.Count, s_head.Length);
        sheet.Names.Add(("Decisions", $"'{sheet.Name}'!$A${head}:$J${sheet.Count}"));
        AddCharts(sheet, data, chartRow, ChartRows);
        return sheet;
    }

    private static IEnumerable<(MachineReport Machine, Question Question)> Decisions(IReadOnlyList<MachineReport> machines) =>
        from machine in machines
        let questions = Question.Of(machine, Question.UsualPair(machine)).Where(q => !q.Objects && q.Verdict.Ranked.Count > 1).ToList()
        let question = questions.FirstOrDefault(q => q is { Scenario: "call", Workload: "64" }) ?? questions.MaxBy(q => q.Verdict.Ranked.Count)
        where question is not null
        select (machine, question);

    // What the charts draw stands to the right of the table, each machine's by itself.
    private static void AddCharts(Sheet sheet, IEnumerable<(MachineReport Machine, Question Question)> decisions, int row, int rows)
    {
        var column = 1;
        var at = 0;
        foreach (var (machine, question) in decisions)
        {
            var ranked = question.Verdict.Ranked.Take(24).ToList();
            var first = sheet.Count + 4;
            sheet.Add();
            sheet.Add(new Value($"In the chart: {question.Title}, {Names.Pair(question.Pair)}, {machine.Label}", Look.Note));
            sheet.AddHead("machine", "", "", "message", "transport", "p50", "below", "above");
            foreach (var cell in ranked)
            {
                var (below, above) = Whiskers.Of(cell.P50Ns, cell.P50Ci);
                sheet.Add(Value.Text(machine.Label), default, default, Value.Text(question.Title), Value.Text(question.NameOf(cell)), Value.Time(cell.P50Ns),
                    Value.Time(below), Value.Time(above));
            }
            var last = sheet.Count;
            var columns = at == 0 ? 4 : 5;
            sheet.Charts.Add(new Chart(ChartKind.Dots, $"{question.Title}, {Names.Pair(question.Pair)}: {machine.Label}", Styles.TimeFormat, "",
                [new Series("p50 and interval", sheet.Reference(5, first, last), [.. ranked.Select(question.NameOf)], sheet.Reference(6, first, last),
                    [.. ranked.Select(c => c.P50Ns)], Whiskers.At(sheet, 7, first, last, ranked.Select(c => (c.P50Ns, c.P50Ci))))],
                (column, row, columns, rows - 1), "median time, logarithmic", ""));
            column += columns;
            at++;
        }
    }
}

/// <summary>Published figures beside ours, wherever a machine repeated the same cell: shown, never mixed in and in no ratio, because the machines
/// differ.</summary>
internal static class PublishedSheet
{
    private static readonly string[] s_head = ["machine", "source", "what", "theirs, mean", "here, mean", "note"];

    public static Sheet? Of(IReadOnlyList<MachineReport> machines)
    {
        var rows = machines
            .SelectMany(m => PublishedTable.Compare(PublishedFigures.All, [.. m.Cells.Where(c => !c.IsSuperseded).Select(c => c.Result)])
                .Where(r => r.Here is not null).Select(r => (m.Label, Row: r)))
            .ToList();
        if (rows.Count == 0)
            return null;
        var sheet = new Sheet("Published") { Widths = [18, 34, 60, 14, 14, 70], Frozen = (3, 0) };
        sheet.Add(new Value("Published elsewhere, and here", Look.Title));
        sheet.Add(new Value("Mean time of one operation. Theirs were measured on other machines by other programs: orders of magnitude may be "
            + "compared, percents not.", Look.Note));
        sheet.AddHead(s_head);
        foreach (var (label, row) in rows)
            sheet.Add(Value.Text(label), Value.Text(row.Source), Value.Text(row.What), Value.Time(row.Theirs), Value.Time(row.Here), Value.Text(row.Note));
        sheet.Table = (3, sheet.Count, s_head.Length);
        sheet.Names.Add(("Published_figures", $"'{sheet.Name}'!$A$3:$F${sheet.Count}"));
        return sheet;
    }
}

/// <summary>The machines beside one another.</summary>
internal static class EnvironmentSheet
{
    public static Sheet Of(IReadOnlyList<MachineReport> machines)
    {
        var sheet = new Sheet("Environment") { Widths = [26, .. machines.Select(_ => 70.0)], Frozen = (1, 1) };
        sheet.AddHead(["", .. machines.Select(m => m.Label)]);
        void Row(string what, Func<MachineReport, string?> value) =>
            sheet.Add([new Value(what, Look.Note), .. machines.Select(m => new Value(value(m), Look.Wrap))]);
        Row("processor", m => $"{m.Machine.Cpu.Model}, {m.Machine.Cpu.Cpus} CPUs, {m.Machine.Cpu.AllowedCores} cores usable");
        Row("governor", m => m.Machine.Cpu.Governor ?? "not known");
        Row("kept awake by others", m => m.Machine.Cpu.WakesWithinUs is { } us ? $"within {us} µs" : "not known");
        Row("turbo", m => m.Machine.Cpu.Turbo?.ToString() ?? "not known");
        Row("clock source", m => m.Machine.Cpu.Clocksource ?? "not known");
        Row("virtualisation", m => m.Machine.Virtualisation);
        Row("steal", m => m.Machine.StealPercent is { } s ? string.Create(CultureInfo.InvariantCulture, $"{s} %") : "not known");
        Row("system", m => $"{m.Machine.System}, kernel {m.Machine.Kernel}, {m.Machine.Architecture}");
        Row("Wine", m => m.Machine.Wine ?? "no");
        Row("memory", m => Units.Bytes(m.Machine.MemoryBytes));
        foreach (var side in machines.SelectMany(m => m.Machine.Peers.Keys).Distinct().Order(StringComparer.Ordinal))
            Row($"side {side}", m => m.Machine.Peers.TryGetValue(side, out var p)
                ? string.Join(", ", ((string?[])[p.Runtime, p.Compiler, p.Build, p.Library]).Where(v => !string.IsNullOrEmpty(v)))
                : "");
        foreach (var run in Enumerable.Range(0, machines.Max(m => m.Runs.Count)))
        {
            Row($"run {run + 1}", m => m.Runs.ElementAtOrDefault(run) is { } r
                ? $"{r.Folder}: preset {r.Results.Run.Preset}, seed {r.Results.Run.Seed}, {r.Results.Run.Schedule.Launches} launches, "
                    + $"{r.Results.Run.Pins.Describe(r.Results.Run.Awake)}, "
                    + $"{r.Results.Run.Started.ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture)}" : "");
            Row($"run {run + 1}, floors", m => m.Runs.ElementAtOrDefault(run)?.Results.Floors is { } f
                ? $"cache line {Units.Time(f.CachelineRttNs)}, slot {Units.Time(f.For("slot", FloorFigures.SmallestSize))}, "
                    + $"futex {Units.Time(f.FutexRttNs)}, pipe {Units.Time(f.PipeRttNs)}, unix {Units.Time(f.UnixRttNs)}, clock {Units.Time(f.ClockNs)}, "
                    + $"memory copied {Units.BytesPerSecond(f.MemcpyBytesPerS)}" : "");
        }
        foreach (var file in machines.SelectMany(m => m.Machine.Binaries.Select(b => b.File)).Distinct())
            Row(file, m => m.Machine.Binaries.FirstOrDefault(b => b.File == file)?.Sha256);
        return sheet;
    }
}

/// <summary>Every cell, with every figure, as numbers.</summary>
internal static class RawSheet
{
    private static readonly (string Title, Func<CellResult, Value> Value)[] s_columns =
    [
        ("transport", c => Value.Text(c.Transport)), ("pair", c => Value.Text(c.Pair)), ("codec", c => Value.Text(c.Codec)),
        ("scenario", c => Value.Text(c.Scenario)), ("workload", c => Value.Text(c.Workload)),
        ("count", c => new Value(c.Count, Look.Count)), ("status", c => new Value(c.Status, c.Status == "ok" ? Look.Text : Look.Bad)),
        ("reason", c => Value.Text(c.Reason)), ("placement", c => Value.Text(c.Placement)),
        ("launches", c => new Value(c.Launches, Look.Count)), ("coverage", c => new Value(c.Coverage, Look.Plain)),
        ("operations", c => new Value(c.Operations, Look.Count)),
        ("p50", c => Value.Time(c.P50Ns)), ("p50 from", c => Value.Time(c.P50Ci?[0])), ("p50 to", c => Value.Time(c.P50Ci?[1])),
        ("p90", c => Value.Time(c.P90Ns)), ("p99", c => Value.Time(c.P99Ns)),
        ("p99 from", c => Value.Time(c.P99Ci?[0])), ("p99 to", c => Value.Time(c.P99Ci?[1])), ("p99.9", c => Value.Time(c.P999Ns)),
        ("p99.99", c => Value.Time(c.P9999Ns)), ("max", c => Value.Time(c.MaxNs)),
        ("mean", c => Value.Time(c.MeanNs)), ("operations/s", c => Value.Rate(c.OpsPerS)), ("operations/s from", c => Value.Rate(c.OpsPerSCi?[0])),
        ("operations/s to", c => Value.Rate(c.OpsPerSCi?[1])),
        ("bytes/s", c => new Value(c.BytesPerS, Look.Bytes)), ("cache line", c => Value.Time(c.LineNs)), ("floor", c => Value.Text(c.Floor)),
        ("floor time", c => Value.Time(c.FloorNs)),
        ("x floor", c => new Value(c.FloorRatio, Look.Ratio)), ("x floor from", c => new Value(c.FloorRatioCi?[0], Look.Ratio)),
        ("x floor to", c => new Value(c.FloorRatioCi?[1], Look.Ratio)),
        ("connect + first", c => Value.Time(c.ColdNs)), ("CPU server", c => Value.Time(c.CpuNsPerOp?.Server)),
        ("CPU client", c => Value.Time(c.CpuNsPerOp?.Client)),
        ("memory server", c => new Value(c.MemoryBytes?.Server, Look.Bytes)), ("memory client", c => new Value(c.MemoryBytes?.Client, Look.Bytes)),
        ("allocated", c => new Value(c.AllocatedBytesPerOp, Look.Bytes)),
        .. DecompositionStep.Names.Select(name => ($"of p50: {name}", (Func<CellResult, Value>)(c => Value.Time(c.Decomposition?.Of(name))))),
        ("of p50: not explained", c => Value.Time(c.Decomposition?.NotExplainedNs)),
    ];

    public static Sheet Of(IReadOnlyList<MachineReport> machines)
    {
        var sheet = new Sheet("Raw") { Widths = [16, 24, 18, 15, 14, 14, 9, 10, 30, .. Enumerable.Repeat(12.0, s_columns.Length - 8)], Frozen = (1, 2) };
        sheet.AddHead(["machine", .. s_columns.Select(c => c.Title)]);
        foreach (var (machine, cell) in machines.SelectMany(m => m.Cells.Select(c => (m, c))))
            sheet.Add([Value.Text(cell.IsSuperseded ? $"{machine.Label}, older run" : machine.Label), .. s_columns.Select(c => c.Value(cell.Result))]);
        sheet.Table = (1, sheet.Count, s_columns.Length + 1);
        sheet.Names.Add(("Raw_cells", $"'{sheet.Name}'!$A$1:${Sheet.Column(s_columns.Length + 1)}${sheet.Count}"));
        return sheet;
    }
}
