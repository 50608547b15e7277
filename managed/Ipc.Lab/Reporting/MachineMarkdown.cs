using System.Text;
using Ipc.Lab.Findings;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Reporting;

/// <summary>measurements.MACHINE.md: the answers for every pair, then every run as it was measured.</summary>
internal static class MachineMarkdown
{
    /// <param name="charts">File names of charts and what they show.</param>
    /// <param name="all">Every machine of the report.</param>
    public static string Write(MachineReport machine, IReadOnlyList<(string File, string Title)> charts, IReadOnlyList<MachineReport> all)
    {
        var text = new StringBuilder($"# What to use for what on {machine.Label}\n\n");
        foreach (var banner in machine.Banners())
            text.Append($"**{banner}**\n\n");
        text.Append($"{Verdict.Rule}\n\n");
        foreach (var (file, title) in charts)
            text.Append($"![{title}]({Uri.EscapeDataString(file)})\n\n");
        foreach (var pair in machine.Sound.Where(c => !c.IsAlone).Select(c => c.Result.Pair).Distinct())
        {
            text.Append($"## Server : client = {Names.Pair(pair)}\n\n| message | use | p50 | interval | next best |\n| --- | --- | ---: | ---: | --- |\n");
            foreach (var question in Question.Of(machine, pair))
                text.Append($"| {question.Title} | {question.Answer} | {Units.Time(question.Verdict.Best.P50Ns)} | "
                    + $"{Units.Interval(question.Verdict.Best.P50Ci, Units.Time)} | {question.Next} |\n");
            text.Append('\n');
        }
        text.Append($"## Published claims, tried here\n\n{FindingsMarkdown.Summary(FindingsOf.Machine(machine, all), linked: false)}\n");
        // Each run stands by itself, one level deeper.
        foreach (var run in machine.Runs)
            text.Append(MarkdownReport.Write(run.Results).Replace("\n## ", "\n### ", StringComparison.Ordinal).Insert(0, "#"));
        return text.ToString();
    }
}
