using Ipc.Lab.Reporting;
using Spectre.Console;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class ConsoleSummaryTests
{
    [Fact]
    public void ACheckNamesWhatFailedAndCountsTheRest()
    {
        var results = new PlausibleResults(31).Machine(cells: 200).Runs[0].Results;
        using var text = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(text)
        });

        ConsoleSummary.WriteChecked(console, results);

        var failed = results.Cells.Count(c => c.Status == "failed");
        Assert.Equal(failed + 1, text.ToString().TrimEnd().Split('\n')
            .Count(l => l.StartsWith("failed ", StringComparison.Ordinal) || l.Contains($"{failed} failed, ", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData(80)]
    [InlineData(200)]
    public void IsOneScreenThatBreaksNoLine(int width)
    {
        using var text = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(text)
        });
        console.Profile.Width = width;

        ConsoleSummary.Write(console, new PlausibleResults(31).Machine(cells: 3000));

        var lines = text.ToString().TrimEnd().Split('\n');
        Assert.InRange(lines.Length, 5, 20);
        Assert.All(lines, line => Assert.True(line.TrimEnd().Length < width, $"{line.Length}: {line}"));
        Assert.Contains("native:", lines[0], StringComparison.Ordinal);
        Assert.Contains(lines, line => line.StartsWith("failed: ", StringComparison.Ordinal));
        if (Environment.GetEnvironmentVariable("IPC_KEEP_REPORTS") is { Length: > 0 } folder)
            File.WriteAllText(Path.Combine(folder, $"console-{width}.txt"), text.ToString());
    }
}
