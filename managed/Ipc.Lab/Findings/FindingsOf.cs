using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Findings;

/// <summary>Holds every claim against what was measured.</summary>
internal static class FindingsOf
{
    /// <summary>The findings of one machine.</summary>
    /// <param name="all">Every report there is: among them may be the same machine's under Wine.</param>
    public static IReadOnlyList<Finding> Machine(MachineReport machine, IReadOnlyList<MachineReport> all, IReadOnlyList<Claim>? claims = null)
    {
        var same = all.Append(machine).Distinct().Where(m => m.Machine.Name == machine.Machine.Name && m.Machine.Cpu.Model == machine.Machine.Cpu.Model)
            .ToList();
        var here = new MeasuredCells(same.Where(m => m.Machine.Wine == machine.Machine.Wine));
        var underWine = new MeasuredCells(same.Where(m => m.Machine.Wine is not null));
        var isWindows = machine.Machine.Wine is null && machine.Machine.System.Contains("Windows", StringComparison.OrdinalIgnoreCase);
        return
        [
            .. from claim in claims ?? PublishedClaims.All
               let wine = machine.Machine.Wine is not null || (claim.NeedsWindows && !isWindows)
               select claim.Tests.Count == 0 || (claim.NeedsWindowsItself && !isWindows) ? NotTestable(claim) : Judge(claim, wine ? underWine : here, wine),
        ];
    }

    private static Finding NotTestable(Claim claim) =>
        new(claim, FindingKind.NotTestable, $"{Finding.Word(FindingKind.NotTestable)}: {claim.Note}", [], [], null);

    private static Finding Judge(Claim claim, MeasuredCells measured, bool underWine)
    {
        var answers = claim.Tests.Select(t => (Test: t, Evidence: measured.Answers(claim, t).ToList())).ToList();
        List<Evidence> evidence = [.. answers.SelectMany(a => a.Evidence)];
        List<ClaimCell> unanswered = [.. answers.Where(a => a.Evidence.Count == 0)
            .SelectMany(a => ((ClaimCell?[])[a.Test.Over, a.Test.Under]).OfType<ClaimCell>()).Distinct()];
        List<ClaimCell> missing = [.. unanswered.Where(c => !measured.Find(c).IsThere)];
        var command = missing.Count == 0 ? null : MissingCells.Command(claim, underWine);
        var (kind, verdict) = evidence.Count == 0
            ? (FindingKind.NotTestable, WhyNothing(unanswered, missing, measured, command))
            : VerdictText.Of(claim, evidence, underWine);
        return new Finding(claim, kind, verdict, evidence, missing, command);
    }

    private static string WhyNothing(List<ClaimCell> unanswered, List<ClaimCell> missing, MeasuredCells measured, string? command)
    {
        var why = MissingCells.WhyUnknown(missing)
            ?? (command is not null ? $"not measured in these results: `{command}` would"
                : unanswered.Select(c => measured.Find(c).Why).OfType<string>().FirstOrDefault()
                ?? "its cells were not measured in one run, or have too few settled launches of one placement, or the run did not keep this figure of "
                    + "each launch");
        return $"{Finding.Word(FindingKind.NotTestable)}: {why}";
    }
}
