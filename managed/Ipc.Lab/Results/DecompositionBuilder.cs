namespace Ipc.Lab.Results;

/// <summary>Where a call's p50 goes, put together from what the same run measured apart: the codecs alone (scenario `serialize`), the same call with bytes in place of
/// objects (codec raw), and the floors. What these do not add up to is shown as such.</summary>
internal sealed class DecompositionBuilder(IReadOnlyList<CellResult> cells, FloorFigures? floors)
{
    private readonly ILookup<(string Transport, string Pair, string Workload), CellResult> _raw = cells
        .Where(c => c is { Status: "ok", Scenario: "call", Codec: "raw", Count: null, P50Ns: not null }).ToLookup(c => (c.Transport, c.Pair, c.Workload));

    private readonly ILookup<(string Side, string Codec, string Workload), CellResult> _codecs = cells
        .Where(c => c is { Status: "ok", Scenario: "serialize", Phases: not null }).ToLookup(c => (c.Cell.ClientSide, c.Codec, c.Workload));

    /// <summary>Null where a part was not measured, or not in the cell's placement.</summary>
    public Decomposition? Of(CellResult cell)
    {
        if (cell is not { Status: "ok", Scenario: "call", Count: null, P50Ns: { } p50, Floor: { } floor })
            return null;
        var steps = cell.Codec == "raw" ? StepsOfBytes(cell, floor, cell.FloorNs, "the floor of this transport") : StepsOfObjects(cell, floor);
        if (steps is null)
            return null;
        DecompositionStep[] rounded = [.. steps.Select(s => s with { Ns = Math.Round(s.Ns, 1) })];
        return new Decomposition(rounded, p50, Math.Round(p50 - rounded.Sum(s => s.Ns), 1));
    }

    private List<DecompositionStep>? StepsOfObjects(CellResult cell, string floor)
    {
        var raw = _raw[(cell.Transport, cell.Pair, cell.Workload)].FirstOrDefault(c => c.Placement == cell.Placement);
        if (PhasesOf(cell.Cell.ServerSide, cell) is not { } server || PhasesOf(cell.Cell.ClientSide, cell) is not { } client
            || raw is null || StepsOfBytes(cell, floor, raw.P50Ns, "a raw call of this size") is not { } bytes)
            return null;
        // The client encodes the request and decodes the reply, the server the reverse. A phase is of both messages; they share it by their bytes.
        var (request, reply) = (client("request_bytes"), client("reply_bytes"));
        var share = request / (request + reply);
        var steps = new List<DecompositionStep>
        {
            new("translate", (client("translate_ns") + server("translate_ns")) / 2, "codec alone, either side half of it"),
            new("encode", (client("encode_ns") * share) + (server("encode_ns") * (1 - share)), "codec alone, client's share of the request and server's of the reply"),
            new("decode", (client("decode_ns") * (1 - share)) + (server("decode_ns") * share), "codec alone, client's share of the reply and server's of the request"),
        };
        return [.. steps.Where(s => s.Ns > 0), .. bytes];
    }

    // Of what bytes of this size take: what waking takes, if the transport sleeps, and the rest.
    private List<DecompositionStep>? StepsOfBytes(CellResult cell, string floor, double? whole, string how)
    {
        if (whole is not { } ns)
            return null;
        if (floor == "slot")
            return [new("transfer", ns, how)];
        if (floors?.For("futex", cell.Workload) is not { } asleep || floors.For("slot", cell.Workload) is not { } awake)
            return null;
        var wakeUp = Math.Clamp(asleep - awake, 0, ns);
        return [new("transfer", ns - wakeUp, $"{how}, less the wake-up"), new("wake-up", wakeUp, "the slots' round trip by futex, less by spinning")];
    }

    // The bound side has the managed codecs.
    private Func<string, double>? PhasesOf(string side, CellResult cell)
    {
        var phases = (_codecs[(side, cell.Codec, cell.Workload)].FirstOrDefault() ?? (side == "bound" ? _codecs[("managed", cell.Codec, cell.Workload)].FirstOrDefault() : null))?.Phases;
        return phases is null ? null : name => phases.GetValueOrDefault(name) ?? 0;
    }
}
