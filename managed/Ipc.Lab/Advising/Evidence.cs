using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;

namespace Ipc.Lab.Advising;

/// <summary>Earlier results of this machine that answer a need.</summary>
internal static class Evidence
{
    private const int MostRuns = 20;

    /// <summary>The candidates' cells of the newest run that has them all, of this machine and with an interval: at the sizes asked for, or else at the
    /// nearest of the registry. Null if there is no such run.</summary>
    /// <param name="runs">Of <see cref="RunsIn"/>.</param>
    /// <param name="from">The folder that the user named; if it is of a run by itself, its results must be readable. Of many runs those that cannot be
    /// read are passed over.</param>
    /// <remarks>Of one run only: two runs differ by what the machine did between them.</remarks>
    public static Measured? Find(IEnumerable<string> runs, string? from, Need need, IReadOnlyList<Candidate> candidates, MachineRecord machine, Pins pins)
    {
        var (own, nearest) = (need.OwnWorkload.Id, need.Workload.Id);
        Measured? atNearest = null;
        foreach (var run in runs.Take(MostRuns))
        {
            var results = run == from ? ResultsReader.Read(run) : TryRead(run);
            if (results is null || results.Run is not { Build: "release", Awake: false } || results.Run.Pins.ToString() != pins.ToString()
                || (results.Machine.Name, results.Machine.Cpu.Model, results.Machine.Kernel, results.Machine.Wine) != (machine.Name, machine.Cpu.Model,
                    machine.Kernel, machine.Wine))
                continue;
            if (CellsOf(results, need, own, candidates) is { } cells)
                return new(run, results, cells);
            if (atNearest is null && CellsOf(results, need, nearest, candidates) is { } near)
                atNearest = new(run, results, near);
        }
        return atNearest;
    }

    /// <summary>A run's folder, its results, and those of its cells that the answer is made of.</summary>
    internal sealed record Measured(string Folder, RunResults Results, IReadOnlyList<CellResult> Cells)
    {
        /// <summary>Whether the programs of these sides are here, and others than those that were measured.</summary>
        public bool IsOfOtherBuilds(Need need, Programs programs)
        {
            try
            {
                return Programs.Hash([programs.Peer(need.Server), programs.Peer(need.Client)]).Except(Results.Machine.Binaries).Any();
            }
            catch (UserMistakeException)
            {
                return false; // they are not built here
            }
        }
    }

    private static List<CellResult>? CellsOf(RunResults results, Need need, string workload, IReadOnlyList<Candidate> candidates)
    {
        var cells = results.Cells.Where(c =>
            c is { Status: "ok", P50Ci: not null, Codec: "raw", Count: null } && c.Pair == need.Pair && c.Scenario == need.Scenario
            && c.Workload == workload && candidates.Any(x => x.Spec == c.Transport)).ToList();
        return cells.Count == candidates.Count ? cells : null;
    }

    /// <summary>The folders of runs, the latest first.</summary>
    /// <param name="from">The folder of a run, or one that holds runs; null: ./results.</param>
    /// <exception cref="UserMistakeException">There is no such folder.</exception>
    public static IEnumerable<string> RunsIn(string? from)
    {
        var folder = from ?? "results";
        if (ResultsReader.HasResults(folder))
            return [folder];
        if (Directory.Exists(folder))
            return Directory.EnumerateDirectories(folder).Where(ResultsReader.HasResults).OrderByDescending(ResultsReader.WrittenUtc);
        return from is null ? [] : throw new UserMistakeException($"--from '{from}' is no folder; name that of a run, or one that holds runs");
    }

    private static RunResults? TryRead(string folder)
    {
        try
        {
            return ResultsReader.Read(folder);
        }
        catch (UserMistakeException)
        {
            return null; // of another version
        }
    }
}
