using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>What matters of a run, on one screen of a terminal: the answer for each message and pair, and what went wrong.</summary>
internal static class ConsoleSummary
{
    // With the lines around them, what a terminal of 24 lines holds.
    private const int MostQuestions = 13;
    private const int MostProblems = 3;
    private const string Gap = "  ";

    public static void Write(IAnsiConsole console, MachineReport machine)
    {
        foreach (var banner in machine.Banners())
            console.MarkupLineInterpolated($"[yellow]{banner}[/]");
        // Those measured most, and among those of about as many cells C++ and C# before the rest.
        var counts = machine.Sound.Where(c => !c.IsAlone).CountBy(c => c.Result.Pair).ToList();
        var most = counts.Select(p => p.Value).DefaultIfEmpty().Max();
        var pairs = counts.OrderByDescending(p => p.Value * 2 > most).ThenBy(p => Names.RankOf(Presets.MainPairs, p.Key)).ThenByDescending(p => p.Value)
            .Select(p => p.Key).ToList();
        var answers = pairs.ToDictionary(p => p, p => Question.Of(machine, p));
        var all = answers.Values.SelectMany(a => a).DistinctBy(q => q.Title).ToList();
        if (all.Count > 0)
            WriteTable(console, pairs, answers, all);
        WriteProblems(console, machine);
    }

    /// <summary>What `--check` found: every failed cell, and how many did all they should.</summary>
    public static void WriteChecked(IAnsiConsole console, RunResults results)
    {
        foreach (var cell in results.Cells.Where(c => c.Status == "failed"))
            console.MarkupLineInterpolated($"[red]failed[/] {cell.Cell}: {cell.Reason}");
        int Count(string status) => results.Cells.Count(c => c.Status == status);
        console.WriteLine($"{Count("checked")} cells exchanged all their messages, {Count("failed")} failed, {Count("skipped")} were skipped");
    }

    private static void WriteTable(IAnsiConsole console, List<string> pairs, Dictionary<string, IReadOnlyList<Question>> answers, List<Question> all)
    {
        var shown = all.Take(MostQuestions).ToList();
        var first = shown.Select(q => Shorten(q.Title)).Append("fastest by p50").ToList();
        var width = first.Max(t => t.Length);
        List<List<string>> columns = [];
        foreach (var pair in pairs)
        {
            List<string> column = [pair, .. shown.Select(q =>
                answers[pair].FirstOrDefault(a => a.Title == q.Title) is { } answer ? Cell(answer) : Units.Unknown)];
            if (columns.Count > 0 && width + columns.Append(column).Sum(c => Gap.Length + c.Max(t => t.Length)) >= console.Profile.Width)
                break;
            columns.Add(column);
        }
        for (var row = 0; row <= shown.Count; row++)
        {
            var line = (row == 0 ? "fastest by p50" : first[row - 1]).PadRight(width)
                + string.Concat(columns.Select(c => Gap + c[row].PadRight(c.Max(t => t.Length))));
            line = line.TrimEnd();
            if (line.Length >= console.Profile.Width)
                line = line[..(console.Profile.Width - 1)];
            console.Write(new Text(line + "\n", row == 0 ? new Style(decoration: Decoration.Bold) : Style.Plain));
        }
        var notes = new List<string>();
        if (columns.Any(c => c.Skip(1).Any(t => t.StartsWith('='))))
            notes.Add("= others are no different");
        if (columns.Any(c => c.Skip(1).Any(t => t.StartsWith('?'))))
            notes.Add("? too few launches to tell");
        if (columns.Count < pairs.Count)
            notes.Add($"{pairs.Count - columns.Count} more pairs");
        if (shown.Count < all.Count)
            notes.Add($"{all.Count - shown.Count} more messages");
        if (notes.Count > 0)
            console.MarkupLineInterpolated($"[grey]{string.Join("; ", notes)}[/]");
    }

    private static string Cell(Question question)
    {
        var mark = !question.Verdict.IsCertain ? "?" : question.Verdict.Tied.Count > 1 ? "=" : "";
        return $"{mark}{question.NameOf(question.Verdict.Best).Replace(" + ", "+", StringComparison.Ordinal)} {Units.Time(question.Verdict.Best.P50Ns)}";
    }

    private static string Shorten(string title) => title.Replace("push, confirmed by a byte", "push", StringComparison.Ordinal)
        .Replace("four clients into one server", "fan-in", StringComparison.Ordinal);

    private static void WriteProblems(IAnsiConsole console, MachineReport machine)
    {
        var problems = machine.Cells.Where(c => !c.IsSuperseded && c.Result.Status is "failed" or "unsteady").Select(c => c.Result)
            .OrderBy(c => c.Status == "failed" ? 0 : 1).ToList();
        foreach (var cell in problems.Take(MostProblems))
        {
            var text = $"{cell.Status}: {cell.Transport} {cell.Pair} {cell.Codec} {cell.Scenario} {cell.Workload}: {cell.Reason}";
            var room = console.Profile.Width - 1;
            console.Write(new Text((text.Length > room ? string.Concat(text.AsSpan(0, room - 3), "...") : text) + "\n",
                new Style(cell.Status == "failed" ? Color.Red : Color.Yellow)));
        }
        if (problems.Count > MostProblems)
            console.WriteLine($"and {problems.Count - MostProblems} more that failed or did not settle");
    }
}
