using System.Security.Cryptography;
using Ipc.Lab.Machine;
using Ipc.Lab.Running;

namespace Ipc.Lab.Planning;

/// <summary>Makes a plan of a request; every mistake in the request is refused here, before anything is started.</summary>
internal static class Planner
{
    /// <param name="programs">Those that will play; this tree's if null.</param>
    public static Plan Make(RunRequest request, CpuTopology topology, DateTimeOffset now, Programs? programs = null)
    {
        programs ??= Programs.OfThisTree(request.Peers);
        CheckNumbers(request);
        var cells = CellSelection.Select(request);
        var table = request.Table is { } asked ? TableFile.Check(asked) : null;
        var pins = Pins.Choose(request.Pin, topology);
        // Only to be refused now rather than when the folder is made; it is held while the run lasts.
        if (request.Awake)
            AwakeProcessors.Hold().Dispose();
        return new Plan
        {
            Schema = Plan.CurrentSchema,
            Preset = request.Claims.Count > 0 ? Presets.OfClaims : request.Preset ?? (request.PicksCells ? "chosen" : "quick"),
            Claims = request.Claims,
            Seed = request.Seed ?? RandomNumberGenerator.GetInt32(1, int.MaxValue),
            Schedule = ScheduleOf(request),
            Pins = pins,
            Awake = request.Awake,
            Debug = false,
            Started = now,
            Table = table,
            Peers = request.Peers,
            Binaries = [],
            Cells = [.. cells.Select(cell => new PlannedCell(cell, WhySkipped(cell, table, programs) ?? WhyUnpinned(cell, pins)))],
        };
    }

    private static void CheckNumbers(RunRequest request)
    {
        if (request.Launches is < 1 or > 1000)
            throw new UserMistakeException($"--launches {request.Launches} is not between 1 and 1000");
        LaunchTiming.Check("--seconds", request.Seconds);
        LaunchTiming.Check("--warmup", request.WarmupSeconds);
        LaunchTiming.Check("--against-seconds", request.AgainstSeconds);
        if (request.Seed is < 0)
            throw new UserMistakeException($"--seed {request.Seed} is negative; give a number from 0 on");
    }

    private static Schedule ScheduleOf(RunRequest request)
    {
        var schedule = request.Check ? Presets.CheckedCells
            : request.Claims.Count > 0 ? Presets.CellsOfClaims
            : request.Preset is not null || !request.PicksCells
            ? Presets.Get(request.Preset ?? "quick").Schedule
            : Presets.ChosenCells;
        // Whoever states launches or times wants exactly these, not what fits a budget.
        var stated = request.Launches is not null || (request.Seconds ?? request.WarmupSeconds ?? request.AgainstSeconds) is not null;
        return schedule with
        {
            Launches = request.Launches ?? schedule.Launches,
            WarmupSeconds = request.WarmupSeconds ?? schedule.WarmupSeconds,
            Seconds = request.Seconds ?? schedule.Seconds,
            BudgetSeconds = stated ? null : schedule.BudgetSeconds,
        };
    }

    private static string? WhyUnpinned(Cell cell, Pins pins) =>
        cell.Scene.OneCpu && pins.Server is null ? $"scenario '{cell.Scenario}' pins both processes to one CPU, and `--pin none` pins none" : null;

    /// <summary>Why a cell cannot be played by these programs here, or null if it can.</summary>
    public static string? WhySkipped(Cell cell, TableEntry? table, Programs programs)
    {
        if (cell.IsAlone)
            return programs.WhyCannotPlay(cell.ClientSide);
        if (Choices.ScenarioEntry(cell.Scenario).Platforms is { } platforms && !platforms.Contains(Registry.Platform))
            return $"scenario '{cell.Scenario}' is played on {string.Join(" and ", platforms)}, not on {Registry.Platform}";
        foreach (var side in (string[])[cell.ServerSide, cell.ClientSide])
        {
            // What a foreign peer speaks it says itself, by failing.
            if (Registry.WhyNotAvailable(cell.TransportId, programs.IsForeign(side) ? "native" : side) is { Length: > 0 } why)
                return why;
            if (!programs.IsForeign(side) && Choices.SideEntry(side)?.Scenarios is { } played && !played.Contains(cell.Scenario))
                return $"side '{side}' plays {string.Join(", ", played)}: for all others see side '{Choices.SideEntry(side)!.Of}'";
            if (programs.WhyCannotPlay(side) is { } cannot)
                return cannot;
        }
        if (Registry.WhyRefused(IpcAddress.Parse(TransportSpec.ToAddress(cell.Transport, "check"))) is { } refused)
            return refused;
        if (Registry.Transport(cell.TransportId).MostInFlight?.TryGetValue(Registry.Platform, out var most) == true && cell.Scene.InFlight > most)
            return $"transport '{cell.TransportId}' may have no room for {cell.Scene.InFlight} calls in flight, and a client that waits for room "
                + $"there takes in no replies: up to {most} are measured";
        if (Modules.WhyMissing(Registry.Transport(cell.TransportId), programs.LibraryFolder()) is { } missing)
            return missing;
        return table is null && Choices.WorkloadEntry(cell.Workload).Table is { } usual ? TableFile.WhyUnreadable(usual) : null;
    }
}
