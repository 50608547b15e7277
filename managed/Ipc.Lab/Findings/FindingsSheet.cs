using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Workbook;

namespace Ipc.Lab.Findings;

/// <summary>The workbook's findings: a row for every claim and machine, and a row for every comparison beneath.</summary>
internal static class FindingsSheet
{
    private static readonly string[] s_head = ["machine", "claim", "source", "published", "kind", "verdict", "this", "by this", "placement",
        "ratio or figure", "from", "to", "says"];

    public static Sheet Of(IReadOnlyList<MachineReport> machines)
    {
        var sheet = new Sheet("Findings") { Widths = [18, 60, 24, 26, 16, 60, 44, 44, 11, 14, 12, 12, 26], Frozen = (3, 2) };
        sheet.Add(new Value("Published claims, tried here", Look.Title));
        sheet.Add(new Value("A ratio with its 95 % interval says whether a claim holds on this machine; docs/findings.md has the rule. What ran under "
            + "Wine shows an order of cost, nothing else. Single figures are in nanoseconds, bytes or operations a second.", Look.Note));
        sheet.AddHead(s_head);
        foreach (var machine in machines.Where(m => m.OnUsualProcessors))
        {
            foreach (var finding in FindingsOf.Machine(machine, machines))
            {
                Value[] claim = [Value.Text(machine.Label), new(finding.Claim.Text, Look.Wrap), Value.Text(finding.Claim.Source),
                    new(finding.Claim.Published, Look.Wrap), Value.Text(Finding.Word(finding.Kind)), new(finding.Verdict, Look.Wrap)];
                if (finding.Evidence.Count == 0)
                    sheet.Add(claim);
                foreach (var evidence in finding.Evidence)
                {
                    sheet.Add([.. claim, Value.Text($"{evidence.Test.Over}"), Value.Text($"{evidence.Test.Under}"), Value.Text(evidence.Placement),
                        new(evidence.Value, Look.Ratio), new(evidence.Interval[0], Look.Ratio), new(evidence.Interval[1], Look.Ratio),
                        Value.Text(finding.Kind == FindingKind.UnderWine ? "under Wine" : evidence.Says)]);
                }
            }
        }
        sheet.Table = (3, sheet.Count, s_head.Length);
        sheet.Names.Add(("Findings", $"'{sheet.Name}'!$A$3:$M${sheet.Count}"));
        return sheet;
    }
}
