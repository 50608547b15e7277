using Ipc.Lab.Comparing;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;

namespace Ipc.Lab.Commands;

/// <summary>A run whose plan is made and kept and whose programs have introduced themselves.</summary>
internal sealed record PreparedRun(ResultsFolder Folder, KeptPlan Kept, Programs Programs)
{
    // From here on reading takes noticeable time.
    private const long LargeTable = 20_000_000;

    /// <summary>A new run, or two whose launches alternate: this tree's first, then the other's.</summary>
    public static async Task<IReadOnlyList<PreparedRun>> StartAsync(string folder, RunRequest request, string? against, CancellationToken stop)
    {
        if (request.Table is { } table && new FileInfo(table.File) is { Exists: true, Length: > LargeTable and var bytes })
            await Console.Error.WriteLineAsync($"reading a table of {bytes / 1_000_000} MB, as both processes of every launch will; that time is in no figure")
                .ConfigureAwait(false);
        var topology = CpuTopology.Read(SystemFiles.Real);
        var programs = Programs.OfThisTree(request.Peers);
        var plan = Planner.Make(request, topology, DateTimeOffset.UtcNow, programs);
        if (against is null)
            return [await StartOneAsync(new ResultsFolder(folder), plan, programs, request.AllowDebug, stop).ConfigureAwait(false)];
        plan = plan with { Twin = Guid.NewGuid().ToString("N") };
        var (other, basePlan) = PlanOfOther(plan, against, request.AgainstSeconds);
        return
        [
            await StartOneAsync(new ResultsFolder(TwinFolder.New(folder)), plan, programs, request.AllowDebug, stop).ConfigureAwait(false),
            await StartOneAsync(new ResultsFolder(TwinFolder.Base(folder)), basePlan, other, request.AllowDebug, stop).ConfigureAwait(false),
        ];
    }

    /// <summary>An interrupted run, or two whose launches alternate.</summary>
    /// <param name="against">The other tree, for those who name it again; null for the one that the plan names.</param>
    public static async Task<IReadOnlyList<PreparedRun>> ResumeAsync(string folder, string? against, bool allowDebug, CancellationToken stop)
    {
        CheckAgainst(folder, against);
        var runs = new List<PreparedRun>();
        foreach (var half in TwinFolder.Is(folder) ? (string[])[TwinFolder.New(folder), TwinFolder.Base(folder)] : [folder])
            runs.Add(await ResumeOneAsync(new ResultsFolder(half), allowDebug, stop).ConfigureAwait(false));
        return runs;
    }

    private static void CheckAgainst(string folder, string? against)
    {
        if (against is null)
            return;
        if (!TwinFolder.Is(folder))
            throw new UserMistakeException($"the run in '{folder}' does not alternate with another tree; omit --against, or start a new run in another folder");
        if (new ResultsFolder(TwinFolder.Base(folder)).ReadPlan().Plan.Tree is { } tree && tree != Path.GetFullPath(against))
            throw new UserMistakeException(
                $"the run in '{folder}' alternates with '{tree}', not with '{against}'; omit --against, or start a new run in another folder");
    }

    private static (Programs Other, Plan Plan) PlanOfOther(Plan plan, string against, double? seconds)
    {
        var (tree, other) = (new OtherTree(against), Programs.OfTree(against, plan.Peers));
        return (other, plan with
        {
            Tree = Path.GetFullPath(against),
            Schedule = plan.Schedule with { Seconds = seconds ?? plan.Schedule.Seconds },
            Cells = [.. plan.Cells.Select(c => c.SkipReason is not null ? c
                : c with { SkipReason = tree.WhyUnknown(c.Cell, plan.Peers) ?? Planner.WhySkipped(c.Cell, plan.Table, other) })],
        });
    }

    private static async Task<PreparedRun> StartOneAsync(ResultsFolder folder, Plan plan, Programs programs, bool allowDebug, CancellationToken stop)
    {
        var needed = Needed(plan, programs);
        var peers = await IntroduceAsync(plan, programs, stop).ConfigureAwait(false);
        var debug = CheckBuilds(peers, allowDebug);
        var binaries = Programs.Hash(needed);
        var machine = MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real)) with { Peers = peers, Binaries = binaries };
        var kept = new KeptPlan(plan with { Debug = debug, Binaries = binaries }, machine);
        folder.Create(kept);
        return new PreparedRun(folder, kept, programs);
    }

    private static async Task<PreparedRun> ResumeOneAsync(ResultsFolder folder, bool allowDebug, CancellationToken stop)
    {
        var kept = folder.ReadPlan();
        var programs = kept.Plan.Tree is { } tree ? Programs.OfTree(tree, kept.Plan.Peers) : Programs.OfThisTree(kept.Plan.Peers);
        var now = Programs.Hash(Needed(kept.Plan, programs));
        if (!now.SequenceEqual(kept.Plan.Binaries))
        {
            var changed = now.Except(kept.Plan.Binaries).Concat(kept.Plan.Binaries.Except(now)).First().File;
            throw new UserMistakeException(
                $"'{changed}' is not the one the run in '{folder.Path}' was made with; start a new run, or build the old version again");
        }
        var machine = MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real));
        if ((machine.Name, machine.Cpu.Model) != (kept.Machine.Name, kept.Machine.Cpu.Model))
            throw new UserMistakeException(AnotherMachine(folder, kept.Machine, machine));
        CheckBuilds(await IntroduceAsync(kept.Plan, programs, stop).ConfigureAwait(false), allowDebug || kept.Plan.Debug);
        return new PreparedRun(folder, kept, programs);
    }

    private static string AnotherMachine(ResultsFolder folder, MachineRecord kept, MachineRecord here)
    {
        var another = $"the run in '{folder.Path}' was measured on {kept.Name} ({kept.Cpu.Model}), and this machine is {here.Name} ({here.Cpu.Model}): "
            + "start a new run here";
        return here.Cpu.Model == kept.Cpu.Model ? $"{another}, or set IPC_MACHINE={kept.Name} if it is the same one" : another;
    }

    /// <summary>What each side's peer says of itself.</summary>
    private static Task<Dictionary<string, PeerEnvironment>> IntroduceAsync(Plan plan, Programs programs, CancellationToken stop) =>
        Preflight.AskAllAsync([.. SidesOf(plan).Select(side => (side, programs.Peer(side)))], stop);

    // Whether any peer is a debug build, which is refused unless asked for.
    private static bool CheckBuilds(Dictionary<string, PeerEnvironment> peers, bool allowDebug)
    {
        var debug = peers.FirstOrDefault(p => p.Value.Build != "release");
        if (debug.Key is null)
            return false;
        return allowDebug
            ? true
            : throw new UserMistakeException($"the {debug.Key} peer is a {debug.Value.Build ?? "nameless"} build, whose speed says nothing; "
                + "build it in Release, or add --allow-debug to label the results so");
    }

    // The floors are this tree's in any case: one yardstick for both.
    private static List<ProgramFile> Needed(Plan plan, Programs programs) =>
        [.. SidesOf(plan).Select(programs.Peer).Append(Programs.OfThisTree().Floors())];

    private static IEnumerable<string> SidesOf(Plan plan) =>
        plan.Runnable().Select(i => plan.Cells[i].Cell).SelectMany(c => (string[])[c.ServerSide, c.ClientSide]).Distinct();
}
