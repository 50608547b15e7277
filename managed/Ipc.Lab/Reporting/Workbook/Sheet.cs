using System.Globalization;
using System.Xml;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>How a cell looks; the order is that of the formats in <see cref="Styles"/>.</summary>
internal enum Look { Plain, Title, Head, Text, Time, Rate, Bytes, Ratio, Count, Note, Bad, Best, Wrap, HeadRight }

/// <summary>A value and its look; numbers stay numbers, in the units of results.json.</summary>
internal readonly record struct Value(object? Content, Look Look)
{
    public static Value Text(string? text) => new(text, Look.Text);
    public static Value Time(double? nanoseconds) => new(nanoseconds, Look.Time);
    public static Value Rate(double? perSecond) => new(perSecond, Look.Rate);
}

/// <summary>A sheet as it is put together: rows of cells, and what Excel is to make of them.</summary>
internal sealed class Sheet(string name)
{
    private readonly List<IReadOnlyList<Value>> _rows = [];

    public string Name { get; } = name;
    /// <summary>Widths in characters.</summary>
    public IReadOnlyList<double> Widths { get; set; } = [];
    /// <summary>Rows above, and columns left of, what scrolls.</summary>
    public (int Rows, int Columns) Frozen { get; set; }
    /// <summary>The rows of a table that filters, header included.</summary>
    public (int First, int Last, int Columns)? Table { get; set; }
    /// <summary>Ranges shaded by value, each by itself.</summary>
    public List<string> Shaded { get; } = [];
    public List<Chart> Charts { get; } = [];
    /// <summary>Names for ranges of this sheet.</summary>
    public List<(string Name, string Range)> Names { get; } = [];

    /// <summary>How many rows there are; also the number of the last one.</summary>
    public int Count => _rows.Count;

    public int Add(params IEnumerable<Value> row)
    {
        _rows.Add([.. row]);
        return _rows.Count;
    }

    public void AddHead(params IEnumerable<string> titles) => Add(titles.Select(t => new Value(t, Look.Head)));

    /// <summary>A number in the sheet, for charts.</summary>
    public object? At(int row, int column) => _rows[row - 1].Count >= column ? _rows[row - 1][column - 1].Content : null;

    /// <summary>An absolute reference, e.g. <c>'One-way'!$B$3:$B$9</c>.</summary>
    public string Reference(int column, int first, int last) =>
        $"'{Name.Replace("'", "''", StringComparison.Ordinal)}'!${Column(column)}${first}:${Column(column)}${last}";

    /// <summary>A column's letters; 1 is A.</summary>
    public static string Column(int number) => number <= 26 ? $"{(char)('A' + number - 1)}" : $"{Column((number - 1) / 26)}{(char)('A' + ((number - 1) % 26))}";

    public void Write(Stream stream, string? drawing)
    {
        using var xml = XmlWriter.Create(stream, new XmlWriterSettings { CheckCharacters = false });
        xml.WriteStartElement("worksheet", "http://schemas.openxmlformats.org/spreadsheetml/2006/main");
        xml.WriteAttributeString("xmlns", "r", null, "http://schemas.openxmlformats.org/officeDocument/2006/relationships");
        xml.WriteRaw("<sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>");
        WriteView(xml);
        WriteWidths(xml);
        xml.WriteStartElement("sheetData");
        for (var row = 0; row < _rows.Count; row++)
            WriteRow(xml, row + 1);
        xml.WriteEndElement();
        if (Table is { } table)
            xml.WriteRaw($"<autoFilter ref=\"A{table.First}:{Column(table.Columns)}{table.Last}\"/>");
        for (var i = 0; i < Shaded.Count; i++)
        {
            xml.WriteRaw($"<conditionalFormatting sqref=\"{Shaded[i]}\">"
                + $"<cfRule type=\"colorScale\" priority=\"{i + 1}\"><colorScale><cfvo type=\"min\"/><cfvo type=\"max\"/>"
                + "<color rgb=\"FFF3F8FE\"/><color rgb=\"FF7FB2EA\"/></colorScale></cfRule></conditionalFormatting>");
        }
        xml.WriteRaw("<pageMargins left=\"0.4\" right=\"0.4\" top=\"0.5\" bottom=\"0.5\" header=\"0.3\" footer=\"0.3\"/>"
            + "<pageSetup orientation=\"landscape\" fitToHeight=\"0\"/>");
        if (drawing is not null)
            xml.WriteRaw($"<drawing r:id=\"{drawing}\"/>");
        xml.WriteEndElement();
    }

    private void WriteView(XmlWriter xml)
    {
        xml.WriteRaw("<sheetViews><sheetView showGridLines=\"0\" workbookViewId=\"0\">");
        var (rows, columns) = Frozen;
        if (rows + columns > 0)
        {
            var across = columns > 0 ? $"xSplit=\"{columns}\" " : "";
            var down = rows > 0 ? $"ySplit=\"{rows}\" " : "";
            var pane = rows > 0 && columns > 0 ? "bottomRight" : rows > 0 ? "bottomLeft" : "topRight";
            xml.WriteRaw($"<pane {across}{down}topLeftCell=\"{Column(columns + 1)}{rows + 1}\" activePane=\"{pane}\" state=\"frozen\"/>");
        }
        xml.WriteRaw("</sheetView></sheetViews><sheetFormatPr defaultRowHeight=\"15\"/>");
    }

    private void WriteWidths(XmlWriter xml)
    {
        if (Widths.Count == 0)
            return;
        xml.WriteStartElement("cols");
        for (var i = 0; i < Widths.Count; i++)
            xml.WriteRaw(string.Create(CultureInfo.InvariantCulture, $"<col min=\"{i + 1}\" max=\"{i + 1}\" width=\"{Widths[i]}\" customWidth=\"1\"/>"));
        xml.WriteEndElement();
    }

    private void WriteRow(XmlWriter xml, int number)
    {
        xml.WriteStartElement("row");
        xml.WriteAttributeString("r", number.ToString(CultureInfo.InvariantCulture));
        var cells = _rows[number - 1];
        for (var i = 0; i < cells.Count; i++)
        {
            if (cells[i].Content is null && cells[i].Look == Look.Plain)
                continue;
            xml.WriteStartElement("c");
            xml.WriteAttributeString("r", $"{Column(i + 1)}{number}");
            xml.WriteAttributeString("s", ((int)LookOf(cells[i], number, i)).ToString(CultureInfo.InvariantCulture));
            WriteContent(xml, cells[i].Content);
            xml.WriteEndElement();
        }
        xml.WriteEndElement();
    }

    // Heads stand over their figures.
    private Look LookOf(Value cell, int row, int column) =>
        cell.Look == Look.Head && row < _rows.Count && _rows[row]
            .ElementAtOrDefault(column).Look is Look.Time or Look.Rate or Look.Bytes or Look.Ratio or Look.Count ? Look.HeadRight : cell.Look;

    private static void WriteContent(XmlWriter xml, object? content)
    {
        switch (content)
        {
            case null:
                break;
            case string text:
                xml.WriteAttributeString("t", "inlineStr");
                xml.WriteStartElement("is");
                xml.WriteStartElement("t");
                xml.WriteAttributeString("xml", "space", null, "preserve");
                xml.WriteString(Clean(text));
                xml.WriteEndElement();
                xml.WriteEndElement();
                break;
            default:
                xml.WriteElementString("v", Convert.ToDouble(content, CultureInfo.InvariantCulture).ToString("R", CultureInfo.InvariantCulture));
                break;
        }
    }

    // A spreadsheet takes no more than 32,767 characters in a cell.
    private static string Clean(string text) => VisibleText.Of(text.Length > 32_000 ? text[..32_000] : text);
}
