namespace Ipc.Lab.Findings;

/// <summary>What became of a claim.</summary>
internal enum FindingKind { Confirmed, Refuted, Depends, NotTestable, UnderWine }

/// <summary>A claim with its verdict and what it rests on.</summary>
/// <param name="Verdict">In words, beginning with the kind's.</param>
/// <param name="Evidence">Every comparison that was measured.</param>
/// <param name="Missing">Cells the claim needs and the results have not.</param>
/// <param name="Command">The command that would measure those; null where none is missing.</param>
internal sealed record Finding(Claim Claim, FindingKind Kind, string Verdict, IReadOnlyList<Evidence> Evidence, IReadOnlyList<ClaimCell> Missing,
    string? Command)
{
    /// <summary>The verdict's first words, by which readers look for it.</summary>
    public static string Word(FindingKind kind) => kind switch
    {
        FindingKind.Confirmed => "confirmed",
        FindingKind.Refuted => "refuted",
        FindingKind.Depends => "depends",
        FindingKind.UnderWine => "order of cost under Wine",
        _ => "not testable here",
    };
}
