using System.Xml.Linq;
using DocumentFormat.OpenXml;
using DocumentFormat.OpenXml.Packaging;
using DocumentFormat.OpenXml.Spreadsheet;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>measurements.xlsx: every machine of the report, each on sheets of its own, with charts that Excel draws itself.</summary>
internal static class WorkbookWriter
{
    public const string FileName = "measurements.xlsx";

    private static readonly XNamespace s_xdr = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing";
    private static readonly XNamespace s_a = "http://schemas.openxmlformats.org/drawingml/2006/main";
    private static readonly XNamespace s_c = "http://schemas.openxmlformats.org/drawingml/2006/chart";
    private static readonly XNamespace s_r = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

    public static void Write(string path, IReadOnlyList<MachineReport> machines)
    {
        var half = path + ".part";
        using (var document = SpreadsheetDocument.Create(half, SpreadsheetDocumentType.Workbook))
            Fill(document, Sheets.Of(machines));
        File.Move(half, path, overwrite: true);
    }

    private static void Fill(SpreadsheetDocument document, IReadOnlyList<Sheet> sheets)
    {
        var book = document.AddWorkbookPart();
        Feed(book.AddNewPart<WorkbookStylesPart>(), Styles.Write);
        var list = new DocumentFormat.OpenXml.Spreadsheet.Sheets();
        var names = new DefinedNames();
        foreach (var sheet in sheets)
        {
            var part = book.AddNewPart<WorksheetPart>();
            var drawing = sheet.Charts.Count > 0 ? AddDrawing(part, sheet.Charts) : null;
            Feed(part, stream => sheet.Write(stream, drawing));
            list.Append(new DocumentFormat.OpenXml.Spreadsheet.Sheet
            {
                Name = sheet.Name,
                SheetId = (uint)(list.ChildElements.Count + 1),
                Id = book.GetIdOfPart(part)
            });
            foreach (var (name, range) in sheet.Names)
                names.Append(new DefinedName(range) { Name = name });
        }
        book.Workbook = new DocumentFormat.OpenXml.Spreadsheet.Workbook(new BookViews(new WorkbookView()), list, names,
            new CalculationProperties { FullCalculationOnLoad = true });
    }

    private static string AddDrawing(WorksheetPart sheet, List<Chart> charts)
    {
        var drawing = sheet.AddNewPart<DrawingsPart>();
        var anchors = charts.Select((chart, i) =>
        {
            var part = drawing.AddNewPart<ChartPart>();
            Feed(part, chart.Write);
            return Anchor(chart, i, drawing.GetIdOfPart(part));
        }).ToList();
        Feed(drawing, stream => new XDocument(new XElement(s_xdr + "wsDr", new XAttribute(XNamespace.Xmlns + "xdr", s_xdr),
            new XAttribute(XNamespace.Xmlns + "a", s_a), anchors)).Save(stream));
        return sheet.GetIdOfPart(drawing);
    }

    private static XElement Anchor(Chart chart, int index, string id)
    {
        var (column, row, columns, rows) = chart.Place;
        XElement Corner(string name, int c, int r) => new(s_xdr + name,
            new XElement(s_xdr + "col", c - 1), new XElement(s_xdr + "colOff", 0), new XElement(s_xdr + "row", r - 1), new XElement(s_xdr + "rowOff", 0));
        return new XElement(s_xdr + "twoCellAnchor",
            Corner("from", column, row), Corner("to", column + columns, row + rows),
            new XElement(s_xdr + "graphicFrame", new XAttribute("macro", ""),
                new XElement(s_xdr + "nvGraphicFramePr",
                    new XElement(s_xdr + "cNvPr", new XAttribute("id", index + 2), new XAttribute("name", $"Chart {index + 1}"),
                        new XAttribute("descr", chart.Title)),
                    new XElement(s_xdr + "cNvGraphicFramePr")),
                new XElement(s_xdr + "xfrm", new XElement(s_a + "off", new XAttribute("x", 0), new XAttribute("y", 0)),
                    new XElement(s_a + "ext", new XAttribute("cx", 0), new XAttribute("cy", 0))),
                new XElement(s_a + "graphic", new XElement(s_a + "graphicData", new XAttribute("uri", s_c.NamespaceName),
                    new XElement(s_c + "chart", new XAttribute(XNamespace.Xmlns + "c", s_c), new XAttribute(XNamespace.Xmlns + "r", s_r),
                        new XAttribute(s_r + "id", id))))),
            new XElement(s_xdr + "clientData"));
    }

    private static void Feed(OpenXmlPart part, Action<Stream> write)
    {
        using var stream = part.GetStream(FileMode.Create, FileAccess.Write);
        write(stream);
    }
}
