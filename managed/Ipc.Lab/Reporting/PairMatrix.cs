using Ipc.Lab.Results;
using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>The pairs of each transport as a table: rows are the server's side, columns the client's, each field a p50.</summary>
internal static class PairMatrix
{
    public static void Write(IAnsiConsole console, RunResults results)
    {
        if (results.Machine.Wine is { } wine)
            console.MarkupLineInterpolated($"[yellow]{Machine.WineVersion.Label(wine)}[/]");
        var groups = results.Cells
            .Where(c => c.Transport != Planning.Cell.NoTransport)
            .GroupBy(c => (c.Transport, c.Scenario, c.Workload, c.Codec, c.Count));
        foreach (var group in groups)
            WriteOne(console, $"{group.Key.Transport}: {group.Key.Scenario} {group.Key.Workload} {group.Key.Codec}, p50", [.. group]);
    }

    private static void WriteOne(IAnsiConsole console, string title, IReadOnlyList<CellResult> cells)
    {
        var byPair = cells.ToDictionary(c => c.Pair);
        List<string> servers = [.. cells.Select(c => c.Pair.Split(':')[0]).Distinct()], clients = [.. cells.Select(c => c.Pair.Split(':')[1]).Distinct()];
        var table = new Table().Border(TableBorder.Simple).Title($"[bold]{Markup.Escape(title)}[/]");
        table.Title!.Style = Style.Plain;
        table.AddColumn(new TableColumn("server \\ client").NoWrap());
        foreach (var client in clients)
            table.AddColumn(new TableColumn(Markup.Escape(client)).NoWrap().RightAligned());
        foreach (var server in servers)
            table.AddRow([Markup.Escape(server), .. clients.Select(client => Markup.Escape(Field(byPair.GetValueOrDefault($"{server}:{client}"))))]);
        console.Write(table);
        foreach (var reason in cells.Where(c => c.Status is "failed" or "skipped").GroupBy(c => $"{c.Status}: {c.Reason}"))
            console.WriteLine($"  {string.Join(", ", reason.Select(c => c.Pair))} {reason.Key}");
    }

    private static string Field(CellResult? cell) =>
        cell is null ? Units.Unknown : cell.Status == "ok" ? Units.Time(cell.P50Ns) : cell.Status;
}
