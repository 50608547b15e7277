using CsvHelper;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Findings;

/// <summary>One row of reference/claims.csv: what somebody says of inter-process communication, and the cells that would show it.</summary>
/// <param name="Text">The claim in our words.</param>
/// <param name="Tests">The ratios, or single figures, that speak about it; none where nothing the lab measures could.</param>
/// <param name="Least">The published effect lies from here ...</param>
/// <param name="Most">... to here; one of them is null where it is open, and both lie on one side of <paramref name="Line"/>.</param>
/// <param name="Line">Where a ratio speaks neither for the claim nor against it: 1, or what the claim names.</param>
/// <param name="Published">The size of the effect, for people.</param>
/// <param name="Needs"><c>windows</c>: measurements elsewhere say nothing about it, and those under Wine show an order of cost; <c>windows-itself</c>:
/// not even that. Empty otherwise.</param>
/// <param name="Note">What must be said beside the verdict; without tests, why there are none.</param>
internal sealed record Claim(
    string Id, string Source, string Text, IReadOnlyList<ClaimTest> Tests, double? Least, double? Most, double Line, string Published, string Needs,
    string Note)
{
    public bool NeedsWindows => Needs.Length > 0;

    /// <summary>The cells that it is held against.</summary>
    public IEnumerable<Cell> Cells =>
        Tests.SelectMany(t => ((ClaimCell?[])[t.Over, t.Under]).OfType<ClaimCell>()).Select(c => c.Cell).Distinct();

    /// <summary>Whether Wine cannot stand in for it.</summary>
    public bool NeedsWindowsItself => Needs == "windows-itself";

    /// <summary>Whether the claim says that the ratio lies above the line; else it lies below.</summary>
    public bool IsAbove => Least >= Line;

    /// <summary>Whether the size of the effect is published, not only its direction.</summary>
    public bool StatesSize => (IsAbove ? Least : Most) is { } nearest && nearest != Line;
}

/// <summary>A cell's figure, as a claim speaks of it.</summary>
/// <param name="Figure">One of <see cref="ClaimFigure"/>.</param>
internal sealed record ClaimCell(Cell Cell, string Figure)
{
    public override string ToString() => $"{Cell}{(Figure == ClaimFigure.Usual ? "" : $", {Figure}")}";
}

/// <summary>One thing to look at: how many times as much <paramref name="Over"/> is as <paramref name="Under"/>; without that, the figure itself.</summary>
/// <param name="Axes">What tells this test from the others of its claim, by axis.</param>
internal sealed record ClaimTest(ClaimCell Over, ClaimCell? Under, IReadOnlyDictionary<string, string> Axes);

/// <summary>The claims, carried inside the lab.</summary>
internal static class PublishedClaims
{
    private static readonly Lazy<IReadOnlyList<Claim>> s_all = new(() =>
    {
        using var stream = typeof(PublishedClaims).Assembly.GetManifestResourceStream("ipc.claims.csv")!;
        return Read(stream);
    });

    public static IReadOnlyList<Claim> All => s_all.Value;

    /// <summary>The claim of that name, which has cells.</summary>
    /// <exception cref="UserMistakeException">There is none, or nothing that the lab measures could show it.</exception>
    public static Claim WithCells(string id)
    {
        var claim = All.First(c => c.Id == Choices.Check("claim", id, All.Select(c => c.Id)));
        return claim.Tests.Count > 0 ? claim : throw new UserMistakeException($"claim '{id}' has no cells: {claim.Note}");
    }

    /// <summary>Reads a table of claims; a row that says nothing clear is a mistake that names it.</summary>
    public static IReadOnlyList<Claim> Read(Stream stream)
    {
        using var csv = CsvReader.Create(stream, new CsvReaderOptions { Separator = ',', CommentPrefix = '#' });
        var claims = new List<Claim>();
        while (csv.Read())
        {
            var id = csv.GetString("id");
            var claim = new Claim(
                id, csv.GetString("source"), csv.GetString("claim"),
                ClaimExpression.Tests(id, csv.GetString("where"), csv.GetString("over"), csv.GetString("under")),
                csv["least"].ParseOrNull<double>(), csv["most"].ParseOrNull<double>(), csv["line"].ParseOrNull<double>() ?? 1,
                csv.GetString("published"), csv.GetString("needs"), csv.GetString("note"));
            claims.Add(WhyUnclear(claim) is { } why ? throw new UserMistakeException($"claims.csv, '{id}': {why}") : claim);
        }
        return claims;
    }

    private static string? WhyUnclear(Claim claim) => claim switch
    {
        { Tests.Count: 0, Note.Length: 0 } => "it has no cells to test it and no note that says why",
        { Tests.Count: > 0, Least: null, Most: null } => "it states neither the least nor the most",
        { Least: > 0, Most: { } most } when most < claim.Least => "its least is more than its most",
        { Needs: not ("" or "windows" or "windows-itself") } => $"it needs '{claim.Needs}'; there are only windows and windows-itself",
        { NeedsWindowsItself: true, Note.Length: 0 } => "it needs Windows itself and no note says why",
        _ when claim.Tests.Count > 0 && claim.Tests.Any(t => t.Under is null) != claim.Tests.All(t => t.Under is null) =>
            "some of its tests are ratios and some are not",
        _ when claim.Tests.Any(t => t.Under is not null) && !(claim.Least >= claim.Line || claim.Most <= claim.Line) =>
            "its range lies on both sides of the line",
        _ => null,
    };
}
