using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>Scenario `pipelined` over one transport, pair, codec and message: how the calls a second grow with the calls in flight.</summary>
/// <param name="Points">By calls in flight, the fewest first; all have figures.</param>
internal sealed record InFlightCurve(string Transport, string Pair, string Codec, string Workload, IReadOnlyList<CellResult> Points)
{
    /// <summary>How many times as many calls a second as one at a time, of launches of one placement; null where these were not measured.</summary>
    public double? GainOf(int inFlight) => Compared(inFlight) is var (one, many) ? many.OpsPerS / one.OpsPerS : null;

    /// <summary>By the intervals of both: the least and the most that the gain may be.</summary>
    public double[]? GainCiOf(int inFlight) =>
        Compared(inFlight) is ({ OpsPerSCi: [var low, var high] }, { OpsPerSCi: [var from, var to] }) ? [from / high, to / low] : null;

    /// <summary>The gain in words, with the placement it is of.</summary>
    public string GainTextOf(int inFlight) => SamePlacement.Text(GainOf(inFlight), GainCiOf(inFlight), Compared(inFlight)?.One.Placement);

    private (PlacementFigures One, PlacementFigures Many)? Compared(int inFlight) => SamePlacement.Of(At(1), At(inFlight), f => f.OpsPerS);

    /// <summary>Null where so many were not measured.</summary>
    public CellResult? At(int inFlight) => Points.FirstOrDefault(c => InFlightOf(c.Scenario) == inFlight);

    /// <summary>Calls in flight; 0 of every other scenario.</summary>
    public static int InFlightOf(string scenario) => Registry.Scenarios.FirstOrDefault(s => s.Id == scenario)?.InFlight ?? 0;

    /// <summary>The gain that is named first: of as many as the scenario's own name stands for.</summary>
    public static int Headline => Choices.ScenarioEntry("pipelined").InFlight;

    /// <summary>The curves of which there are two points at least.</summary>
    public static IReadOnlyList<InFlightCurve> Of(IEnumerable<CellResult> cells) =>
    [
        .. cells.Where(c => InFlightOf(c.Scenario) > 0 && c is { Status: "ok", OpsPerS: not null, Count: null })
            .GroupBy(c => (c.Transport, c.Pair, c.Codec, c.Workload)).Where(g => g.Count() > 1)
            .Select(g => new InFlightCurve(g.Key.Transport, g.Key.Pair, g.Key.Codec, g.Key.Workload, [.. g.OrderBy(c => InFlightOf(c.Scenario))])),
    ];
}
