using Ipc.Lab.Reporting;

namespace Ipc.Lab.Planning;

/// <summary>A plan in a few lines, said before anything is measured.</summary>
internal static class PlanText
{
    public static IEnumerable<string> Describe(Plan plan, string folder)
    {
        var cells = plan.Runnable().Count();
        var launches = cells * plan.Schedule.Launches;
        var skipped = plan.Cells.Count - cells;
        yield return $"plan {plan.Preset}: {Units.Counted(cells, "cell")} x {Units.Counted(plan.Schedule.Launches, "launch", "launches")} = "
            + $"{Units.Counted(launches, "launch", "launches")}, about {Units.Duration(Estimate(plan))}"
            + $"; each at least {plan.Schedule.WarmupSeconds:0.###} s warm-up and {plan.Schedule.Seconds:0.###} s measured"
            + $"{(plan.Schedule.BudgetSeconds is null ? "" : ", less if time runs short")}"
            + (skipped > 0 ? $"; {Units.Counted(skipped, "cell")} skipped, with reasons in the results" : "");
        yield return $"{plan.Pins.Describe(plan.Awake)}; seed {plan.Seed}; results in {folder}";
        foreach (var transport in plan.Runnable().Select(i => plan.Cells[i].Cell).Where(c => !c.IsAlone).Select(c => c.TransportId).Distinct())
        {
            if (Registry.NoteOf(transport) is { } note)
                yield return $"note on {transport}: {note}";
        }
        if (plan.Schedule.ChecksOnly)
            yield return "only checked: every exchange is, and there will be no figures";
        if (plan.Debug)
            yield return "DEBUG BUILDS: these figures say nothing about speed";
    }

    /// <summary>What another tree adds whose launches are made in turns with the plan's.</summary>
    public static string DescribeTurns(Plan plan, Plan other) =>
        $"every launch is made twice, in turns with the programs of {other.Tree}"
        + (other.Schedule.Seconds != plan.Schedule.Seconds ? $", which are measured for {other.Schedule.Seconds:0.###} s" : "")
        + $": about {Units.Duration(Estimate(plan) + Estimate(other))} in all";

    // What launches took on the machine of docs/experiments.md beyond their warm-up and measurement: floors, starting, settling and ending; and how
    // many are made once more.
    private const double NativeOverheadSeconds = 0.25;
    private const double ManagedOverheadSeconds = 1.0;
    private const double TimesRepeated = 1.25;

    /// <summary>How long the plan will take; as long as its budget, if it would take longer.</summary>
    public static TimeSpan Estimate(Plan plan)
    {
        var seconds = (plan.Schedule.ChecksOnly ? 1 : TimesRepeated) * plan.Schedule.Launches * plan.Runnable().Select(i => plan.Cells[i].Cell)
            .Sum(cell => SecondsOf(cell, plan.Schedule));
        return TimeSpan.FromSeconds(plan.Schedule.BudgetSeconds is { } budget ? Math.Min(budget, seconds) : seconds);
    }

    private static double SecondsOf(Cell cell, Schedule schedule)
    {
        var timing = new LaunchTiming(schedule.WarmupSeconds, schedule.Seconds).For(cell.Load);
        var measured = cell.Count is null ? timing.Seconds : 0;
        var idle = cell.Scene.Idle ? 1 : 0;
        return timing.WarmupSeconds + measured + idle + (cell.Pair == "native:native" ? NativeOverheadSeconds : ManagedOverheadSeconds);
    }
}
