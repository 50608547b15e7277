using System.Text;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Page;

namespace Ipc.Lab.Findings;

/// <summary>Findings as Markdown: a table of verdicts, then what each rests on.</summary>
internal static class FindingsMarkdown
{
    /// <summary>The table alone.</summary>
    /// <param name="linked">Whether each claim's name leads to its section, where there is one.</param>
    public static string Summary(IReadOnlyList<Finding> findings, bool linked)
    {
        var text = new StringBuilder("| claim | published | here | verdict |\n|---|---|---|---|\n");
        foreach (var finding in findings)
        {
            var claim = finding.Claim;
            var name = linked ? $"[{claim.Text}](#{claim.Id})" : claim.Text;
            text.Append($"| {name} | {Cell(claim.Published)} | {(finding.Evidence.Count > 0 ? VerdictText.Span(finding.Evidence) : Units.Unknown)} | "
                + $"{Cell(Emphasised(finding))} |\n");
        }
        return text.ToString();
    }

    /// <summary>Table and sections; every figure leads to the cell it is of.</summary>
    /// <param name="machine">Whose findings; its page is linked.</param>
    /// <param name="up">From the page that is written to the root of the tree, e.g. <c>../</c>.</param>
    public static string Whole(MachineReport machine, IReadOnlyList<Finding> findings, string up)
    {
        var text = new StringBuilder($"Measured on {machine.Label}: {machine.Machine.Cpu.Model}, {machine.Machine.Cpu.AllowedCpus} CPUs, "
            + $"{(machine.Machine.Virtualisation == "none" ? "bare metal" : $"virtual ({machine.Machine.Virtualisation})")}, {machine.Machine.System}.\n\n");
        text.Append(Summary(findings, linked: true));
        foreach (var finding in findings)
            Section(text, machine, finding, up);
        return text.ToString();
    }

    private static void Section(StringBuilder text, MachineReport machine, Finding finding, string up)
    {
        var claim = finding.Claim;
        text.Append($"\n### {claim.Id}\n\n{claim.Text}. Source: {claim.Source}. Published: {claim.Published}.\n\n{Emphasised(finding)}.\n");
        if (claim.Note.Length > 0 && !finding.Verdict.Contains(claim.Note, StringComparison.Ordinal))
            text.Append($"{claim.Note}.\n");
        if (finding is { Evidence.Count: > 0, Command: { } command })
            text.Append($"Not in these results: {finding.Missing.Count} of its cells, which `{command}` would measure.\n");
        if (finding.Evidence.Count == 0)
            return;
        var isRatio = finding.Evidence[0].Test.Under is not null;
        text.Append(isRatio
            ? "\n| this | by this | placement | ratio | interval | launches | says |\n|---|---|---|---:|---:|---|---|\n"
            : "\n| this | placement | figure | interval | launches | says |\n|---|---|---:|---:|---|---|\n");
        foreach (var evidence in finding.Evidence)
        {
            var test = evidence.Test;
            var figure = test.Over.Figure;
            string Format(double? value) => isRatio ? Units.Ratio(value) : ClaimFigure.Format(figure, value!.Value);
            text.Append($"| {Link(machine, test.Over, evidence.Over, up)} |{(test.Under is { } under ? $" {Link(machine, under, evidence.Over, up)} |" : "")} "
                + $"{evidence.Placement ?? Units.Unknown} | {Format(evidence.Value)} | {Format(evidence.Interval[0])} to "
                + $"{Format(evidence.Interval[1])} | {evidence.Launches} | {(finding.Kind == FindingKind.UnderWine ? "under Wine" : evidence.Says)} |\n");
        }
    }

    // The page has a view for every cell; runs that are no part of it are linked as they were measured.
    private static string Link(MachineReport machine, ClaimCell cell, MeasuredIn run, string up)
    {
        var where = machine.Runs.Any(r => r.Folder == run.Folder)
            ? $"{up}{PageWriter.FileNameOf(machine)}#{PageView.Of(cell.Cell)}"
            : $"{up}results/{Uri.EscapeDataString(run.Folder)}";
        return $"[{cell}]({where})";
    }

    private static string Emphasised(Finding finding)
    {
        var word = Finding.Word(finding.Kind);
        return $"**{word}**{finding.Verdict[word.Length..]}";
    }

    private static string Cell(string text) => text.Replace("|", "\\|", StringComparison.Ordinal);
}
