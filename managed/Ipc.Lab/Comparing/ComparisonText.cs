using System.Globalization;
using Ipc.Lab.Reporting;

namespace Ipc.Lab.Comparing;

/// <summary>A comparison for people: lines for a terminal, Markdown for a pull request. What differs comes first.</summary>
internal static class ComparisonText
{
    private const int MostRows = 30;

    public static void WriteLines(TextWriter output, Comparison comparison, bool all)
    {
        output.WriteLine(Headline(comparison));
        foreach (var line in Conditions(comparison))
            TextLines.Write(output, "  ", line);
        foreach (var t in comparison.Transports.Where(IsWorthALine))
            output.WriteLine(TransportLine(t));
        var shown = Shown(comparison, all);
        foreach (var cell in shown.Take(all ? int.MaxValue : MostRows))
            output.WriteLine($"  {cell.Verdict ?? "not compared",-13}  {RatioOf(cell),-22}  {cell.Name}{(cell.Reason is { } why ? $": {why}" : "")}");
        if (!all && shown.Count > MostRows)
            output.WriteLine($"  and {shown.Count - MostRows} more: --all shows every cell");
    }

    public static void WriteMarkdown(TextWriter output, Comparison comparison)
    {
        output.WriteLine($"**{Headline(comparison)}**");
        output.WriteLine();
        foreach (var line in Conditions(comparison))
            output.WriteLine($"- {line}");
        foreach (var t in comparison.Transports.Where(IsWorthALine))
            output.WriteLine($"- {TransportLine(t)}");
        var shown = Shown(comparison, all: false);
        if (shown.Count > 0)
            WriteTable(output, shown.Take(MostRows));
        if (shown.Count > MostRows)
            output.WriteLine($"\nand {shown.Count - MostRows} more in the JSON");
        var alike = comparison.Cells.Where(c => c.Verdict == CellVerdict.NoDifference).ToList();
        if (alike.Count == 0)
            return;
        output.WriteLine($"\n<details><summary>{alike.Count} cells without a difference</summary>\n");
        WriteTable(output, alike);
        output.WriteLine("\n</details>");
    }

    /// <summary>The comparison in one line.</summary>
    public static string Headline(Comparison comparison)
    {
        var s = comparison.Summary;
        var compared = s.Faster + s.Slower + s.NoDifference;
        var verdict = compared == 0 ? "nothing could be compared"
            : s.Slower + s.Faster == 0 ? $"no difference in {compared} of {compared} cells"
            : $"{(s.Slower > 0 ? $"{s.Slower} slower, " : "")}{(s.Faster > 0 ? $"{s.Faster} faster, " : "")}"
                + $"{s.NoDifference} without a difference, of {compared} cells";
        return verdict + (s.NewlyFailed > 0 ? $"; {s.NewlyFailed} newly failed" : "")
            + (s.NotCompared > s.NewlyFailed ? $"; {s.NotCompared - s.NewlyFailed} not compared" : "");
    }

    private static IEnumerable<string> Conditions(Comparison comparison)
    {
        yield return $"base {comparison.Base.Path} ({comparison.Base.Launches} launches a cell), new {comparison.New.Path} "
            + $"({comparison.New.Launches}), {comparison.New.Machine}; ratios are new by base, above 1 is slower";
        var drift = comparison.Drift.Count == 0
            ? "floors were not measured around launches, so a change of the machine cannot be told from a change of the programs"
            : comparison.Drift.Max(d => d.Value) is var most && most < 0.0005
            ? "the floors, which belong to neither, changed by no more than chance"
            : $"the floors, which belong to neither, changed by up to {most * 100:0.0} % more than by chance";
        yield return $"{(comparison.Paired ? "interleaved, compared pair by pair" : "measured one after the other")}; {drift}; "
            + $"{comparison.Correction} at {comparison.Level:0.##}, differences under {comparison.LeastDifference * 100:0} % do not count";
        foreach (var unlike in comparison.Unlike)
            yield return $"DIFFERENT: {unlike}";
        foreach (var run in (ComparedRun[])[comparison.Base, comparison.New])
        {
            if (!run.Complete)
                yield return $"{run.Path} was interrupted";
        }
    }

    private static bool IsWorthALine(TransportVerdict t) => t.Verdict != CellVerdict.NoDifference || t.Slower + t.Faster > 0;

    private static string TransportLine(TransportVerdict t)
    {
        var parts = ((string[])[t.Slower > 0 ? $"{t.Slower} slower" : "", t.Faster > 0 ? $"{t.Faster} faster" : ""]).Where(p => p.Length > 0).ToList();
        return string.Create(CultureInfo.InvariantCulture,
            $"{t.Transport}: {t.Verdict}, {t.Ratio:0.000} [{t.Interval[0]:0.000}, {t.Interval[1]:0.000}] over its {t.Cells} cells together"
            + $"{(parts.Count > 0 ? $"; by themselves {string.Join(", ", parts)}" : "")}");
    }

    // Newly failed, slower, faster; of these the farthest from 1 first; then, if all are asked for, the rest.
    private static List<CellVerdict> Shown(Comparison comparison, bool all) =>
    [
        .. comparison.Cells
            .Where(c => all || c.NewlyFailed || c.Verdict is CellVerdict.Faster or CellVerdict.Slower)
            .OrderBy(c => c.NewlyFailed ? 0 : c.Verdict switch { CellVerdict.Slower => 1, CellVerdict.Faster => 2, CellVerdict.NoDifference => 3, _ => 4 })
            .ThenByDescending(c => Math.Abs(Math.Log(c.Ratio ?? 1))),
    ];

    private static void WriteTable(TextWriter output, IEnumerable<CellVerdict> cells)
    {
        output.WriteLine("\n| verdict | ratio, 95 % interval | base p50 | new p50 | cell |");
        output.WriteLine("|---|---:|---:|---:|---|");
        foreach (var c in cells)
        {
            var verdict = c.NewlyFailed ? "**newly failed**" : c.Verdict is CellVerdict.NoDifference or null ? c.Verdict ?? "not compared" : $"**{c.Verdict}**";
            output.WriteLine($"| {verdict} | {RatioOf(c)} | {Units.Time(c.BaseP50Ns)} | {Units.Time(c.NewP50Ns)} | "
                + $"`{c.Name}`{(c.Reason is { } why ? $": {why.Replace("|", "\\|", StringComparison.Ordinal)}" : "")} |");
        }
    }

    private static string RatioOf(CellVerdict cell) => cell is { Ratio: { } ratio, Interval: [var low, var high] }
        ? string.Create(CultureInfo.InvariantCulture, $"{ratio:0.000} [{low:0.000}, {high:0.000}]") : "";
}
