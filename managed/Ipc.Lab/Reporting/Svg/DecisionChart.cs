using System.Globalization;
using System.Text;
using System.Xml.Linq;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Svg;

/// <summary>One question as an SVG picture for READMEs: a dot for each transport's median, a whisker for its interval, on a logarithmic axis.
/// Written by hand because a drawing library brings tens of megabytes of native code along; colours follow the reader's light or dark theme.</summary>
internal static class DecisionChart
{
    private const int Width = 720;
    private const int RowHeight = 26;
    private const int Left = 190;
    private const int Right = 90;
    private const int Top = 58;

    private static readonly XNamespace s_svg = "http://www.w3.org/2000/svg";

    public static string Write(MachineReport machine, Question question)
    {
        var verdict = question.Verdict;
        List<CellResult> cells = [.. verdict.Ranked.Take(20)];
        var figures = cells.SelectMany(c => (double?[])[c.P50Ns, c.P50Ci?[0], c.P50Ci?[1]]).OfType<double>().Where(f => f > 0).ToList();
        var (low, high) = (Math.Log10(figures.Min() / 1.2), Math.Log10(figures.Max() * 1.2));
        double X(double ns) => Left + ((Math.Log10(Math.Max(ns, 1e-3)) - low) / (high - low) * (Width - Left - Right));
        var height = Top + (RowHeight * cells.Count) + 34;
        var title = $"{question.Title}, {Names.Pair(question.Pair)}";
        var root = new XElement(s_svg + "svg",
            new XAttribute("viewBox", $"0 0 {Width} {height}"), new XAttribute("width", Width), new XAttribute("height", height), new XAttribute("role", "img"),
            new XElement(s_svg + "title", $"{title}: {string.Join(", ", cells.Select(c => $"{question.NameOf(c)} {Units.Time(c.P50Ns)}"))}"),
            new XElement(s_svg + "style", "text{font:13px system-ui,sans-serif;fill:#1a1f26}.t{font-size:15px;font-weight:600}"
                + ".m{fill:#57616e;font-size:12px}.g{stroke:#d6dce3}.w{stroke:#0b62c4;fill:#0b62c4}.o{stroke:#5f6b78;fill:#5f6b78}"
                + "@media(prefers-color-scheme:dark){text{fill:#e7ebf0}.m{fill:#a3aebb}"
                + ".g{stroke:#343d48}.w{stroke:#6cb2ff;fill:#6cb2ff}.o{stroke:#aab4c0;fill:#aab4c0}}"),
            Text(12, 22, title, "t"), Text(12, 41, $"median and interval, logarithmic; {machine.Label}, {machine.Machine.Cpu.Model}", "m"));
        foreach (var tick in Ticks(low, high))
        {
            root.Add(Line(X(tick), Top - 6, X(tick), height - 30, "g"));
            root.Add(Text(X(tick), height - 12, Tick(tick), "m", "middle"));
        }
        for (var i = 0; i < cells.Count; i++)
        {
            var (cell, y) = (cells[i], Top + (RowHeight * i) + 10.0);
            var look = verdict.IsCertain && verdict.Tied.Contains(cell) ? "w" : "o";
            root.Add(Text(Left - 14, y + 4, question.NameOf(cell), "", "end"));
            var end = cell.P50Ns!.Value;
            if (cell.P50Ci is [var from, var to])
            {
                root.Add(Line(X(from), y, X(to), y, look), Line(X(from), y - 4, X(from), y + 4, look), Line(X(to), y - 4, X(to), y + 4, look));
                end = to;
            }
            root.Add(new XElement(s_svg + "circle", At("cx", X(cell.P50Ns.Value)), At("cy", y), At("r", 5), new XAttribute("class", look)));
            root.Add(Text(X(end) + 11, y + 4, Units.Time(cell.P50Ns), ""));
        }
        return new StringBuilder(root.ToString(SaveOptions.DisableFormatting)).Append('\n').ToString();
    }

    // Powers of ten; 2 and 5 too where there are few.
    private static IEnumerable<double> Ticks(double low, double high) =>
        from power in Enumerable.Range((int)Math.Floor(low), (int)(Math.Ceiling(high) - Math.Floor(low)) + 1)
        from step in high - low > 2.2 ? [1] : (int[])[1, 2, 5]
        let tick = step * Math.Pow(10, power)
        where Math.Log10(tick) >= low && Math.Log10(tick) <= high
        select tick;

    private static string Tick(double ns)
    {
        var text = Units.Time(ns);
        var unit = text.IndexOf(' ', StringComparison.Ordinal);
        return text.Contains('.', StringComparison.Ordinal) ? text[..unit].TrimEnd('0').TrimEnd('.') + text[unit..] : text;
    }

    private static XElement Text(double x, double y, string text, string look, string anchor = "start") =>
        new(s_svg + "text", At("x", x), At("y", y), look.Length > 0 ? new XAttribute("class", look) : null,
            anchor == "start" ? null : new XAttribute("text-anchor", anchor), text);

    private static XElement Line(double x1, double y1, double x2, double y2, string look) =>
        new(s_svg + "line", At("x1", x1), At("y1", y1), At("x2", x2), At("y2", y2), new XAttribute("class", look));

    private static XAttribute At(string name, double value) => new(name, Math.Round(value, 1).ToString(CultureInfo.InvariantCulture));
}
