using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;

namespace Ipc.Lab.Results;

/// <summary>Makes results of what a folder holds. Nothing else decides what results.json says.</summary>
internal static class ResultsBuilder
{
    /// <param name="placements">Those that these launches are labelled by, which others of the same time on the same machine may have helped to find.</param>
    public static RunResults Build(
        ResultsFolder folder, KeptPlan kept, IReadOnlyList<LaunchRecord> launches, IReadOnlyList<FloorRecord> floors, PlacementsBuilder placements,
        DateTimeOffset now)
    {
        var plan = kept.Plan;
        var floorFigures = floors.Select(f => f.Figures).OfType<FloorFigures>().ToList();
        var medianFloors = floorFigures.Count > 0 ? FloorFigures.MedianOf(floorFigures) : null;
        var floorOfRound = floors.Where(f => f.Figures is not null).GroupBy(f => f.Round).ToDictionary(g => g.Key, g => g.Last().Figures!);
        var byCell = launches.ToLookup(l => l.Cell);
        var cells = new CellResult[plan.Cells.Count];
        Parallel.For(0, cells.Length, i =>
            cells[i] = CellResultBuilder.Build(plan.Cells[i], plan.Pins, [.. byCell[i]], floorOfRound, placements, folder.ReadSamples) with
            {
                Wine = kept.Machine.Wine
            });
        var parts = new DecompositionBuilder([.. cells], medianFloors);
        return new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = FactsOf(plan, byCell, now),
            Machine = kept.Machine,
            Floors = medianFloors,
            FloorsReason = floors.LastOrDefault(f => f.Reason is not null)?.Reason,
            Placements = placements.Of(launches),
            Cells = [.. cells.Select(c => c with { Decomposition = parts.Of(c) })],
        };
    }

    private static RunFacts FactsOf(Plan plan, ILookup<int, LaunchRecord> byCell, DateTimeOffset now)
    {
        var roundsDone = Enumerable.Range(0, plan.Schedule.Launches)
            .TakeWhile(round => plan.Runnable().All(cell => IsDone(byCell[cell], round)))
            .Count();
        return new RunFacts(
            plan.Preset, plan.Seed, plan.Pins, plan.Schedule, plan.Debug ? "debug" : "release", plan.Started, now, roundsDone,
            Complete: roundsDone == plan.Schedule.Launches, plan.Twin, plan.Awake);
    }

    /// <summary>Whether a cell needs no launch in a round: it had one, or it has failed before.</summary>
    public static bool IsDone(IEnumerable<LaunchRecord> launchesOfCell, int round) =>
        launchesOfCell.Any(l => l.Round == round || l.Status == "failed");
}
