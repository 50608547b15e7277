using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Advising;

/// <summary>Earlier results of this machine that answer a need.</summary>
internal static class Evidence
{
    private const int MostRuns = 20;

    /// <summary>The candidates' cells with this workload of the newest run that has them all, of this machine and with an interval; its folder, or
    /// null.</summary>
    /// <remarks>Of one run only: two runs differ by what the machine did between them.</remarks>
    public static (string? Folder, IReadOnlyList<CellResult> Cells) Find(string folder, Need need, WorkloadEntry workload, IReadOnlyList<Candidate> candidates,
        MachineRecord machine, Pins pins)
    {
        foreach (var run in RunsIn(folder).Take(MostRuns))
        {
            if (TryRead(run) is not { } results || results.Run is not { Build: "release", Awake: false } || results.Run.Pins.ToString() != pins.ToString()
                || (results.Machine.Name, results.Machine.Cpu.Model, results.Machine.Kernel, results.Machine.Wine) != (machine.Name, machine.Cpu.Model,
                    machine.Kernel, machine.Wine))
                continue;
            var cells = results.Cells.Where(c =>
                c is { Status: "ok", P50Ci: not null, Codec: "raw", Count: null } && c.Pair == need.Pair && c.Scenario == need.Scenario
                && c.Workload == workload.Id && candidates.Any(x => x.Spec == c.Transport)).ToList();
            if (cells.Count == candidates.Count)
                return (run, cells);
        }
        return (null, []);
    }

    private static IEnumerable<string> RunsIn(string folder) =>
        ResultsReader.HasResults(folder) ? [folder]
        : Directory.Exists(folder) ? Directory.EnumerateDirectories(folder).Where(ResultsReader.HasResults).OrderByDescending(ResultsReader.WrittenUtc)
        : [];

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
