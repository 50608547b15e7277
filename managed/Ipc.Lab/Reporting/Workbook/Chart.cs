using System.Globalization;
using System.Xml.Linq;

namespace Ipc.Lab.Reporting.Workbook;

/// <summary>What a chart is: dots over names, lines over numbers, or bars of stacked parts over names.</summary>
internal enum ChartKind { Dots, Lines, Stacked }

/// <summary>One series: references into the sheet, and the values they have there, for programs that do not calculate.</summary>
/// <param name="Whiskers">Lengths of the intervals below and above the values, or null.</param>
internal sealed record Series(
    string Name, string AtReference, IReadOnlyList<object?> At, string ValueReference, IReadOnlyList<double?> Values, Whiskers? Whiskers = null);

/// <summary>Intervals as charts take them: how far they reach below and above each value.</summary>
internal sealed record Whiskers(string BelowReference, IReadOnlyList<double?> Below, string AboveReference, IReadOnlyList<double?> Above)
{
    /// <summary>The two lengths of a figure's interval.</summary>
    public static (double? Below, double? Above) Of(double? figure, double[]? interval) =>
        interval is [var low, var high] && figure is { } f ? (Math.Max(0, f - low), Math.Max(0, high - f)) : (null, null);

    /// <summary>Of figures whose lengths stand in two columns of the sheet, from one row to another.</summary>
    public static Whiskers At(Sheet sheet, int column, int first, int last, IEnumerable<(double? Figure, double[]? Interval)> figures)
    {
        var lengths = figures.Select(f => Of(f.Figure, f.Interval)).ToList();
        return new Whiskers(sheet.Reference(column, first, last), [.. lengths.Select(l => l.Below)], sheet.Reference(column + 1, first, last),
            [.. lengths.Select(l => l.Above)]);
    }
}

/// <summary>A chart of Excel's own kind, with its place on the sheet (from column and row, width and height in cells).</summary>
internal sealed record Chart(
    ChartKind Kind, string Title, string ValueFormat, string AtFormat, IReadOnlyList<Series> Series, (int Column, int Row, int Columns, int Rows) Place,
    string ValueTitle, string AtTitle)
{
    private static readonly XNamespace s_c = "http://schemas.openxmlformats.org/drawingml/2006/chart";
    private static readonly XNamespace s_a = "http://schemas.openxmlformats.org/drawingml/2006/main";
    private static readonly string[] s_colors = ["0B62C4", "C8384A", "1F8A4C", "8A4FD0", "B86A00", "007F8C", "B0357F", "5F6B78", "6C7A00", "94542A", "3D3DA8",
        "00695C"];
    private static readonly string[] s_symbols = ["circle", "square", "triangle", "diamond"];

    public void Write(Stream stream) => new XDocument(
        new XElement(s_c + "chartSpace", new XAttribute(XNamespace.Xmlns + "c", s_c), new XAttribute(XNamespace.Xmlns + "a", s_a),
            C("roundedCorners", 0),
            new XElement(s_c + "chart",
                TextOf("title", Title, 1300),
                C("autoTitleDeleted", 0),
                new XElement(s_c + "plotArea", new XElement(s_c + "layout"), Plot(), AtAxis(), ValueAxis()),
                Series.Count > 1 ? new XElement(s_c + "legend", C("legendPos", "b"), C("overlay", 0)) : null,
                C("plotVisOnly", 1),
                C("dispBlanksAs", "gap")))).Save(stream);

    private XElement Plot() => Kind switch
    {
        ChartKind.Lines => new XElement(s_c + "scatterChart", C("scatterStyle", "lineMarker"), C("varyColors", 0), Series.Select(SeriesXml), C("axId", 1),
            C("axId", 2)),
        ChartKind.Dots => new XElement(s_c + "lineChart", C("grouping", "standard"), C("varyColors", 0), Series.Select(SeriesXml), C("marker", 1),
            C("axId", 1), C("axId", 2)),
        _ => new XElement(s_c + "barChart", C("barDir", "bar"), C("grouping", "stacked"), C("varyColors", 0), Series.Select(SeriesXml), C("gapWidth", 60),
            C("overlap", 100), C("axId", 1), C("axId", 2)),
    };

    private XElement SeriesXml(Series series, int index)
    {
        var color = s_colors[index % s_colors.Length];
        var head = new object?[]
        {
            C("idx", index), C("order", index),
            new XElement(s_c + "tx", new XElement(s_c + "v", series.Name)),
        };
        if (Kind == ChartKind.Stacked)
            return new XElement(s_c + "ser", head, Filled(color), C("invertIfNegative", 0), Texts("cat", series.AtReference, series.At),
                Numbers("val", series.ValueReference, series.Values));
        var line = Kind == ChartKind.Lines
            ? new XElement(s_a + "ln", new XAttribute("w", 22225), Fill(color))
            : new XElement(s_a + "ln", new XAttribute("w", 22225), new XElement(s_a + "noFill"));
        var marker = new XElement(s_c + "marker", C("symbol", s_symbols[index % s_symbols.Length]), C("size", Kind == ChartKind.Dots ? 9 : 7), Filled(color));
        return Kind == ChartKind.Lines
            ? new XElement(s_c + "ser", head, new XElement(s_c + "spPr", line), marker, Errors(series, color),
                Numbers("xVal", series.AtReference, [.. series.At.Select(a => (double?)Convert.ToDouble(a, CultureInfo.InvariantCulture))]),
                Numbers("yVal", series.ValueReference, series.Values), C("smooth", 0))
            : new XElement(s_c + "ser", head, new XElement(s_c + "spPr", line), marker, Errors(series, color),
                Texts("cat", series.AtReference, series.At), Numbers("val", series.ValueReference, series.Values), C("smooth", 0));
    }

    private static XElement? Errors(Series series, string color)
    {
        if (series.Whiskers is not { } whiskers || whiskers.Below.All(l => l is null))
            return null;
        return new XElement(s_c + "errBars", C("errDir", "y"), C("errBarType", "both"), C("errValType", "cust"), C("noEndCap", 0),
            Numbers("plus", whiskers.AboveReference, whiskers.Above), Numbers("minus", whiskers.BelowReference, whiskers.Below),
            new XElement(s_c + "spPr", new XElement(s_a + "ln", new XAttribute("w", 12700), Fill(color))));
    }

    private XElement AtAxis()
    {
        var isLines = Kind == ChartKind.Lines;
        var bars = Kind == ChartKind.Stacked;
        return new XElement(s_c + (isLines ? "valAx" : "catAx"), C("axId", 1),
            new XElement(s_c + "scaling", isLines ? C("logBase", 10) : null, C("orientation", bars ? "maxMin" : "minMax"),
                isLines ? Bounds(Series.SelectMany(s => s.At.Select(a => (double?)Convert.ToDouble(a, CultureInfo.InvariantCulture)))) : null),
            C("delete", 0), C("axPos", bars ? "l" : "b"), isLines ? Gridlines() : null, AtTitle.Length > 0 ? TextOf("title", AtTitle, 1000) : null,
            new XElement(s_c + "numFmt", new XAttribute("formatCode", isLines ? AtFormat : "General"), new XAttribute("sourceLinked", 0)),
            C("majorTickMark", "none"), C("minorTickMark", "none"), C("tickLblPos", "low"), LineOf("B4BDC7"), C("crossAx", 2), C("crosses", "min"),
            isLines ? C("crossBetween", "midCat") : new object?[] { C("auto", 1), C("lblAlgn", "ctr"), C("lblOffset", 100), C("noMultiLvlLbl", 0) });
    }

    private XElement ValueAxis() => new(s_c + "valAx", C("axId", 2),
        new XElement(s_c + "scaling", Kind == ChartKind.Stacked ? null : C("logBase", 10), C("orientation", "minMax"),
            Kind == ChartKind.Stacked ? null : Bounds(Series.SelectMany(Reach))),
        C("delete", 0), C("axPos", Kind == ChartKind.Stacked ? "b" : "l"), Gridlines(), ValueTitle.Length > 0 ? TextOf("title", ValueTitle, 1000) : null,
        new XElement(s_c + "numFmt", new XAttribute("formatCode", ValueFormat), new XAttribute("sourceLinked", 0)),
        C("majorTickMark", "none"), C("minorTickMark", "none"), C("tickLblPos", Kind == ChartKind.Stacked ? "nextTo" : "low"), LineOf("B4BDC7"),
        C("crossAx", 1), C("crosses", Kind == ChartKind.Stacked ? "max" : "min"),
        C("crossBetween", Kind == ChartKind.Lines ? "midCat" : "between"));

    private static IEnumerable<double?> Reach(Series series) => series.Whiskers is { } w
        ? series.Values.Concat(series.Values.Zip(w.Below, (v, l) => v - l)).Concat(series.Values.Zip(w.Above, (v, l) => v + l))
        : series.Values;

    // Whole powers of ten around the figures: a logarithmic axis that begins at 1 wastes the chart.
    private static object?[] Bounds(IEnumerable<double?> figures)
    {
        var known = figures.OfType<double>().Where(f => f > 0).ToList();
        if (known.Count == 0)
            return [];
        var (low, high) = (Math.Pow(10, Math.Floor(Math.Log10(known.Min()))), Math.Pow(10, Math.Ceiling(Math.Log10(known.Max()))));
        return [C("max", Text(high > low ? high : low * 10)), C("min", Text(low))];
    }

    private static XElement Gridlines() => new(s_c + "majorGridlines", LineOf("E3E8ED"));

    private static XElement LineOf(string color) => new(s_c + "spPr", new XElement(s_a + "ln", new XAttribute("w", 9525), Fill(color)));

    private static XElement Filled(string color) => new(s_c + "spPr", Fill(color), new XElement(s_a + "ln", new XAttribute("w", 9525), Fill(color)));

    private static XElement Fill(string color) => new(s_a + "solidFill", new XElement(s_a + "srgbClr", new XAttribute("val", color)));

    private static XElement C(string name, object value) => new(s_c + name, new XAttribute("val", value));

    private static XElement TextOf(string name, string text, int size) => new(s_c + name,
        new XElement(s_c + "tx", new XElement(s_c + "rich", new XElement(s_a + "bodyPr"),
            new XElement(s_a + "p", new XElement(s_a + "pPr", new XElement(s_a + "defRPr", new XAttribute("sz", size), new XAttribute("b", 0))),
                new XElement(s_a + "r", new XElement(s_a + "rPr", new XAttribute("lang", "en-US"), new XAttribute("sz", size),
                    new XAttribute("b", size > 1200 ? 1 : 0)), new XElement(s_a + "t", text))))),
        C("overlay", 0));

    private static XElement Numbers(string name, string reference, IReadOnlyList<double?> values) => new(s_c + name,
        new XElement(s_c + "numRef", new XElement(s_c + "f", reference),
            new XElement(s_c + "numCache", new XElement(s_c + "formatCode", "General"), C("ptCount", values.Count),
            values.Select((v, i) => v is { } known ? new XElement(s_c + "pt", new XAttribute("idx", i), new XElement(s_c + "v", Text(known))) : null))));

    private static XElement Texts(string name, string reference, IReadOnlyList<object?> values) => new(s_c + name,
        new XElement(s_c + "strRef", new XElement(s_c + "f", reference), new XElement(s_c + "strCache", C("ptCount", values.Count),
            values.Select((v, i) => new XElement(s_c + "pt", new XAttribute("idx", i), new XElement(s_c + "v", v))))));

    private static string Text(double value) => value.ToString("R", CultureInfo.InvariantCulture);
}
