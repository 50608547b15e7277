using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>One cell's result from its launches.</summary>
internal static class CellResultBuilder
{
    /// <param name="pins">The run's.</param>
    /// <param name="launches">The cell's launches in the order they were made.</param>
    /// <param name="floorOfRound">The floors of each round, for launches that have none of their own around them.</param>
    /// <param name="placements">Those of the whole run.</param>
    /// <param name="readSamples">Reads a kept file of samples.</param>
    public static CellResult Build(
        PlannedCell planned, Pins pins, IReadOnlyList<LaunchRecord> launches, IReadOnlyDictionary<int, FloorFigures> floorOfRound,
        PlacementsBuilder placements, Func<string, uint[]> readSamples)
    {
        if (planned.SkipReason is { } skip)
            return Bare(planned.Cell, "skipped", skip);
        // One failed launch fails the cell: figures of the others would hide it.
        if (launches.FirstOrDefault(l => l.Status == "failed") is { } failed)
            return Bare(planned.Cell, "failed", failed.Reason) with { EachLaunch = [.. launches.Select(LaunchFiguresBuilder.WithoutTimes)] };
        if (launches.Count == 0)
            return Bare(planned.Cell, "pending", "the run stopped before this cell was launched");
        try
        {
            var scene = Choices.ScenarioEntry(planned.Cell.Scenario);
            var floor = FloorOfCell.Of(planned.Cell, pins);
            var all = launches.Select(l => new MeasuredLaunch(
                l, LaunchFiguresBuilder.Build(l, scene, planned.Cell.Load.Bucket, floor, floorOfRound.GetValueOrDefault(l.Round), placements,
                    readSamples(l.Samples!)))).ToList();
            return Measured(planned.Cell, all, scene, floor) with { EachLaunch = [.. all.Select(l => l.Figures)] };
        }
        catch (Exception e) when (e is IOException or InvalidDataException)
        {
            return Bare(planned.Cell, "failed", $"its kept samples cannot be read: {ErrorMessage.Of(e)}");
        }
    }

    private static CellResult Bare(Cell cell, string status, string? reason, Figures? headline = null) => new(headline ?? new Figures())
    {
        Cell = cell,
        Status = status,
        Reason = reason,
        Note = status == "ok" && !cell.IsAlone ? Registry.NoteOf(cell.TransportId) : null,
    };

    private static CellResult Measured(Cell cell, List<MeasuredLaunch> all, ScenarioEntry scene, FloorOfCell? floor)
    {
        var placements = all.Where(l => l.Figures.Status == "ok")
            .GroupBy(l => l.Figures.Placement)
            // Of two as common the faster is the headline, so that the same launches always give the same one.
            .OrderByDescending(g => g.Count()).ThenBy(g => Medians.Of(g.Select(l => l.Figures.LineNs ?? 0)))
            .Select(g => FiguresBuilder.Build(g.Key, [.. g], scene, floor, cell.Overlaps))
            .ToList();
        if (placements.Count == 0)
            return Bare(cell, all[^1].Figures.Status == "checked" ? "checked" : "unsteady", all[^1].Figures.Reason);
        return Bare(cell, "ok", null, placements[0]) with { Placement = placements[0].Placement, Placements = placements };
    }
}

/// <summary>A launch as it was kept, and its figures.</summary>
internal sealed record MeasuredLaunch(LaunchRecord Record, LaunchFigures Figures);
