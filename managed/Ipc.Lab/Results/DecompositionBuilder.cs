namespace Ipc.Lab.Results;

/// <summary>Where a call's p50 goes, put together from what the same run measured apart: the codecs alone (scenario `serialize`), the same call with
/// bytes in place of objects (codec raw), and the floors. What these do not add up to is shown as such.</summary>
internal sealed class DecompositionBuilder(IReadOnlyList<CellResult> cells, FloorFigures? floors)
{
    private static readonly string[] s_overTheAbi = ["bound", "hosted"];

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
            new("encode", (client("encode_ns") * share) + (server("encode_ns") * (1 - share)),
                "codec alone, client's share of the request and server's of the reply"),
            new("decode", (client("decode_ns") * (1 - share)) + (server("decode_ns") * share),
                "codec alone, client's share of the reply and server's of the request"),
        };
        return [.. steps.Where(s => s.Ns > 0), .. bytes];
    }

    // Of what bytes of this size take: what waking takes, if the transport sleeps, and the rest.
    private List<DecompositionStep>? StepsOfBytes(CellResult cell, string floor, double? whole, string how)
    {
        if (whole is not { } ns)
            return null;
        if (floor == "slot")
        {
            return BoundaryOf(cell) is not { } boundary ? [new("transfer", ns, how)]
                // The floor knows nothing of it; a call with bytes contains it.
                : [boundary, new("transfer", cell.Codec == "raw" ? ns : ns - boundary.Ns, cell.Codec == "raw" ? how : $"{how}, less the boundary")];
        }
        if (floors?.For("futex", cell.Workload) is not { } asleep || floors.For("slot", cell.Workload) is not { } awake)
            return null;
        var wakeUp = Math.Clamp(asleep - awake, 0, ns);
        return [new("transfer", ns - wakeUp, $"{how}, less the wake-up"), new("wake-up", wakeUp, "the slots' round trip by futex, less by spinning")];
    }

    // What C# adds that calls the C library: the same call with bytes, less that of C++ over the same library. Null where no side does, where that call
    // was not measured in this placement, and where the transport sleeps: a wake-up varies by a hundred times as much.
    private DecompositionStep? BoundaryOf(CellResult cell)
    {
        if (!cell.Pair.Split(':').Any(s_overTheAbi.Contains))
            return null;
        var native = string.Join(':', cell.Pair.Split(':').Select(side => s_overTheAbi.Contains(side) ? "native" : side));
        return RawOf(cell, cell.Pair) is { } over && RawOf(cell, native) is { } without
            ? new DecompositionStep("boundary", Math.Max(0, over - without),
                $"a raw call of this size, less that of {native}: P/Invoke and what the binding checks") : null;
    }

    private double? RawOf(CellResult cell, string pair) =>
        _raw[(cell.Transport, pair, cell.Workload)].FirstOrDefault(c => c.Placement == cell.Placement)?.P50Ns;

    // The bound side has the managed codecs.
    private Func<string, double>? PhasesOf(string side, CellResult cell)
    {
        var phases = (_codecs[(side, cell.Codec, cell.Workload)]
            .FirstOrDefault() ?? (side == "bound" ? _codecs[("managed", cell.Codec, cell.Workload)].FirstOrDefault() : null))?.Phases;
        return phases is null ? null : name => phases.GetValueOrDefault(name) ?? 0;
    }
}
