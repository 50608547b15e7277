using Ipc.Lab.Findings;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

/// <summary>What is committed of measurements belongs together: `scripts/reference.sh` made all of it from one run.</summary>
public sealed class ReferenceResultsTests
{
    private static string Root { get; } = RepositoryRoot.Find()!;

    private static string Kept { get; } = Path.Combine(Root, "results", "reference");

    private static MachineReport Machine { get; } = MachineReport.Of([new ReportRun("reference", ResultsReader.Read(Kept))]).Single();

    [Fact]
    public void TheReadmesTablesAreThoseOfTheReferenceResults()
    {
        var readme = File.ReadAllText(Path.Combine(Root, "README.md"));

        Assert.True(readme == MeasuredTables.Fill(readme, Machine),
            "README.md has other figures than results/reference: run scripts/ipc report results/reference --out results/report --fill README.md");
    }

    [Fact]
    public void TheFindingsAreThoseOfTheReferenceResults()
    {
        var findings = File.ReadAllText(Path.Combine(Root, "docs", "findings.md"));
        var kept = Directory.GetDirectories(Path.Combine(Root, "results"), "reference*")
            .Where(d => !d.EndsWith(".run", StringComparison.Ordinal) && ResultsReader.HasResults(d));
        var machines = MachineReport.Of(kept.Order(StringComparer.Ordinal).Select(d => new ReportRun(Path.GetFileName(d), ResultsReader.Read(d))));

        Assert.True(findings == FindingsPlaces.Fill(findings, machines, "../"), "docs/findings.md says other things than results/reference*: "
            + "run scripts/ipc report results/reference* --out results/report --fill docs/findings.md");
        // Each claim has its section, and the table leads to it.
        Assert.All(PublishedClaims.All, c => Assert.Contains($"\n### {c.Id}\n", findings, StringComparison.Ordinal));
        Assert.All(PublishedClaims.All, c => Assert.Contains($"](#{c.Id})", findings, StringComparison.Ordinal));
    }

    [Fact]
    public void TheReferenceRunIsWholeOfThisPresetAndMadeByAReleaseBuild()
    {
        var run = Machine.Runs[0].Results.Run;
        Assert.Equal(("full", "release", true), (run.Preset, run.Build, run.Complete));
        Assert.DoesNotContain(Machine.Cells, c => c.Result.Status is "failed" or "pending");
        // The preset may have grown since; what was measured is of it, and docs/findings.md says what is not there yet.
        Assert.Subset(Presets.Get("full").Cells().Select(c => c.ToString()).ToHashSet(), Machine.Cells.Select(c => c.Result.Cell.ToString()).ToHashSet());
        Assert.Equal(Machine.Cells.Count, Machine.Cells.Select(c => c.Result.Cell).Distinct().Count());
    }

    [Fact]
    public void PageWorkbookAndChartsAreThereAndSmall()
    {
        string[] files =
        [
            Path.Combine(Root, "measurements.xlsx"), Path.Combine(Root, $"measurements.{Machine.FileName}.htm"), Path.Combine(Kept, "results.json.gz"),
            Path.Combine(Kept, $"measurements.{Machine.FileName}.md"), Path.Combine(Kept, $"measurements.{Machine.FileName}.64.svg"),
        ];
        Assert.All(files, f => Assert.InRange(new FileInfo(f).Length, 1, 5_000_000));
        Assert.Contains($"(results/reference/measurements.{Machine.FileName}.64.svg)", File.ReadAllText(Path.Combine(Root, "README.md")),
            StringComparison.Ordinal);
    }
}
