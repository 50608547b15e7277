using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>Rates by how many go together, a curve for each transport, pair, codec and message.</summary>
/// <param name="Title">What the sheet shows.</param>
/// <param name="Note">How to read it.</param>
/// <param name="Together">The head of the column that says how many.</param>
/// <param name="Rate">Of a chart's axis.</param>
/// <param name="CountOf">How many go together in a cell; 0: it is no point of such a curve.</param>
internal sealed record GainSheet(string Title, string Note, string Together, string Rate, Func<CellResult, int> CountOf)
{
    /// <summary>What sending messages together gains.</summary>
    public static GainSheet OfBatches { get; } = new(
        "What batches gain", "Messages a second at the receiver, sent one by one and together.", "messages in a batch", "messages a second",
        c => Registry.Scenarios.FirstOrDefault(s => s.Id == c.Scenario) is { IsStream: true, Clients: 1 } s ? Math.Max(1, s.Batch) : 0);

    /// <summary>What calls in flight gain.</summary>
    public static GainSheet OfCallsInFlight { get; } = new(
        "What calls in flight gain", "Calls a second by wall time, one at a time and several in flight on one channel.", "calls in flight", "calls a second",
        c => InFlightCurve.InFlightOf(c.Scenario));

    /// <summary>Null without a curve of two points.</summary>
    public Sheet? Of(string name, MachineReport machine)
    {
        var lines = machine.Sound.Select(c => c.Result).Where(c => CountOf(c) > 0 && c.Count is null)
            .GroupBy(c => (c.Pair, c.Transport, c.Workload, c.Codec)).Where(g => g.Select(CountOf).Distinct().Count() > 1)
            .OrderBy(g => g.Key.Pair, StringComparer.Ordinal).ThenBy(g => Names.BytesOf(g.Key.Workload)).ThenBy(g => g.Key.Codec, StringComparer.Ordinal)
                .ThenBy(g => g.Key.Transport, StringComparer.Ordinal).ToList();
        if (lines.Count == 0)
            return null;
        var sheet = new Sheet(name) { Widths = [34, 24, 20, 14, 16, 12, 14, 12, 10, 12, 11], Frozen = (3, 0) };
        sheet.Add(new Value($"{Title}: {machine.Label}", Look.Title));
        sheet.Add(new Value(Note, Look.Note));
        sheet.AddHead("pair", "transport", "message", "codec", Together, "rate", "rate from", "to", "gain", "rate, below", "above");
        var drawn = new List<Series>();
        foreach (var line in lines)
        {
            var first = sheet.Count + 1;
            List<CellResult> points = [.. line.OrderBy(CountOf)];
            foreach (var c in points)
            {
                var (below, above) = Whiskers.Of(c.OpsPerS, c.OpsPerSCi);
                sheet.Add(Value.Text(Names.Pair(c.Pair)), Value.Text(c.Transport), Value.Text(Names.Size(c.Scenario, c.Workload)), Value.Text(c.Codec),
                    new Value(CountOf(c), Look.Count),
                    Value.Rate(c.OpsPerS), Value.Rate(c.OpsPerSCi?[0]), Value.Rate(c.OpsPerSCi?[1]),
                    new Value(c.Placement == points[0].Placement ? c.OpsPerS / points[0].OpsPerS : null, Look.Ratio), Value.Rate(below), Value.Rate(above));
            }
            if (line.Key.Pair == Question.UsualPair(machine))
            {
                var codec = line.Key.Codec == "raw" ? "" : $", {line.Key.Codec}";
                drawn.Add(new Series($"{line.Key.Transport}, {Names.Size(points[0].Scenario, line.Key.Workload)}{codec}",
                    sheet.Reference(5, first, sheet.Count), [.. points.Select(c => (object?)CountOf(c))],
                    sheet.Reference(6, first, sheet.Count), [.. points.Select(c => c.OpsPerS)],
                    Whiskers.At(sheet, 10, first, sheet.Count, points.Select(c => (c.OpsPerS, c.OpsPerSCi)))));
            }
        }
        sheet.Table = (3, sheet.Count, 11);
        sheet.Names.Add((Sheets.NameOf(sheet, "table"), $"'{name}'!$A$3:$K${sheet.Count}"));
        if (drawn.Count > 0)
            sheet.Charts.Add(new Chart(ChartKind.Lines, $"{Title}, {Names.Pair(Question.UsualPair(machine))}", Styles.RateFormat, "0", [.. drawn.Take(12)],
                (13, 4, 11, 24), Rate, Together));
        return sheet;
    }
}
