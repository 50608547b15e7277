using System.Text.RegularExpressions;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Findings;

/// <summary>Fills pages that people write: findings between <c>&lt;!-- findings --&gt;</c> and <c>&lt;!-- /findings --&gt;</c>, and the tables of
/// <see cref="MeasuredTables"/>.</summary>
internal static partial class FindingsPlaces
{
    /// <summary>The text with everything that is marked made anew.</summary>
    /// <param name="machines">All reports; the page is about the one that is neither under Wine nor on one CPU.</param>
    /// <param name="up">From the page's folder to where the machine's own page lies.</param>
    public static string Fill(string text, IReadOnlyList<MachineReport> machines, string up)
    {
        var machine = MainOf(machines);
        var places = Begin().Count(text);
        if (places != Whole().Count(text))
            throw new UserMistakeException("a place for findings is not closed: <!-- findings --> needs its own <!-- /findings --> on a line after it");
        if (places == 0)
            return MeasuredTables.Fill(text, machine);
        var filled = Whole().Replace(text, _ =>
            $"<!-- findings -->\n\n{FindingsMarkdown.Whole(machine, FindingsOf.Machine(machine, machines), up)}\n<!-- /findings -->");
        return filled.Contains("<!-- measured:", StringComparison.Ordinal) ? MeasuredTables.Fill(filled, machine) : filled;
    }

    /// <summary>The one machine that a page can speak about.</summary>
    public static MachineReport MainOf(IReadOnlyList<MachineReport> machines)
    {
        var usual = machines.Where(m => m.Machine.Wine is null && m.OnUsualProcessors).ToList();
        var candidates = usual.Count > 0 ? usual : machines;
        return candidates.Count == 1 ? candidates[0]
            : throw new UserMistakeException(
                $"--fill writes about one machine, and these are {candidates.Count}: {string.Join(", ", candidates.Select(m => m.Label))}");
    }

    [GeneratedRegex("<!-- findings -->.*?<!-- /findings -->", RegexOptions.Singleline)]
    private static partial Regex Whole();

    [GeneratedRegex("<!-- findings -->")]
    private static partial Regex Begin();
}
