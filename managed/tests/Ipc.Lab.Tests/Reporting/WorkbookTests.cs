using DocumentFormat.OpenXml;
using DocumentFormat.OpenXml.Packaging;
using DocumentFormat.OpenXml.Spreadsheet;
using DocumentFormat.OpenXml.Validation;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Workbook;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class WorkbookTests
{
    private static readonly string[] s_withCharts =
        ["Summary", "Request", "Push", "One-way", "Serialization", "Batching", "In flight", "Caches", "Buckets", "Pipelined", "Paced"];

    private static readonly string[] s_sheets = [.. s_withCharts, "Pairs", "Published", "Findings", "Environment", "Raw"];

    private static string Write(KeptFolder folder, params MachineReport[] machines)
    {
        var file = Path.Combine(folder.Path, WorkbookWriter.FileName);
        WorkbookWriter.Write(file, machines);
        return file;
    }

    private static void AssertValid(SpreadsheetDocument document) =>
        Assert.Empty(new OpenXmlValidator(FileFormatVersions.Microsoft365).Validate(document).Select(e => $"{e.Part?.Uri} {e.Path?.XPath}: {e.Description}")
            .Take(10));

    [Fact]
    public void IsValidAndHasEverySheetWithItsChartsNamesAndPanes()
    {
        using var folder = new KeptFolder("workbook");
        using var document = SpreadsheetDocument.Open(Write(folder, new PlausibleResults(21).Machine(cells: 4000)), false);

        AssertValid(document);
        var book = document.WorkbookPart!;
        var sheets = book.Workbook!.Sheets!.Elements<DocumentFormat.OpenXml.Spreadsheet.Sheet>().ToList();
        Assert.Equal(s_sheets, sheets.Select(s => s.Name!.Value));
        int Charts(string name) => ((WorksheetPart)book.GetPartById(sheets.First(s => s.Name == name).Id!)).DrawingsPart?.ChartParts.Count() ?? 0;
        Assert.All(s_withCharts, name => Assert.NotEqual(0, Charts(name)));
        Assert.Contains(book.Workbook.DefinedNames!.Elements<DefinedName>(), n => n.Name == "Request_p50");
        var raw = ((WorksheetPart)book.GetPartById(sheets[^1].Id!)).Worksheet!;
        Assert.Equal("frozen", raw.Descendants<Pane>().Single().State!.InnerText);
        Assert.Equal(4001, raw.Descendants<Row>().Count());
        Assert.Contains(book.Workbook.DefinedNames!.Elements<DefinedName>(), n => n.Name == "Published_figures");
    }

    [Fact]
    public void SeveralMachinesHaveSheetsOfTheirOwn()
    {
        using var folder = new KeptFolder("workbook-machines");
        var file = Write(folder, new PlausibleResults(22).Machine("one", 400), new PlausibleResults(23).Machine("two", 400),
            new PlausibleResults(24).Machine("one", 400, "Wine 8.0"));
        using var document = SpreadsheetDocument.Open(file, false);

        AssertValid(document);
        var names = document.WorkbookPart!.Workbook!.Sheets!.Elements<DocumentFormat.OpenXml.Spreadsheet.Sheet>().Select(s => s.Name!.Value!).ToList();
        Assert.Contains("Request one", names);
        Assert.Contains("Request two", names);
        Assert.Contains("Request one (Wine 8.0)", names);
        // Every chart draws from the sheet it stands on, so no axis has two machines.
        foreach (var part in document.WorkbookPart.WorksheetParts.Where(p => p.DrawingsPart is not null))
        {
            var name = names[document.WorkbookPart.Workbook.Sheets.Elements<DocumentFormat.OpenXml.Spreadsheet.Sheet>().Select(s => s.Id!.Value).ToList()
                .IndexOf(document.WorkbookPart.GetIdOfPart(part))];
            Assert.All(part.DrawingsPart!.ChartParts.SelectMany(c => c.ChartSpace!.Descendants<DocumentFormat.OpenXml.Drawing.Charts.Formula>()), f =>
                Assert.StartsWith($"'{name}'!", f.Text, StringComparison.Ordinal));
        }
    }

    [Fact]
    public void ResultsWithoutAnyFigureAreStillAWorkbook()
    {
        using var folder = new KeptFolder("workbook-empty");
        var run = new PlausibleResults(25).Run("none", 40);
        var failed = run with { Cells = [.. run.Cells.Where(c => c.Status != "ok")] };
        using var document = SpreadsheetDocument.Open(Write(folder, MachineReport.Of([new ReportRun("none", failed)]).Single()), false);

        AssertValid(document);
    }
}
