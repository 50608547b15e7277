using System.CommandLine;
using System.Text.Json;
using Ipc.Lab.Comparing;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Commands;

/// <summary>`ipc compare`: two results, cell by cell, with an exit code for gates.</summary>
internal static class CompareCommand
{
    public static Command Create()
    {
        var first = new Argument<string>("base")
        {
            Description = "a results folder or its results.json; or the folder of one `ipc run --against`, alone",
            HelpName = "BASE"
        };
        var second = new Argument<string?>("new") { Description = "the results to compare with it", HelpName = "NEW", Arity = ArgumentArity.ZeroOrOne };
        var json = Options.Flag("--json", "everything as JSON, with a verdict per cell");
        var markdown = Options.Flag("--markdown", "Markdown for a pull request");
        var all = Options.Flag("--all", "show every cell, not only those that differ");
        var anyway = Options.Flag("--anyway", "compare even if machines or settings differ; the output names the differences");
        var tolerate = Options.Number<double>("--tolerate", "percent by which a cell may be slower without the exit code becoming 1; 0 when omitted",
            "PERCENT");
        var command = new Command("compare", "Compares two runs: ratios with intervals; exits with 1 if anything became slower or has begun to fail.")
        {
            first, second, json, markdown, all, anyway, tolerate,
        };
        command.SetAction(parsed =>
        {
            if (parsed.GetValue(tolerate) is { } percent && !(percent is >= 0 and <= 1000))
                throw new UserMistakeException("--tolerate is not between 0 and 1000 percent");
            var comparison = Compare(parsed.GetValue(first)!, parsed.GetValue(second), parsed.GetValue(anyway));
            if (parsed.GetValue(json))
                Console.Out.WriteLine(JsonSerializer.Serialize(comparison, LabJson.Indented));
            else if (parsed.GetValue(markdown))
                ComparisonText.WriteMarkdown(Console.Out, comparison);
            else
                ComparisonText.WriteLines(Console.Out, comparison, parsed.GetValue(all));
            return ExitCodeOf(comparison, parsed.GetValue(tolerate) ?? 0);
        });
        return command;
    }

    /// <summary>The comparison of two results, or of the two halves of one interleaved run.</summary>
    public static Comparison Compare(string first, string? second, bool anyway)
    {
        if (second is null)
        {
            if (!TwinFolder.Is(first))
                throw new UserMistakeException(
                    $"'{first}' holds no interleaved run (`ipc run --against`), so a second folder must be named: ipc compare BASE NEW");
            (first, second) = (TwinFolder.Base(first), TwinFolder.New(first));
        }
        var (a, b) = (ResultsReader.Read(first), ResultsReader.Read(second));
        var unlike = Contract.Differences(a, b);
        // What differs between launches made in turns was asked for, and is printed.
        if (unlike.Count > 0 && !anyway && !TwinFolder.AreTwins(a, b))
            throw new UserMistakeException($"these results cannot be compared: {string.Join("; ", unlike)}; measure both alike, or add --anyway");
        return new Comparer(a, b, TwinFolder.AreTwins(a, b)).Compare(Facts(first, a), Facts(second, b));
    }

    /// <summary>For gates: whether anything became slower by more than is tolerated, fails only now, or nothing could be compared at all.</summary>
    public static int ExitCodeOf(Comparison comparison, double toleratedPercent) =>
        comparison.Summary.NewlyFailed > 0
        || comparison.Summary.NotCompared == comparison.Cells.Count
        || comparison.Transports.Any(t => t.Verdict == CellVerdict.Slower && t.Ratio > 1 + (toleratedPercent / 100))
        || comparison.Cells.Any(c => c.Verdict == CellVerdict.Slower && c.Ratio > 1 + (toleratedPercent / 100))
            ? ExitCodes.Failed : ExitCodes.Success;

    private static ComparedRun Facts(string path, RunResults results) => new(
        path, results.Machine.Name, results.Run.Preset, results.Run.Written, results.Run.Complete, results.Run.RoundsDone);
}
