using Ipc.Lab.Reporting;

namespace Ipc.Lab.Findings;

/// <summary>Findings for the console: each claim, its verdict, and the comparisons that it rests on.</summary>
internal static class FindingsConsole
{
    public static void Write(TextWriter output, IReadOnlyList<Finding> findings)
    {
        foreach (var finding in findings)
        {
            output.WriteLine();
            TextLines.Write(output, $"{finding.Claim.Id}: ", $"{finding.Claim.Text}. Published: {finding.Claim.Published}.", hanging: 2);
            TextLines.Write(output, "  ", $"{finding.Verdict}.");
            foreach (var evidence in finding.Evidence)
            {
                var placement = evidence.Placement is { } place ? $", {place}" : "";
                TextLines.Write(output, "  ",
                    $"{VerdictText.Span([evidence])}: {evidence.Says}; {evidence.Test.Over}"
                    + $"{(evidence.Test.Under is { } under ? $" by {under}" : "")}; {evidence.Launches} launches{placement}", hanging: 6);
            }
        }
    }
}
