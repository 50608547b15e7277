using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>What the lab saw of processes from outside: a row for each cell, a column for each figure.</summary>
internal static class OutsideSheet
{
    public static Sheet? Of(string name, string title, MachineReport machine, string scenario, Func<double?, Value> value)
    {
        var cells = machine.Sound.Select(c => c.Result).Where(c => c.Scenario == scenario && c.Phases is not null)
            .OrderBy(c => Names.RankOf(Grid.AllTransports, c.Transport)).ThenBy(c => Names.RankOf(Grid.AllPairs, c.Pair)).ToList();
        if (cells.Count == 0)
            return null;
        string[] figures = [.. cells.SelectMany(c => c.Phases!.Keys).Distinct()];
        var sheet = new Sheet(name) { Widths = [24, 22, 22, 10, .. figures.Select(_ => 16.0)], Frozen = (3, 0) };
        sheet.Add(new Value($"{title}: {machine.Label}", Look.Title));
        sheet.Add(new Value("Medians over launches, read by the lab and not by the processes.", Look.Note));
        sheet.AddHead(["transport", "server", "client", "launches",
            .. figures.Select(f => f.Replace("_ns", "", StringComparison.Ordinal).Replace("_bytes", "", StringComparison.Ordinal).Replace('_', ' '))]);
        foreach (var c in cells)
        {
            var sides = c.Pair.Split(':');
            sheet.Add([Value.Text(c.Transport), Value.Text(Names.Side(sides[0])), Value.Text(Names.Side(sides[1])), new Value(c.Launches, Look.Count),
                .. figures.Select(f => value(c.Phases!.GetValueOrDefault(f)))]);
        }
        sheet.Table = (3, sheet.Count, 4 + figures.Length);
        return sheet;
    }
}
