using Ipc.Lab.Planning;

namespace Ipc.Lab.Findings;

/// <summary>
/// Selections of cells as claims.csv writes them: <c>axis=value,value</c>, separated by spaces. The axes are those of a cell (transport, pair, codec,
/// scenario, workload), and which figure of it (p50 where none is named). Values of <c>where</c> are crossed; lists of <c>over</c> and <c>under</c> go in step.
/// </summary>
internal static class ClaimExpression
{
    private static readonly string[] s_axes = ["transport", "pair", "codec", "scenario", "workload", "figure"];

    /// <summary>The tests that a row names; none of an empty row.</summary>
    public static IReadOnlyList<ClaimTest> Tests(string id, string where, string over, string under)
    {
        if (where.Length + over.Length + under.Length == 0)
            return [];
        var (common, first, second) = (Parse(id, where), Parse(id, over), Parse(id, under));
        var steps = first.Values.Concat(second.Values).Select(v => v.Length).DefaultIfEmpty(1).Max();
        if (first.Values.Concat(second.Values).Any(v => v.Length != 1 && v.Length != steps))
            throw new UserMistakeException(
                $"claims.csv, '{id}': lists of 'over' and 'under' go in step, so each has one value or as many as the longest, {steps}");
        return
        [
            .. from crossed in Cross(common)
               from step in Enumerable.Range(0, steps)
               let a = With(crossed, first, step)
               let b = under.Length > 0 ? With(crossed, second, step) : null
               select new ClaimTest(ToCell(id, a), b is null ? null : ToCell(id, b), AxesOf(a, b)),
        ];
    }

    private static Dictionary<string, string[]> Parse(string id, string text)
    {
        var axes = new Dictionary<string, string[]>();
        foreach (var word in text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            var equals = word.IndexOf('=', StringComparison.Ordinal);
            if (equals < 0 || !s_axes.Contains(word[..equals]))
                throw new UserMistakeException($"claims.csv, '{id}': '{word}' is not AXIS=VALUE with an axis of {string.Join(", ", s_axes)}");
            axes.Add(word[..equals], word[(equals + 1)..].Split(','));
        }
        return axes;
    }

    private static IEnumerable<Dictionary<string, string>> Cross(Dictionary<string, string[]> axes)
    {
        IEnumerable<Dictionary<string, string>> all = [[]];
        foreach (var (axis, values) in axes)
            all = all.SelectMany(chosen => values.Select(value => new Dictionary<string, string>(chosen) { [axis] = value }));
        return all;
    }

    private static Dictionary<string, string> With(Dictionary<string, string> common, Dictionary<string, string[]> own, int step)
    {
        var all = new Dictionary<string, string>(common);
        foreach (var (axis, values) in own)
            all[axis] = values.Length == 1 ? values[0] : values[step];
        return all;
    }

    private static ClaimCell ToCell(string id, Dictionary<string, string> axes)
    {
        string Value(string axis) =>
            axes.TryGetValue(axis, out var value) ? value : throw new UserMistakeException($"claims.csv, '{id}': no {axis} is named for one of its cells");
        var cell = new Cell(Value("transport"), Value("pair"), Value("codec"), Value("scenario"), Value("workload"));
        return new ClaimCell(cell, ClaimFigure.Check(id, axes.GetValueOrDefault("figure", ClaimFigure.Usual)));
    }

    private static Dictionary<string, string> AxesOf(Dictionary<string, string> over, Dictionary<string, string>? under) =>
        s_axes.Where(over.ContainsKey).ToDictionary(axis => axis, axis =>
            under is null || under.GetValueOrDefault(axis) == over[axis] ? over[axis] : $"{over[axis]} by {under.GetValueOrDefault(axis, "usual")}");
}
