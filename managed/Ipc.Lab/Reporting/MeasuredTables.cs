using System.Text;
using System.Text.RegularExpressions;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>
/// Tables of figures inside a page that people write, a README say: what stands between
/// <c>&lt;!-- measured: call raw 64 --&gt;</c> and <c>&lt;!-- /measured --&gt;</c> is made from results, so that it cannot grow old unseen.
/// </summary>
internal static partial class MeasuredTables
{
    /// <summary>The text with every marked table made anew. A mark that the results have no cell for is a mistake that names it.</summary>
    public static string Fill(string text, MachineReport machine)
    {
        var opened = Begin().Count(text);
        if (opened == 0)
            throw new UserMistakeException("there is no place for a table: mark it with <!-- measured: SCENARIO CODEC WORKLOAD --> and <!-- /measured "
                + "-->, e.g. <!-- measured: call raw 64 -->");
        if (Whole().Count(text) != opened)
            throw new UserMistakeException(
                "a place for a table is not closed: every <!-- measured: ... --> needs its own <!-- /measured --> on a line after it");
        return Whole().Replace(text, mark =>
        {
            var table = Table(machine, mark.Groups["scenario"].Value, mark.Groups["codec"].Value, mark.Groups["workload"].Value);
            return $"{mark.Groups["begin"].Value}\n\n{table}\n<!-- /measured -->";
        });
    }

    // Rows are the transports that were measured with the most pairs, the fastest first: one that was measured with a pair or two, as another way to wait
    // may be, would leave most of its row empty. Columns are the pairs that most rows have.
    private static string Table(MachineReport machine, string scenario, string codec, string workload)
    {
        List<CellResult> cells =
        [
            .. machine.Cells.Where(c => !c.IsSuperseded).Select(c => c.Result)
                .Where(c => (c.Scenario, c.Codec, c.Workload, c.Count) == (scenario, codec, workload, null)),
        ];
        if (!cells.Exists(c => c.P50Ns is not null))
            throw new UserMistakeException($"nothing was measured of '{scenario} {codec} {workload}', which a place for a table asks for; its mark is "
                + "<!-- measured: SCENARIO CODEC WORKLOAD -->");
        var placement = cells.GroupBy(c => c.Placement).MaxBy(g => g.Count())!.Key;
        var measured = cells.Where(c => c.P50Ns is not null).ToLookup(c => c.Transport);
        var most = measured.Max(t => t.Count());
        List<string> transports = [.. measured.Where(t => t.Count() * 2 > most).Select(t => t.Key)];
        List<string> pairs = [.. transports.SelectMany(t => measured[t]).CountBy(c => c.Pair).Where(p => p.Value * 2 > transports.Count).Select(p => p.Key)
            .OrderBy(RankOf)];
        var size = Names.Size(scenario, workload);
        var table = new StringBuilder($"| {size}, {codec} | {string.Join(" | ", pairs)} |\n|---|{string.Concat(Enumerable.Repeat("---:|", pairs.Count))}\n");
        foreach (var row in transports.Select(t => (Transport: t, Fields: pairs.Select(p => cells.Find(c => c.Transport == t && c.Pair == p)).ToList()))
            .OrderBy(r => Least(r.Fields, placement)))
            table.Append($"| `{row.Transport}` | {string.Join(" | ", row.Fields.Select(c => Field(c, placement)))} |\n");
        return table.ToString();
    }

    // Figures of two placements are not comparable: the table has those of one.
    private static double? P50(CellResult? cell, string? placement) =>
        cell is { Status: "ok" } ? cell.FiguresIn(placement)?.P50Ns : null;

    private static double Least(IEnumerable<CellResult?> fields, string? placement) =>
        fields.Select(c => P50(c, placement)).OfType<double>().DefaultIfEmpty(double.MaxValue).Min();

    private static string Field(CellResult? cell, string? placement) =>
        P50(cell, placement) is { } p50 ? Units.Time(p50) : cell is null or { Status: "ok" } ? Units.Unknown : cell.Status;

    private static (int, int) RankOf(string pair)
    {
        var sides = pair.Split(':');
        return (RankOfSide(sides[0]), RankOfSide(sides[1]));
    }

    private static int RankOfSide(string side) => Names.RankOf(Registry.Sides.Select(s => s.Id), side);

    [GeneratedRegex(@"(?<begin><!-- measured: (?<scenario>[\w-]+) (?<codec>[\w-]+) (?<workload>[\w.-]+) -->).*?<!-- /measured -->", RegexOptions.Singleline)]
    private static partial Regex Whole();

    [GeneratedRegex("<!-- measured:")]
    private static partial Regex Begin();
}
