using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>Published figures beside ours, row by row; what cannot be repeated here is listed with the reason.</summary>
internal static class PublishedTable
{
    public static IReadOnlyList<string> Titles { get; } = ["source", "what", "theirs", "here", "note"];

    public static IEnumerable<IReadOnlyList<string>> Rows(IEnumerable<PublishedFigure> figures, IReadOnlyList<CellResult> cells) =>
        Compare(figures, cells).Select(row => (IReadOnlyList<string>)[row.Source, row.What, Units.Time(row.Theirs), Units.Time(row.Here), row.Note]);

    /// <summary>The rows with their figures, in nanoseconds.</summary>
    public static IEnumerable<PublishedRow> Compare(IEnumerable<PublishedFigure> figures, IReadOnlyList<CellResult> cells) =>
        from figure in figures
        let wanted = figure.ToCell()
        let ours = wanted.Cell is { } cell ? cells.FirstOrDefault(c => c.Cell == cell) : null
        select new PublishedRow(
            $"{figure.Source}, {figure.Machine}".TrimEnd(' ', ','),
            $"{figure.Transport} {figure.Pair} {figure.Codec} {figure.Scenario}{SizesOf(figure)}{(figure.Count is { } n ? $" x{n}" : "")}",
            figure.MeanNanoseconds, ours?.MeanNs, NoteOf(figure, wanted.WhyNot, ours));

    public static void Write(IAnsiConsole console, IReadOnlyList<CellResult> cells)
    {
        var table = new Table().Border(TableBorder.Simple).Title("[bold]mean time of one operation: published elsewhere, and here[/]");
        foreach (var title in Titles)
            table.AddColumn(new TableColumn(title)
            {
                Alignment = title is "theirs" or "here" ? Justify.Right : Justify.Left,
                NoWrap = title is "theirs" or "here"
            });
        foreach (var row in Rows(PublishedFigures.All, cells))
            table.AddRow([.. row.Select(Markup.Escape)]);
        console.Write(table);
    }

    private static string SizesOf(PublishedFigure figure) =>
        figure.RequestBytes is not { } request
            ? ""
            : figure is { Scenario: "oneway", ReplyBytes: null }
            ? $" {request} B"
            : $" {request} -> {figure.ReplyBytes?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? "?"} B";

    private static string NoteOf(PublishedFigure figure, string whyNot, CellResult? ours)
    {
        var here = whyNot.Length > 0 ? $"cannot run here: {whyNot}"
            : ours is null ? "not in this run"
            : ours.Status == "ok" ? "" : $"{ours.Status}: {ours.Reason}";
        return string.Join("; ", ((string[])[here, figure.Note]).Where(n => n.Length > 0));
    }
}

/// <summary>A published figure and ours, mean nanoseconds of one operation.</summary>
internal sealed record PublishedRow(string Source, string What, double? Theirs, double? Here, string Note);
