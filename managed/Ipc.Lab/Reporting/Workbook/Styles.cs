using System.Text;
using System.Xml.Linq;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>The formats of the workbook: one for each <see cref="Look"/>. Values keep the units of results.json; formats show people's.</summary>
internal static class Styles
{
    private static readonly XNamespace s_ns = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

    private static readonly (int Id, string Code)[] s_formats =
    [
        (164, "[<999.5]0.0\" ns\";[<999500]0.00,\" µs\";0.00,,\" ms\""),
        (165, "[<999.5]0.0\" /s\";[<999500]0.00,\" k/s\";0.00,,\" M/s\""),
        (166, "[<999.5]0\" B\";[<999500]0.0,\" kB\";0.0,,\" MB\""),
        (167, "0.00\" ×\""),
        (168, "#,##0"),
    ];

    /// <summary>What axes of charts show.</summary>
    public static string TimeFormat => s_formats[0].Code.Replace("0.0\"", "0\"", StringComparison.Ordinal).Replace("0.00", "0", StringComparison.Ordinal);
    public static string RateFormat => s_formats[1].Code.Replace("0.0\"", "0\"", StringComparison.Ordinal).Replace("0.00", "0", StringComparison.Ordinal);
    public static string BytesFormat => s_formats[2].Code.Replace("0.0", "0", StringComparison.Ordinal);

    public static void Write(Stream stream) => new XDocument(
        new XElement(s_ns + "styleSheet",
            new XElement(s_ns + "numFmts", new XAttribute("count", s_formats.Length),
                s_formats.Select(f => new XElement(s_ns + "numFmt", new XAttribute("numFmtId", f.Id), new XAttribute("formatCode", f.Code)))),
            XElements("fonts", "<font><sz val='11'/><name val='Calibri'/></font>", "<font><b/><sz val='16'/><name val='Calibri'/></font>",
                "<font><b/><sz val='11'/><color rgb='FF404952'/><name val='Calibri'/></font>",
                "<font><sz val='11'/><color rgb='FF5A6472'/><name val='Calibri'/></font>",
                "<font><b/><sz val='11'/><color rgb='FFB3261E'/><name val='Calibri'/></font>",
                "<font><b/><sz val='11'/><color rgb='FF0B62C4'/><name val='Calibri'/></font>"),
            XElements("fills", "<fill><patternFill patternType='none'/></fill>", "<fill><patternFill patternType='gray125'/></fill>",
                "<fill><patternFill patternType='solid'><fgColor rgb='FFEEF2F6'/></patternFill></fill>"),
            XElements("borders", "<border><left/><right/><top/><bottom/><diagonal/></border>",
                "<border><left/><right/><top/><bottom style='thin'><color rgb='FFB4BDC7'/></bottom><diagonal/></border>"),
            XElements("cellStyleXfs", "<xf numFmtId='0' fontId='0' fillId='0' borderId='0'/>"),
            XElements("cellXfs", [.. Enum.GetValues<Look>().Select(FormatOf)]),
            XElements("cellStyles", "<cellStyle name='Normal' xfId='0' builtinId='0'/>"))).Save(stream);

    private static string FormatOf(Look look)
    {
        var (format, font, head, alignment) = look switch
        {
            Look.Title => (0, 1, false, ""),
            Look.Head => (0, 2, true, "<alignment horizontal='left' vertical='center' wrapText='1' indent='1'/>"),
            Look.Text => (0, 0, false, "<alignment horizontal='left' indent='1'/>"),
            Look.HeadRight => (0, 2, true, "<alignment horizontal='right' vertical='center' wrapText='1'/>"),
            Look.Time => (164, 0, false, ""),
            Look.Rate => (165, 0, false, ""),
            Look.Bytes => (166, 0, false, ""),
            Look.Ratio => (167, 0, false, ""),
            Look.Count => (168, 0, false, ""),
            Look.Note => (0, 3, false, ""),
            Look.Bad => (0, 4, false, ""),
            Look.Best => (0, 5, false, "<alignment horizontal='left' indent='1'/>"),
            Look.Wrap => (0, 0, false, "<alignment vertical='top' wrapText='1'/>"),
            _ => (0, 0, false, ""),
        };
        var text = new StringBuilder($"<xf numFmtId='{format}' fontId='{font}' fillId='{(head ? 2 : 0)}' borderId='{(head ? 1 : 0)}' xfId='0'");
        text.Append($" applyNumberFormat='{(format > 0 ? 1 : 0)}' applyFont='1' applyFill='1' applyBorder='1'");
        return text.Append(alignment.Length > 0 ? $" applyAlignment='1'>{alignment}</xf>" : "/>").ToString();
    }

    private static XElement XElements(string name, params string[] items) =>
        new(s_ns + name, new XAttribute("count", items.Length), items.Select(i => Qualified(XElement.Parse(i))));

    private static XElement Qualified(XElement plain) => new(s_ns + plain.Name.LocalName, plain.Attributes(), plain.Elements().Select(Qualified));
}
