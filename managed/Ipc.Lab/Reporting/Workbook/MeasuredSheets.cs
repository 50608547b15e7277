using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>Cells of one kind of conversation: a table that filters, and each codec's or scenario's chart by size.</summary>
internal static class MeasuredSheet
{
    private static readonly string[] s_head =
        ["server", "client", "scenario", "codec", "transport", "message", "bytes", "p50", "interval from", "to", "p99", "rate", "rate from", "to",
            "CPU, both ends", "launches", "p50, below", "above", "rate, below", "above"];

    public static Sheet? Of(string name, string title, MachineReport machine, Func<CellResult, bool> wanted)
    {
        var cells = Ordered(machine, wanted);
        if (cells.Count == 0)
            return null;
        var sheet = new Sheet(name) { Widths = [16, 16, 14, 14, 24, 20, 11, 11, 14, 11, 11, 12, 12, 12, 16, 10, 12, 11, 12, 11], Frozen = (3, 0) };
        sheet.Add(new Value($"{title}: {machine.Label}", Look.Title));
        sheet.Add(new Value("One figure is the median over launches; intervals are of the same statistic. Charts stand to the right.", Look.Note));
        sheet.AddHead(s_head);
        var rows = new List<(CellResult Cell, int Row)>();
        foreach (var c in cells)
        {
            var sides = c.Pair.Split(':');
            var (time, rate) = (Whiskers.Of(c.P50Ns, c.P50Ci), Whiskers.Of(c.OpsPerS, c.OpsPerSCi));
            var row = sheet.Add(Value.Text(Names.Side(sides[0])), Value.Text(Names.Side(sides[1])), Value.Text(c.Scenario), Value.Text(c.Codec),
                Value.Text(c.Transport), Value.Text($"{Names.Size(c.Scenario, c.Workload)}{(c.Count is { } n ? $" x{n}" : "")}"),
                new Value(Bytes(c), Look.Bytes), Value.Time(c.P50Ns), Value.Time(c.P50Ci?[0]), Value.Time(c.P50Ci?[1]), Value.Time(c.P99Ns),
                Value.Rate(c.OpsPerS), Value.Rate(c.OpsPerSCi?[0]), Value.Rate(c.OpsPerSCi?[1]),
                Value.Time(c.CpuNsPerOp?.Server + c.CpuNsPerOp?.Client), new Value(c.Launches, Look.Count), Value.Time(time.Below), Value.Time(time.Above),
                Value.Rate(rate.Below), Value.Rate(rate.Above));
            rows.Add((c, row));
        }
        sheet.Table = (3, sheet.Count, s_head.Length);
        sheet.Names.Add((Sheets.NameOf(sheet, "table"), $"'{name}'!$A$3:$T${sheet.Count}"));
        sheet.Names.Add((Sheets.NameOf(sheet, "p50"), sheet.Reference(8, 4, sheet.Count)));
        AddCharts(sheet, machine, rows);
        return sheet;
    }

    // The order makes each series of a chart one range.
    private static List<CellResult> Ordered(MachineReport machine, Func<CellResult, bool> wanted) =>
    [
        .. machine.Sound.Where(c => !c.IsAlone).Select(c => c.Result).Where(wanted)
            .OrderBy(c => Names.RankOf(Registry.Sides.Select(s => s.Id), c.Pair.Split(':')[0]))
                .ThenBy(c => Names.RankOf(Registry.Sides.Select(s => s.Id), c.Pair.Split(':')[1]))
            .ThenBy(c => Names.RankOf(Registry.Scenarios.Select(s => s.Id), c.Scenario)).ThenBy(c => Names.RankOf(Registry.Codecs.Select(s => s.Id), c.Codec))
            .ThenBy(c => c.Count is not null).ThenBy(c => Names.RankOf(Registry.Transports.Select(t => t.Id), TransportSpec.IdOf(c.Transport)))
                .ThenBy(c => c.Transport, StringComparer.Ordinal)
            .ThenBy(Bytes).ThenBy(c => c.Workload, StringComparer.Ordinal),
    ];

    private static long Bytes(CellResult c) =>
        Names.IsOneWay(c.Scenario) ? Choices.FindWorkload(c.Workload)?.RequestBytes ?? 0 : Names.BytesOf(c.Workload);

    private static void AddCharts(Sheet sheet, MachineReport machine, List<(CellResult Cell, int Row)> rows)
    {
        var pair = Question.UsualPair(machine);
        var row = 4;
        foreach (var group in rows.Where(r => r.Cell.Pair == pair && r.Cell.Count is null && Bytes(r.Cell) > 0).GroupBy(r => (r.Cell.Scenario, r.Cell.Codec))
            .Take(6))
        {
            var rate = Names.IsStream(group.Key.Scenario);
            var series = group.GroupBy(r => r.Cell.Transport).Take(12).Select(line =>
            {
                var all = line.ToList();
                var (first, last) = (all[0].Row, all[^1].Row);
                return new Series(line.Key, sheet.Reference(7, first, last), [.. all.Select(r => (object?)Bytes(r.Cell))],
                    sheet.Reference(rate ? 12 : 8, first, last),
                    [.. all.Select(r => rate ? r.Cell.OpsPerS : r.Cell.P50Ns)],
                    Whiskers.At(sheet, rate ? 19 : 17, first, last, all.Select(r => rate ? (r.Cell.OpsPerS, r.Cell.OpsPerSCi) : (r.Cell.P50Ns, r.Cell.P50Ci))));
            }).ToList();
            var title = $"{Names.Scenario(group.Key.Scenario)}, {group.Key.Codec}, {Names.Pair(pair)}";
            sheet.Charts.Add(new Chart(ChartKind.Lines, title, rate ? Styles.RateFormat : Styles.TimeFormat, Styles.BytesFormat, series, (22, row, 11, 24),
                rate ? "messages a second" : "median time", rate ? "bytes of a message" : "bytes, both ways"));
            row += 25;
        }
    }
}

/// <summary>Codecs alone: their steps, stacked.</summary>
internal static class SerializationSheet
{
    private static readonly string[] s_steps = ["build", "translate", "encode", "decode", "traverse"];

    public static Sheet? Of(string name, MachineReport machine)
    {
        var cells = machine.Sound.Where(c => c.IsAlone && c.Result.Phases is not null).Select(c => c.Result)
            .OrderBy(c => Names.BytesOf(c.Workload)).ThenBy(c => c.P50Ns).ToList();
        if (cells.Count == 0)
            return null;
        var sheet = new Sheet(name) { Widths = [22, 30, 14, 11, 12, 11, 11, 11, 11, 11, 11], Frozen = (3, 0) };
        sheet.Add(new Value($"Codecs alone, without a transport: {machine.Label}", Look.Title));
        sheet.Add(new Value("One process builds a request, encodes, decodes and reads it.", Look.Note));
        sheet.AddHead(["message", "codec, side", "side", "p50", "interval from", "to", .. s_steps]);
        var chartRow = 4;
        foreach (var group in cells.GroupBy(c => c.Workload))
        {
            var first = sheet.Count + 1;
            foreach (var c in group)
            {
                var side = Names.Side(c.Pair.Split(':')[0]);
                sheet.Add([Value.Text(Names.Size(c.Scenario, c.Workload)), Value.Text($"{c.Codec}, {side}"), Value.Text(side), Value.Time(c.P50Ns),
                    Value.Time(c.P50Ci?[0]), Value.Time(c.P50Ci?[1]), .. s_steps.Select(s => Value.Time(c.Phases!.GetValueOrDefault($"{s}_ns")))]);
            }
            var last = sheet.Count;
            List<object?> names = [.. group.Select(c => (object?)$"{c.Codec}, {Names.Side(c.Pair.Split(':')[0])}")];
            sheet.Charts.Add(new Chart(ChartKind.Stacked, $"Codecs alone, {Names.Size("serialize", group.Key)}", Styles.TimeFormat, "",
                [.. s_steps.Select((step, i) => new Series(step, sheet.Reference(2, first, last), names, sheet.Reference(7 + i, first, last),
                    [.. group.Select(c => c.Phases!.GetValueOrDefault($"{step}_ns"))]))],
                (13, chartRow, 10, 18), "", ""));
            chartRow += 19;
        }
        sheet.Table = (3, sheet.Count, 6 + s_steps.Length);
        sheet.Names.Add((Sheets.NameOf(sheet, "table"), $"'{name}'!$A$3:$K${sheet.Count}"));
        return sheet;
    }
}

/// <summary>Every server side with every client side, a small table for each transport and message.</summary>
internal static class PairsSheet
{
    public static Sheet? Of(string name, MachineReport machine)
    {
        var groups = machine.Sound.Where(c => !c.IsAlone).Select(c => c.Result).Where(c => c.Count is null)
            .GroupBy(c => (c.Scenario, c.Workload, c.Codec)).Where(g => g.Select(c => c.Pair).Distinct().Count() > 1)
            .OrderBy(g => Names.RankOf(Registry.Scenarios.Select(s => s.Id), g.Key.Scenario)).ThenBy(g => Names.BytesOf(g.Key.Workload))
                .ThenBy(g => g.Key.Codec, StringComparer.Ordinal).ToList();
        if (groups.Count == 0)
            return null;
        var sheet = new Sheet(name) { Frozen = (2, 2) };
        sheet.Add(new Value($"Server and client languages, p50: {machine.Label}", Look.Title));
        sheet.Add(new Value("Rows are the server's side, columns the client's; the deeper the shade, the longer, within each table.", Look.Note));
        var order = Registry.Sides.Select(s => s.Id).ToList();
        var clients = groups.SelectMany(g => g).Select(c => c.Pair.Split(':')[1]).Distinct().OrderBy(order.IndexOf).ToList();
        sheet.Widths = [26, 20, .. clients.Select(_ => 19.0)];
        foreach (var group in groups)
        {
            sheet.Add();
            sheet.AddHead([$"{Names.Size(group.Key.Scenario, group.Key.Workload)} {Names.Scenario(group.Key.Scenario)}, {group.Key.Codec}",
                "server \\ client", .. clients.Select(Names.Side)]);
            foreach (var transport in group.GroupBy(c => c.Transport)
                .OrderBy(t => Names.RankOf(Registry.Transports.Select(r => r.Id), TransportSpec.IdOf(t.Key))).ThenBy(t => t.Key, StringComparer.Ordinal))
            {
                var first = sheet.Count + 1;
                foreach (var server in transport.Select(c => c.Pair.Split(':')[0]).Distinct().OrderBy(order.IndexOf))
                    sheet.Add([Value.Text(transport.Key), new Value(Names.Side(server), Look.Note),
                        .. clients.Select(client => Value.Time(transport.FirstOrDefault(c => c.Pair == $"{server}:{client}")?.P50Ns))]);
                sheet.Shaded.Add($"C{first}:{Sheet.Column(2 + clients.Count)}{sheet.Count}");
            }
        }
        return sheet;
    }
}
