using System.Diagnostics;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Xunit;
using Xunit.Abstractions;

namespace Ipc.Lab.Tests.Reporting;

public sealed class ReportFilesTests(ITestOutputHelper output)
{
    [Fact]
    public void FiveThousandCellsOfTwoMachinesAndWineAreAReport()
    {
        using var kept = new KeptFolder("thousands");
        var runs = new[]
        {
            new ReportRun("big", new PlausibleResults(1).Run("big", 5000)),
            new ReportRun("small", new PlausibleResults(2).Run("small", 300)),
            new ReportRun("wine", new PlausibleResults(3).Run("big", 300, "Wine 8.0")),
        };
        Assert.Equal(5000, runs[0].Results.Cells.Count);

        var clock = Stopwatch.StartNew();
        var files = ReportFiles.Write(kept.Path, MachineReport.Of(runs));

        output.WriteLine($"written in {clock.Elapsed.TotalSeconds:0.0} s");
        Assert.Contains(files, f => f.EndsWith("measurements.big.htm", StringComparison.Ordinal));
        Assert.Contains(files, f => f.EndsWith("measurements.big-Wine-8.0.htm", StringComparison.Ordinal));
        Assert.Contains(files, f => Path.GetFileName(f) == "measurements.xlsx");
        var chart = System.Xml.Linq.XDocument.Load(files.First(f => f.EndsWith(".svg", StringComparison.Ordinal)));
        Assert.NotEmpty(chart.Descendants("{http://www.w3.org/2000/svg}circle"));
        var markdown = File.ReadAllText(files.First(f => f.EndsWith("measurements.small.md", StringComparison.Ordinal)));
        Assert.Contains("## Server : client = C++ : C#", markdown, StringComparison.Ordinal);
        Assert.Contains("![", markdown, StringComparison.Ordinal);
        Assert.All(files, f => Assert.InRange(new FileInfo(f).Length, 1, 5_000_000));
    }
}

/// <summary>A folder for a report: gone with the test, or kept below the folder that IPC_KEEP_REPORTS names, for people who want to look.</summary>
internal sealed class KeptFolder : IDisposable
{
    private readonly bool _isKept;

    public KeptFolder(string name)
    {
        var keep = Environment.GetEnvironmentVariable("IPC_KEEP_REPORTS");
        _isKept = !string.IsNullOrEmpty(keep);
        Path = _isKept ? Directory.CreateDirectory(System.IO.Path.Combine(keep!, name)).FullName : Directory.CreateTempSubdirectory("ipc-report-").FullName;
    }

    public string Path { get; }

    public void Dispose()
    {
        if (!_isKept)
            Directory.Delete(Path, recursive: true);
    }
}
