namespace Ipc.Lab.Planning;

/// <summary>Crosses axes into cells, keeping the combinations the registry knows.</summary>
internal static class Grid
{
    public static IReadOnlyList<string> AllTransports { get; } = [.. Registry.Transports.Select(t => t.Id)];
    /// <summary>Those of this system that are ours to recommend: foreign libraries are there to be compared with, and have not every side.</summary>
    public static IReadOnlyList<string> OwnTransports { get; } =
        [.. Registry.Transports.Where(t => t.Module is null && t.Platforms.Contains(Registry.Platform) && HasMainSides(t)).Select(t => t.Id)];
    public static IReadOnlyList<string> AllPairs { get; } = [.. from server in Registry.Sides from client in Registry.Sides select $"{server.Id}:{client.Id}"];
    public static IReadOnlyList<string> AllCodecs { get; } = [.. Registry.Codecs.Select(c => c.Id)];
    public static IReadOnlyList<string> ObjectCodecs { get; } = [.. Registry.Codecs.Where(c => c.Objects).Select(c => c.Id)];
    public static IReadOnlyList<string> AllScenarios { get; } = [.. Registry.Scenarios.Select(s => s.Id)];
    /// <summary>Those that differ from no other only in how many processes there are or where they run.</summary>
    public static IReadOnlyList<string> SingleScenarios { get; } = [.. Registry.Scenarios.Where(s => s.As is null).Select(s => s.Id)];
    /// <summary>A scenario's: they differ from it only in how many processes or threads there are, or in how those behave.</summary>
    public static IReadOnlyList<string> VariantsOf(string scenario) => [.. Registry.Scenarios.Where(s => s.As == scenario).Select(s => s.Id)];
    public static IReadOnlyList<string> AllWorkloads { get; } = [.. Registry.Workloads.Select(w => w.Id)];
    /// <summary>Those that are no point of a curve.</summary>
    public static IReadOnlyList<string> SingleWorkloads { get; } = [.. Registry.Workloads.Where(w => w.Group is null).Select(w => w.Id)];

    /// <summary>Every transport, and each of its ways to wait apart from the default, which its plain id stands for.</summary>
    public static IReadOnlyList<string> AllWaits { get; } =
    [
        .. from transport in Registry.Transports
           from spec in WaitsOf(transport)
           select spec,
    ];

    /// <summary>The cells of these axes. Scenarios without IPC have no transport and one process; transports and mixed pairs do not multiply them.</summary>
    public static IEnumerable<Cell> Cross(
        IEnumerable<string> transports, IEnumerable<string> pairs, IEnumerable<string> codecs,
        IEnumerable<string> scenarios, IEnumerable<string> workloads) =>
        from scenario in scenarios
        from workload in workloads
        let entry = Choices.WorkloadEntry(workload)
        where entry.Scenarios.Contains(scenario)
        from codec in codecs
        where Takes(entry, scenario, codec)
        let played = Choices.ScenarioEntry(scenario)
        where played.Takes(codec)
        from place in played.Ipc ? Between(transports.Where(t => played.Kinds.Contains(KindOf(t))), pairs.Where(played.IsBetween)) : Alone(pairs, codec)
        select new Cell(place.Transport, place.Pair, codec, scenario, workload);

    /// <summary>The pairs that are measured of a transport when none is named: the main ones, or what it has where it has none of their sides.</summary>
    public static IReadOnlyList<string> UsualPairs(string spec)
    {
        var transport = Registry.Transport(TransportSpec.IdOf(spec));
        return HasMainSides(transport) ? Presets.MainPairs
            : [.. from server in SidesOf(transport) from client in SidesOf(transport) select $"{server}:{client}"];
    }

    /// <summary>Whether a workload is played with a codec in a scenario: the workload names the codec, or the codec names the scenario.</summary>
    public static bool Takes(WorkloadEntry workload, string scenario, string codec) =>
        Choices.CodecEntry(codec).Scenarios is { } only ? workload.N > 0 && only.Contains(scenario) : workload.Codecs.Contains(codec);

    private static bool HasMainSides(TransportEntry transport) =>
        SidesOf(transport).Any(id => Registry.Sides.First(s => s.Id == id).Runtime is null);

    private static IEnumerable<string> SidesOf(TransportEntry transport) =>
        Registry.Sides.Select(s => s.Id).Where(id => transport.Sides.TryGetValue(id, out var why) && why.Length == 0);

    private static IEnumerable<(string Transport, string Pair)> Between(IEnumerable<string> transports, IEnumerable<string> pairs) =>
        from transport in transports from pair in pairs select (transport, pair);

    /// <summary>The kind of transport a spec names: channel, call, queue or broadcast.</summary>
    public static string KindOf(string spec) => Registry.Transport(TransportSpec.IdOf(spec)).Kind;

    // `bound` is left out: without a transport it is the managed code a second time, as is `hosted`. So is `raw`: nothing is serialized.
    private static IEnumerable<(string Transport, string Pair)> Alone(IEnumerable<string> pairs, string codec) =>
        from pair in pairs
        let sides = pair.Split(':')
        where sides[0] == sides[1] && !sides[0].StartsWith("bound", StringComparison.Ordinal) && ObjectCodecs.Contains(codec)
        where Choices.SideEntry(sides[0])?.Scenarios is null
        where Choices.CodecEntry(codec).Sides?.Contains(sides[0]) != false
        select (Cell.NoTransport, pair);

    private static IEnumerable<string> WaitsOf(TransportEntry transport)
    {
        yield return transport.Id;
        if (transport.Options.FirstOrDefault(o => o.Name == "wait") is not { Choices: { } choices } wait)
            yield break;
        foreach (var choice in choices.Split(',').Where(c => c != wait.Default))
            yield return $"{transport.Id}?wait={choice}";
    }
}
