using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Raw calls of one size over one transport and pair: with the same data in every call (`call`), which caches hold, and with data of each call's
/// own (`in-order`, `shuffled`), which they do not.</summary>
internal sealed record CacheEffect(CellResult Same, CellResult? InOrder, CellResult? Shuffled)
{
    /// <summary>How many times as long as with the same data, of launches of one placement; null where that was not measured.</summary>
    public double? RatioOf(CellResult? own) => Compared(own) is var (a, b) ? b.P50Ns / a.P50Ns : null;

    /// <summary>By the intervals of both: the least and the most that the ratio may be.</summary>
    public double[]? RatioCiOf(CellResult? own) =>
        Compared(own) is ({ P50Ci: [var low, var high] }, { P50Ci: [var from, var to] }) ? [from / high, to / low] : null;

    /// <summary>The ratio in words.</summary>
    public string TextOf(CellResult? own) => SamePlacement.Text(RatioOf(own), RatioCiOf(own), Compared(own)?.A.Placement);

    private (PlacementFigures A, PlacementFigures B)? Compared(CellResult? own) => SamePlacement.Of(Same, own, f => f.P50Ns);

    /// <summary>What both kinds were measured of, the smallest messages of each transport and pair first.</summary>
    public static IReadOnlyList<CacheEffect> Of(IEnumerable<CellResult> cells) =>
    [
        .. from c in cells
           where c is { Status: "ok", P50Ns: not null, Count: null, Codec: "raw", Scenario: "call" or "in-order" or "shuffled" }
           group c by (c.Transport, c.Pair, c.Workload) into same
           let call = same.FirstOrDefault(c => c.Scenario == "call")
           let effect = call is null ? null : new CacheEffect(call, same.FirstOrDefault(c => c.Scenario == "in-order"),
               same.FirstOrDefault(c => c.Scenario == "shuffled"))
           where (effect?.InOrder ?? effect?.Shuffled) is not null
           orderby Names.RankOf(Registry.Transports.Select(t => t.Id), call.Cell.TransportId), call.Transport, call.Pair, Names.BytesOf(call.Workload)
           select effect,
    ];
}
