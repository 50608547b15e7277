using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>One run of a report.</summary>
/// <param name="Folder">The folder's own name, for people.</param>
internal sealed record ReportRun(string Folder, RunResults Results)
{
    /// <summary>Whether it was made to judge claims: there its many launches count first. Elsewhere its few cells would stand beside others that were
    /// measured on another day.</summary>
    public bool IsOfClaims => Results.Run.Preset == Presets.OfClaims;
}

/// <summary>A cell as a report has it.</summary>
/// <param name="Run">Which of the machine's runs measured it.</param>
/// <param name="IsSuperseded">Whether a later run on the same machine measured it again: it is listed, and in no chart or answer.</param>
internal sealed record ReportCell(CellResult Result, int Run, bool IsSuperseded)
{
    /// <summary>Whether it has figures that a chart or an answer may use.</summary>
    public bool IsSound => !IsSuperseded && Result is { Status: "ok", P50Ns: not null };

    public bool IsAlone => Result.Transport == Cell.NoTransport;
}

/// <summary>Everything measured on one machine, by one kind of build, on one system (Wine is another one), on two CPUs or on one, kept awake or not:
/// what may stand on one axis.</summary>
/// <param name="Label">For people: the machine's name, with "Wine", "debug build", "one CPU" or "kept awake" where that holds.</param>
/// <param name="FileName">The label as part of a file name, unique within a report.</param>
/// <param name="Runs">Those of claims, then the others; each the oldest first.</param>
internal sealed record MachineReport(string Label, string FileName, IReadOnlyList<ReportRun> Runs, IReadOnlyList<ReportCell> Cells)
{
    /// <summary>The machine as the latest run found it.</summary>
    public MachineRecord Machine => Runs[^1].Results.Machine;

    /// <summary>Whether the two processes had a processor each, in the state in which the machine usually has them.</summary>
    public bool OnUsualProcessors => Runs[^1].Results.Run.OnUsualProcessors;

    public IEnumerable<ReportCell> Sound => Cells.Where(c => c.IsSound);

    /// <summary>What must be said before any figure.</summary>
    public IEnumerable<string> Banners()
    {
        if (Machine.Wine is { } wine)
            yield return $"{WineVersion.Label(wine)}.";
        if (Runs[^1].Results.Run.Build == "debug")
            yield return "Debug builds: these figures say nothing about speed.";
        foreach (var run in Runs.Where(r => !r.Results.Run.Complete))
            yield return $"Run {run.Folder} is not complete: {run.Results.Run.RoundsDone} of {run.Results.Run.Schedule.Launches} rounds are whole.";
        if (Sound.Any() && Sound.All(c => c.Result.P50Ci is null))
            yield return "Too few launches for intervals (6 are needed): nothing can be told apart, and no winner is named.";
    }

    /// <summary>Runs put together by machine, the machines in the order in which they were named first.</summary>
    public static IReadOnlyList<MachineReport> Of(IEnumerable<ReportRun> runs)
    {
        var machines = new List<MachineReport>();
        foreach (var group in runs.GroupBy(r =>
            (r.Results.Machine.Name, r.Results.Machine.Cpu.Model, r.Results.Machine.Wine, r.Results.Run.Build, r.Results.Run.Pins.AreOne, r.Results.Run.Awake)))
        {
            var label = group.Key.Name
                + (group.Key.Wine is { } wine ? $" ({wine})" : "")
                + (group.Key.Build == "debug" ? " (debug build)" : "")
                + (group.Key.AreOne ? " (one CPU)" : "")
                + (group.Key.Awake ? " (kept awake)" : "");
            var same = machines.Count(m => m.Label == label || m.Label.StartsWith($"{label} #", StringComparison.Ordinal));
            // Two machines of one name, e.g. "localhost".
            if (same > 0)
                label += $" #{same + 1}";
            List<ReportRun> ordered = [.. group.OrderBy(r => !r.IsOfClaims).ThenBy(r => r.Results.Run.Started)];
            machines.Add(new MachineReport(label, FileNameOf(label), ordered, CellsOf(ordered)));
        }
        return machines;
    }

    private static List<ReportCell> CellsOf(List<ReportRun> runs)
    {
        var latest = new Dictionary<Cell, int>();
        for (var run = 0; run < runs.Count; run++)
        {
            // A cell that a stopped run did not come to, or that was only checked, says nothing new.
            foreach (var cell in runs[run].Results.Cells.Where(c => c.Status is not ("pending" or "checked") || !latest.ContainsKey(c.Cell)))
                latest[cell.Cell] = run;
        }
        return [.. runs.SelectMany((run, i) => run.Results.Cells.Select(c => new ReportCell(c, i, latest[c.Cell] != i)))];
    }

    private static string FileNameOf(string label) =>
        string.Join('-', string.Concat(label.Select(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' ? c : ' '))
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)) is { Length: > 0 } name
            ? name : "machine";
}
