using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>Calls whose data no cache holds, beside those that have the same data every time.</summary>
internal static class CachesSheet
{
    private static readonly string[] s_head =
    [
        "pair", "transport", "message", "bytes", "same data", "in order", "ratio, in order", "from, in order", "to, in order", "shuffled", "ratio, shuffled",
        "from, shuffled", "to, shuffled", "below", "above",
    ];

    /// <summary>Null where nothing of the kind was measured.</summary>
    public static Sheet? Of(string name, MachineReport machine)
    {
        var effects = CacheEffect.Of(machine.Sound.Select(c => c.Result));
        if (effects.Count == 0)
            return null;
        var sheet = new Sheet(name) { Widths = [28, 22, 22, 12, .. Enumerable.Repeat(14.0, s_head.Length - 4)], Frozen = (3, 0) };
        sheet.Add(new Value($"What caches give: {machine.Label}", Look.Title));
        sheet.Add(new Value("p50 of raw calls with the same data every time, and with each request and reply another one of 64 MiB on either side. "
            + "Ratios are of launches of one placement, their range is what the intervals of both leave open.", Look.Note));
        sheet.AddHead(s_head);
        var drawn = new List<Series>();
        foreach (var line in effects.GroupBy(e => (e.Same.Pair, e.Same.Transport)))
        {
            var first = sheet.Count + 1;
            foreach (var effect in line)
                sheet.Add([.. Row(effect)]);
            List<CacheEffect> shuffled = [.. line.Where(e => e.RatioOf(e.Shuffled) is not null)];
            if (line.Key.Pair != Question.UsualPair(machine) || shuffled.Count < 2 || shuffled.Count < line.Count())
                continue;
            List<(double? Ratio, double[]? Range)> ratios =
                [.. shuffled.Select(e => (e.RatioOf(e.Shuffled), e.RatioCiOf(e.Shuffled)))];
            drawn.Add(new Series($"{line.Key.Transport}, shuffled", sheet.Reference(4, first, sheet.Count),
                [.. shuffled.Select(e => (object?)Names.BytesOf(e.Same.Workload))], sheet.Reference(11, first, sheet.Count),
                [.. ratios.Select(r => r.Ratio)], Whiskers.At(sheet, 14, first, sheet.Count, ratios)));
        }
        sheet.Table = (3, sheet.Count, s_head.Length);
        sheet.Names.Add((Sheets.NameOf(sheet, "table"), $"'{name}'!$A$3:${Sheet.Column(s_head.Length)}${sheet.Count}"));
        if (drawn.Count > 0)
        {
            sheet.Charts.Add(new Chart(ChartKind.Lines, $"Calls with data of their own, {Names.Pair(Question.UsualPair(machine))}", "0.0", "0",
                [.. drawn.Take(12)], (16, 4, 11, 24), "times as long as with the same data", "bytes of request and reply"));
        }
        return sheet;
    }

    private static IEnumerable<Value> Row(CacheEffect effect)
    {
        var same = effect.Same;
        var (below, above) = Whiskers.Of(effect.RatioOf(effect.Shuffled), effect.RatioCiOf(effect.Shuffled));
        return
        [
            Value.Text(Names.Pair(same.Pair)), Value.Text(same.Transport), Value.Text(Names.Size(same.Scenario, same.Workload)),
            new Value(Names.BytesOf(same.Workload), Look.Count), Value.Time(same.P50Ns), .. Beside(effect, effect.InOrder), .. Beside(effect, effect.Shuffled),
            new Value(below, Look.Ratio), new Value(above, Look.Ratio),
        ];
    }

    private static Value[] Beside(CacheEffect effect, CellResult? own)
    {
        var range = effect.RatioCiOf(own);
        return
        [
            Value.Time(own?.P50Ns), new Value(effect.RatioOf(own), Look.Ratio), new Value(range?[0], Look.Ratio), new Value(range?[1], Look.Ratio),
        ];
    }
}
