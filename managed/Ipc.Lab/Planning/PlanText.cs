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
            + $"; each at least {plan.Schedule.WarmupSeconds:0.###} s warm-up and {plan.Schedule.Seconds:0.###} s measured{(plan.Schedule.BudgetSeconds is null ? "" : ", less if time runs short")}"
            + (skipped > 0 ? $"; {skipped} cells skipped, with reasons in the results" : "");
        yield return $"{plan.Pins.Describe()}; seed {plan.Seed}; results in {folder}";
        foreach (var transport in plan.Runnable().Select(i => plan.Cells[i].Cell).Where(c => !c.IsAlone).Select(c => c.TransportId).Distinct())
        {
            if (Registry.NoteOf(transport) is { } note)
                yield return $"note on {transport}: {note}";
        }
        if (plan.Debug)
            yield return "DEBUG BUILDS: these figures say nothing about speed";
    }

    private static TimeSpan Estimate(Plan plan)
    {
        var pace = new Pace(plan.Schedule, plan.Runnable().Count());
        var launches = plan.Runnable().Count() * pace.RoundsThatFit(0, 0);
        return TimeSpan.FromSeconds(launches == 0 ? 0 : pace.Remaining(pace.Next(launches, 0), launches));
    }
}
