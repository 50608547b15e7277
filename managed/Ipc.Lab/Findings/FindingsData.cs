using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Findings;

/// <summary>Findings as the page draws them.</summary>
internal static class FindingsData
{
    public static IEnumerable<object> Of(MachineReport machine, IReadOnlyList<MachineReport> others) =>
        FindingsOf.Machine(machine, others).Select(f => new
        {
            f.Claim.Id,
            f.Claim.Source,
            Claim = f.Claim.Text,
            f.Claim.Published,
            f.Claim.Note,
            Kind = Finding.Word(f.Kind),
            f.Verdict,
            Span = f.Evidence.Count > 0 ? VerdictText.Span(f.Evidence) : null,
            f.Command,
            Evidence = f.Evidence.Select(e => new
            {
                Over = Side(machine, e, e.Test.Over),
                Under = e.Test.Under is { } under ? Side(machine, e, under) : null,
                e.Placement,
                Value = Format(e, e.Value),
                Interval = $"{Format(e, e.Interval[0])} to {Format(e, e.Interval[1])}",
                e.Launches,
                Says = f.Kind == FindingKind.UnderWine ? "under Wine" : e.Says,
            }),
        });

    // Cells of other runs are no part of this page, so nothing leads to them.
    private static object Side(MachineReport machine, Evidence evidence, ClaimCell cell) => new
    {
        Text = $"{cell}",
        View = machine.Machine.Wine == evidence.Over.Wine ? PageView.Of(cell.Cell) : null,
    };

    private static string Format(Evidence evidence, double value) =>
        evidence.Test.Under is null ? ClaimFigure.Format(evidence.Test.Over.Figure, value) : $"{Units.Ratio(value)} ×";
}
