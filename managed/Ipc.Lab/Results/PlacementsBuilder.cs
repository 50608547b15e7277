using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>The placements that a run's launches show, and the label of each launch.</summary>
internal sealed class PlacementsBuilder
{
    private readonly IReadOnlyList<double> _bounds;
    private readonly IReadOnlyList<string> _labels;

    /// <param name="launches">All that gave figures.</param>
    public PlacementsBuilder(IEnumerable<LaunchRecord> launches)
    {
        _bounds = LineClusters.Bounds(launches.Where(l => l.LinesAroundNs is not null).SelectMany(l => l.LinesAroundNs!));
        _labels = _bounds.Count switch { 0 => ["single"], 1 => ["near", "far"], _ => ["near", "middle", "far"] };
    }

    /// <summary>Which of them these launches show, nearest first.</summary>
    public IReadOnlyList<PlacementFacts> Of(IEnumerable<LaunchRecord> launches) =>
    [
        .. launches.Where(l => LabelOf(l) is not null).GroupBy(l => LabelOf(l)!)
            .Select(g => new PlacementFacts(g.Key, Medians.Of(g.Select(l => l.LineNs!.Value))!.Value, g.Min(l => l.LineNs!.Value),
                g.Max(l => l.LineNs!.Value), g.Count()))
            .OrderBy(p => p.LineNs),
    ];

    /// <summary>Null where its line time was not measured, or was of two kinds before and after.</summary>
    public string? LabelOf(LaunchRecord launch) => launch.LinesAroundNs is [var before, _] && !Moved(launch) ? _labels[GroupOf(before)] : null;

    /// <summary>Whether the processors were nearer before than after, or the reverse.</summary>
    public bool Moved(LaunchRecord launch) => launch.LinesAroundNs is [var before, var after] && GroupOf(before) != GroupOf(after);

    private int GroupOf(double lineNs) => _bounds.Count(bound => lineNs > bound);
}
