using System.Globalization;
using System.Text.Json;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Ipc.Lab.Running;

namespace Ipc.Lab.Commands;

/// <summary>What `ipc run` does: plan, check the machine and the programs, measure, report.</summary>
internal static class RunAction
{
    // From here on reading takes noticeable time.
    private const long LargeTable = 20_000_000;

    private static readonly TimeSpan s_floorsBound = TimeSpan.FromMinutes(5);

    public static async Task<int> RunAsync(RunRequest request, RunDestination destination)
    {
        using var interruption = new Interruption();
        var programs = Programs.OfThisTree();
        var folder = new ResultsFolder(destination.Folder ?? DefaultFolder());
        KeptPlan kept;
        try
        {
            kept = destination.Resume
                ? await ResumeAsync(folder, programs, request.AllowDebug, interruption.Stop).ConfigureAwait(false)
                : await StartAsync(folder, request, programs, interruption.Stop).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await Console.Error.WriteLineAsync("stopped before anything was measured").ConfigureAwait(false);
            return ExitCodes.Interrupted;
        }
        return await MeasureAsync(folder, kept, programs, destination.Json, interruption.Stop).ConfigureAwait(false);
    }

    private static async Task<KeptPlan> StartAsync(ResultsFolder folder, RunRequest request, Programs programs, CancellationToken stop)
    {
        if (request.Table is { } table && new FileInfo(table.File) is { Exists: true, Length: > LargeTable and var bytes })
            await Console.Error.WriteLineAsync($"reading a table of {bytes / 1_000_000} MB, as both processes of every launch will; that time is in no figure").ConfigureAwait(false);
        var topology = CpuTopology.Read(SystemFiles.Real);
        var plan = Planner.Make(request, topology, DateTimeOffset.UtcNow);
        var needed = NeededPrograms(plan, programs);
        var peers = await IntroduceAsync(plan, programs, stop).ConfigureAwait(false);
        var debug = CheckBuilds(peers, request.AllowDebug);
        var binaries = Programs.Hash(needed);
        var machine = MachineReader.Read(SystemFiles.Real, topology) with { Peers = peers, Binaries = binaries };
        var kept = new KeptPlan(plan with { Debug = debug, Binaries = binaries }, machine);
        folder.Create(kept);
        return kept;
    }

    private static async Task<KeptPlan> ResumeAsync(ResultsFolder folder, Programs programs, bool allowDebug, CancellationToken stop)
    {
        var kept = folder.ReadPlan();
        var now = Programs.Hash(NeededPrograms(kept.Plan, programs));
        if (!now.SequenceEqual(kept.Plan.Binaries))
        {
            var changed = now.Except(kept.Plan.Binaries).Concat(kept.Plan.Binaries.Except(now)).First().File;
            throw new UserMistakeException($"'{changed}' is not the one the run in '{folder.Path}' was made with; start a new run, or build the old version again");
        }
        var machine = MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real));
        if ((machine.Name, machine.Cpu.Model) != (kept.Machine.Name, kept.Machine.Cpu.Model))
            throw new UserMistakeException($"the run in '{folder.Path}' was measured on {kept.Machine.Name} ({kept.Machine.Cpu.Model}), not on this machine; start a new run here");
        CheckBuilds(await IntroduceAsync(kept.Plan, programs, stop).ConfigureAwait(false), allowDebug || kept.Plan.Debug);
        return kept;
    }

    private static async Task<int> MeasureAsync(ResultsFolder folder, KeptPlan kept, Programs programs, bool json, CancellationToken stop)
    {
        using var alone = folder.Lock();
        var progress = ProgressReport.ForThisConsole();
        var session = new RunSession(
            folder, kept, new Launcher(programs, LaunchBounds.Usual), new FloorsProgram(programs.Floors(), s_floorsBound), progress);
        foreach (var line in PlanText.Describe(kept.Plan, folder.Path))
            progress.Note(line);
        using var daemon = StartDaemon(kept.Plan, progress);
        var finished = await session.RunAsync(stop).ConfigureAwait(false);
        progress.Finish();
        var results = session.WriteResults();
        AtomicFile.Write(folder.MarkdownFile, MarkdownReport.Write(results));
        Show(results, json);
        await Console.Error.WriteLineAsync($"results: {folder.ResultsFile} and {folder.MarkdownFile}").ConfigureAwait(false);
        if (!finished)
        {
            await Console.Error.WriteLineAsync($"stopped; go on with: ipc run --resume '{folder.Path}'").ConfigureAwait(false);
            return ExitCodes.Interrupted;
        }
        if (results.Cells.All(c => c.Status == "skipped"))
            await Console.Error.WriteLineAsync($"nothing was measured: {(results.Cells.Count == 1 ? "the only cell was skipped" : $"all {results.Cells.Count} cells were skipped")}: {results.Cells[0].Reason}").ConfigureAwait(false);
        return HasFailed(results) ? ExitCodes.Failed : ExitCodes.Success;
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

    private static void Show(RunResults results, bool json)
    {
        if (json)
            Console.Out.WriteLine(JsonSerializer.Serialize(results, LabJson.Indented));
        else if (Console.IsOutputRedirected)
            ConsoleReport.WriteLines(Console.Out, results);
        else
            ConsoleReport.WriteTables(Terminal.Output, results);
        if (!json && results.Run.Preset == "seed")
            PublishedTable.Write(Terminal.Output, results.Cells);
    }

    /// <summary>What each side's peer says of itself.</summary>
    private static async Task<Dictionary<string, PeerEnvironment>> IntroduceAsync(Plan plan, Programs programs, CancellationToken stop)
    {
        var peers = new Dictionary<string, PeerEnvironment>();
        foreach (var side in SidesOf(plan))
        {
            if (await Preflight.AskAsync(programs.Peer(side), side, stop).ConfigureAwait(false) is { } environment)
                peers[side] = environment;
        }
        return peers;
    }

    // Whether any peer is a debug build, which is refused unless asked for.
    private static bool CheckBuilds(Dictionary<string, PeerEnvironment> peers, bool allowDebug)
    {
        var debug = peers.FirstOrDefault(p => p.Value.Build != "release");
        if (debug.Key is null)
            return false;
        return allowDebug
            ? true
            : throw new UserMistakeException($"the {debug.Key} peer is a {debug.Value.Build ?? "nameless"} build, whose speed says nothing; build it in Release, or add --allow-debug to label the results so");
    }

    private static List<ProgramFile> NeededPrograms(Plan plan, Programs programs) =>
        [.. SidesOf(plan).Select(programs.Peer).Append(programs.Floors()).DistinctBy(p => p.Path)];

    private static IEnumerable<string> SidesOf(Plan plan) =>
        plan.Runnable().Select(i => plan.Cells[i].Cell).SelectMany(c => (string[])[c.ServerSide, c.ClientSide]).Distinct();

    private static string DefaultFolder() =>
        Path.Combine("results", DateTime.Now.ToString("yyyyMMdd-HHmmss", CultureInfo.InvariantCulture));
}
