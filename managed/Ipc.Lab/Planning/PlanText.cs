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
        yield return $"plan {plan.Preset}: {cells} cells x {plan.Schedule.Launches} launches = {launches} launches, about {Units.Duration(Estimate(plan))}"
            + (skipped > 0 ? $"; {skipped} cells skipped, with reasons in the results" : "");
        yield return $"{plan.Pins.Describe()}; seed {plan.Seed}; results in {folder}";
        if (plan.Debug)
            yield return "DEBUG BUILDS: these figures say nothing about speed";
    }

    private static TimeSpan Estimate(Plan plan)
    {
        var pace = new Pace(plan.Schedule, plan.Runnable().Count());
        var timing = pace.For(0, 0) ?? new LaunchTiming(plan.Schedule.WarmupSeconds, plan.Schedule.Seconds);
        return TimeSpan.FromSeconds(pace.Remaining(timing, 0, plan.Schedule.Launches));
    }
}
