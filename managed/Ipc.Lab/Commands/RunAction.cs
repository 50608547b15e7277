using System.Globalization;
using System.Text.Json;
using Ipc.Lab.Comparing;
using Ipc.Lab.Findings;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Ipc.Lab.Running;

namespace Ipc.Lab.Commands;

/// <summary>What `ipc run` does: plan, check the machine and the programs, measure, report.</summary>
internal static class RunAction
{
    private static readonly TimeSpan s_floorsBound = TimeSpan.FromMinutes(5);

    public static async Task<int> RunAsync(RunRequest request, RunDestination destination)
    {
        using var interruption = new Interruption();
        var folder = Path.GetFullPath(destination.Folder ?? DefaultFolder());
        IReadOnlyList<PreparedRun> runs;
        try
        {
            runs = destination.Resume
                ? await PreparedRun.ResumeAsync(folder, destination.Against, request.AllowDebug, interruption.Stop).ConfigureAwait(false)
                : await PreparedRun.StartAsync(folder, request, destination.Against, interruption.Stop).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await Console.Error.WriteLineAsync("stopped before anything was measured").ConfigureAwait(false);
            return ExitCodes.Interrupted;
        }
        IEnumerable<string> leftOut = destination.Resume ? [] : CellSelection.LeftOut(request, [.. runs[0].Kept.Plan.Cells.Select(c => c.Cell)]);
        return await MeasureAsync(folder, runs[0], runs.Count > 1 ? runs[1] : null, leftOut, destination, interruption.Stop).ConfigureAwait(false);
    }

    private static async Task<int> MeasureAsync(
        string folder, PreparedRun run, PreparedRun? other, IEnumerable<string> leftOut, RunDestination destination, CancellationToken stop)
    {
        using var alone = run.Folder.Lock();
        using var otherAlone = other?.Folder.Lock();
        var progress = ProgressReport.ForThisConsole();
        var twin = other is null ? null : SessionOf(other, null, progress);
        var session = SessionOf(run, twin, progress);
        foreach (var line in PlanText.Describe(run.Kept.Plan, folder).Concat(leftOut))
            progress.Note(line);
        if (other is not null)
            progress.Note(PlanText.DescribeTurns(run.Kept.Plan, other.Kept.Plan));
        using var awake = run.Kept.Plan.Awake ? AwakeProcessors.Hold() : null;
        using var daemon = StartDaemon(run.Kept.Plan, progress);
        var finished = false;
        UserMistakeException? mistake = null; // a program is gone, say, because it is being built anew
        try
        {
            finished = await session.RunAsync(stop).ConfigureAwait(false);
        }
        catch (UserMistakeException e)
        {
            mistake = e;
        }
        progress.Finish();
        var results = session.WriteResults();
        var otherResults = twin?.WriteResults();
        if (mistake is not null)
            throw new UserMistakeException($"{mistake.Message}; what was measured is kept, go on with: ipc run --resume '{folder}'");
        var machine = Report(run, results);
        if (other is null)
        {
            Show(results, machine, destination);
            if (run.Kept.Plan.Claims is { Count: > 0 } claims && !destination.Json && !results.Run.Schedule.ChecksOnly)
                FindingsConsole.Write(Console.Out, FindingsOf.Machine(machine, [machine], [.. claims.Select(PublishedClaims.WithCells)]));
        }
        else
            ShowComparison(folder, destination.Json);
        await Console.Error.WriteLineAsync(other is null ? $"results: {run.Folder.ResultsFile} and {run.Folder.MarkdownFile}"
            : $"results: {run.Folder.ResultsFile} and {other.Folder.ResultsFile}; again by: ipc compare '{folder}'").ConfigureAwait(false);
        // Without figures there is nothing to draw.
        if (!results.Run.Schedule.ChecksOnly)
            await WriteReportAsync(run.Folder, machine).ConfigureAwait(false);
        if (other is not null)
            await WriteReportAsync(other.Folder, Report(other, otherResults!)).ConfigureAwait(false);
        if (!finished)
        {
            await Console.Error.WriteLineAsync($"stopped; go on with: ipc run --resume '{folder}'").ConfigureAwait(false);
            return ExitCodes.Interrupted;
        }
        if (results.Cells.All(c => c.Status == "skipped"))
            await Console.Error.WriteLineAsync(
                $"nothing was measured: {(results.Cells.Count == 1 ? "the only cell was skipped" : $"all {results.Cells.Count} cells were skipped")}: "
                + $"{results.Cells[0].Reason}").ConfigureAwait(false);
        return HasFailed(results) || (otherResults is not null && HasFailed(otherResults)) ? ExitCodes.Failed : ExitCodes.Success;
    }

    // Markdown beside the results, and what the page and the workbook are made of.
    private static MachineReport Report(PreparedRun run, RunResults results)
    {
        AtomicFile.Write(run.Folder.MarkdownFile, MarkdownReport.Write(results));
        return MachineReport.Of([new ReportRun(Path.GetFileName(run.Folder.Path), results)]).Single();
    }

    // The floors are this tree's in any case: one yardstick for both.
    private static RunSession SessionOf(PreparedRun run, RunSession? twin, ProgressReport progress) => new(
        run.Folder, run.Kept, new Launcher(run.Programs, LaunchBounds.Usual), new FloorsProgram(Programs.OfThisTree().Floors(), s_floorsBound), progress)
    {
        Twin = twin,
    };

    private static void ShowComparison(string folder, bool json)
    {
        var comparison = CompareCommand.Compare(folder, null, anyway: false);
        if (json)
            Console.Out.WriteLine(JsonSerializer.Serialize(comparison, LabJson.Indented));
        else
            ComparisonText.WriteLines(Console.Out, comparison, all: false);
    }

    // A script that asked for figures and got none is told so: a run of nothing but skipped cells has not succeeded.
    private static bool HasFailed(RunResults results) =>
        results.FloorsReason is not null || results.Cells.Any(c => c.Status == "failed") || results.Cells.All(c => c.Status == "skipped");

    // What transports need beside their peers, for as long as the run. Without it their cells fail, each with its reason.
    private static RouDi? StartDaemon(Plan plan, ProgressReport progress)
    {
        if (!Modules.Needs(plan, RouDi.Program))
            return null;
        try
        {
            var daemon = RouDi.Start();
            progress.Note(daemon.IsOurs ? $"{RouDi.Program} runs until the end of this run" : $"the {RouDi.Program} that runs already is used");
            return daemon;
        }
        catch (InvalidOperationException e)
        {
            progress.Note(e.Message);
            return null;
        }
    }

    // Last, because it is what one looks at next. The results are kept whatever becomes of it.
    private static async Task WriteReportAsync(ResultsFolder folder, MachineReport machine)
    {
        try
        {
            await Console.Error.WriteLineAsync($"report: {string.Join(" and ", ReportFiles.Write(folder.Path, [machine], withMarkdown: false))}")
                .ConfigureAwait(false);
        }
        catch (UserMistakeException problem)
        {
            await Console.Error.WriteLineAsync(problem.Message).ConfigureAwait(false);
        }
    }

    private static void Show(RunResults results, MachineReport machine, RunDestination destination)
    {
        if (destination.Json)
            Console.Out.WriteLine(JsonSerializer.Serialize(results, LabJson.Indented));
        else if (Console.IsOutputRedirected)
            ConsoleReport.WriteLines(Console.Out, results);
        else if (destination.All)
            ConsoleReport.WriteTables(Terminal.Output, results);
        else if (results.Run.Schedule.ChecksOnly)
            ConsoleSummary.WriteChecked(Terminal.Output, results);
        else
            ConsoleSummary.Write(Terminal.Output, machine);
        if (!destination.Json && results.Run.Preset == "seed" && (destination.All || Console.IsOutputRedirected))
            PublishedTable.Write(Terminal.Output, results.Cells);
    }

    private static string DefaultFolder() =>
        Path.Combine("results", DateTime.Now.ToString("yyyyMMdd-HHmmss", CultureInfo.InvariantCulture));
}
