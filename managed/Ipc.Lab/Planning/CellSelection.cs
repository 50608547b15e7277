using Ipc.Lab.Findings;

namespace Ipc.Lab.Planning;

/// <summary>Turns a request into cells: a preset, a preset narrowed, or the product of what was picked.</summary>
internal static class CellSelection
{
    private const string DefaultWorkload = "1k-10k";

    public static IReadOnlyList<Cell> Select(RunRequest request)
    {
        var checkedRequest = Check(request);
        if (request.Peers.Count > 0 && request.Preset is not null)
            throw new UserMistakeException("no preset has cells of --peer; omit --preset and name what it is to play with --transport and --workload");
        if (request.Peers.Count > 0 && request.Transports.Count == 0 && !request.Scenarios.Contains("serialize"))
            throw new UserMistakeException("--peer needs --transport: name those that the peer speaks, e.g. --transport unix");
        if (request.Claims.Count > 0 && (request.Preset is not null || request.Peers.Count > 0 || request.Table is not null))
            throw new UserMistakeException("--claim names its cells itself; omit --preset, --peer and --table, or omit --claim");
        var cells = request.Claims.Count > 0
            ? Narrow([.. request.Claims.SelectMany(CellsOf).Distinct()], checkedRequest)
            : request.Preset is not null || !request.PicksCells
            ? Narrow(Presets.Get(request.Preset ?? "quick").Cells(), checkedRequest)
            : Product(checkedRequest);
        return cells.Count > 0 ? cells : throw new UserMistakeException(WhyNothing(checkedRequest));
    }

    /// <summary>What the user named that no cell of the selection has, a line for each axis: together with the other choices it gives none.</summary>
    public static IEnumerable<string> LeftOut(RunRequest request, IReadOnlyList<Cell> cells)
    {
        var named = Check(request);
        (string Axis, IReadOnlyList<string> Values, Func<Cell, string, bool> Has)[] axes =
        [
            ("transport", named.Transports, (cell, spec) => cell.Transport == spec || cell.TransportId == spec),
            // Those of a --peer follow from it.
            ("pair", request.Pairs.Count > 0 ? named.Pairs : [], (cell, pair) => cell.Pair == pair),
            ("codec", named.Codecs, (cell, codec) => cell.Codec == codec),
            ("scenario", named.Scenarios, (cell, scenario) => cell.Scenario == scenario),
            ("workload", named.Workloads, (cell, workload) => cell.Workload == workload),
        ];
        return from axis in axes
               let unused = axis.Values.Where(value => !cells.Any(cell => axis.Has(cell, value))).ToList()
               where unused.Count > 0
               select $"left out: {axis.Axis} {string.Join(", ", unused)}, which gives no cell with what else was chosen";
    }

    private static IEnumerable<Cell> CellsOf(string id)
    {
        var claim = PublishedClaims.WithCells(id);
        if (claim.NeedsWindows && Registry.Platform != "windows")
        {
            throw new UserMistakeException($"claim '{id}' speaks of Windows: measure it there"
                + (claim.NeedsWindowsItself ? "" : $", or, for the order of cost under Wine, by scripts/ipc-windows run --claim {id}"));
        }
        return claim.Cells;
    }

    private static RunRequest Check(RunRequest request) => request with
    {
        Transports = [.. request.Transports.Select(TransportSpec.Check).Distinct()],
        Pairs = [.. PairsOf(request).Select(p => Choices.Pair(p, request.Peers)).Distinct()],
        Codecs = [.. request.Codecs.Select(Choices.Codec).Distinct()],
        Scenarios = [.. request.Scenarios.Select(Choices.Scenario).Distinct()],
        Workloads = [.. WorkloadsOf(request).SelectMany(Choices.Workloads).Distinct()],
    };

    // Who names a peer wants it measured: with itself, and with the lab's own peer at the other end.
    private static IReadOnlyList<string> PairsOf(RunRequest request) =>
        request.Pairs.Count > 0 ? request.Pairs : [.. request.Peers.SelectMany(p => (string[])[$"{p.Side}:{p.Side}", $"native:{p.Side}", $"{p.Side}:native"])];

    // A table file is only of use to the workload `table`; naming one asks for it.
    private static IReadOnlyList<string> WorkloadsOf(RunRequest request) =>
        request.Table is not null && request.Workloads.Count == 0 ? ["table"] : request.Workloads;

    private static List<Cell> Narrow(IReadOnlyList<Cell> cells, RunRequest request) =>
    [
        .. cells
            .Where(c => Allows(request.Pairs, c.Pair) && Allows(request.Codecs, c.Codec)
                        && Allows(request.Scenarios, c.Scenario) && Allows(request.Workloads, c.Workload))
            .SelectMany(c => OnTransports(c, request.Transports))
            .Distinct(),
    ];

    private static bool Allows(IReadOnlyList<string> picked, string id) => picked.Count == 0 || picked.Contains(id);

    // A plain id keeps the preset's cells of that transport; one with options moves its plain cells onto them.
    private static IEnumerable<Cell> OnTransports(Cell cell, IReadOnlyList<string> specs)
    {
        if (specs.Count == 0)
            return [cell];
        return from spec in specs
               where spec == cell.TransportId || spec == cell.Transport || TransportSpec.IdOf(spec) == cell.Transport
               select spec == cell.TransportId ? cell : cell with { Transport = spec };
    }

    private static List<Cell> Product(RunRequest request)
    {
        var workloads = request.Workloads.Count > 0 ? request.Workloads
            : request.Scenarios.Count > 0 ? FirstWorkloadOfEach(request.Scenarios)
            : request.Transports.Count > 0 ? FirstWorkloadOfEachKind(request.Transports) : [DefaultWorkload];
        var transports = request.Transports.Count > 0 ? request.Transports : Grid.AllTransports;
        return
        [
            .. from workload in workloads
               from picked in request.Scenarios.Count > 0
                   ? request.Scenarios.Select(s => (Scenario: s, Transports: transports))
                   : MainScenarios(workload, transports)
               let scenario = picked.Scenario
               from place in Places(picked.Transports, request.Pairs, scenario)
               from cell in Grid.Cross(place.Transports, place.Pairs, CodecsOf(request, workload, scenario), [scenario], [workload])
               select cell,
        ];
    }

    // Transports with the pairs that each is to be measured with; those that share their pairs stay together.
    private static IEnumerable<(IReadOnlyList<string> Transports, IReadOnlyList<string> Pairs)> Places(
        IReadOnlyList<string> transports, IReadOnlyList<string> asked, string scenario) =>
        asked.Count > 0 ? [(transports, asked)]
        : Choices.ScenarioEntry(scenario).Pairs is { } pairs ? [(transports, pairs)]
        : !Choices.ScenarioEntry(scenario).Ipc ? [(transports, Presets.MainPairs)]
        : transports.GroupBy(t => string.Join(',', Grid.UsualPairs(t))).Select(g => ((IReadOnlyList<string>)[.. g], Grid.UsualPairs(g.First())));

    private static List<string> FirstWorkloadOfEach(IReadOnlyList<string> scenarios) =>
    [
        .. scenarios.SelectMany(scenario =>
                Choices.WorkloadEntry(DefaultWorkload).Scenarios.Contains(scenario)
                    ? [DefaultWorkload]
                    : WithItsGroup(Registry.Workloads.First(w => w.Scenarios.Contains(scenario))))
            .Distinct(),
    ];

    private static IEnumerable<string> WithItsGroup(WorkloadEntry workload) => Choices.Workloads(workload.Group ?? workload.Id);

    private static List<string> FirstWorkloadOfEachKind(IReadOnlyList<string> transports) =>
    [
        .. transports.Select(Grid.KindOf).Distinct()
            .Select(kind => Fits(Choices.WorkloadEntry(DefaultWorkload), kind) ? DefaultWorkload : Registry.Workloads.First(w => Fits(w, kind)).Id)
            .Distinct(),
    ];

    private static bool Fits(WorkloadEntry workload, string kind) =>
        workload.Scenarios.Any(s => Choices.ScenarioEntry(s).Kinds.Contains(kind));

    // Registry order states which scenario a workload was made for: of each transport the first that its kind can play.
    private static IEnumerable<(string Scenario, IReadOnlyList<string> Transports)> MainScenarios(string workload, IReadOnlyList<string> transports)
    {
        var scenarios = Choices.WorkloadEntry(workload).Scenarios;
        return from scenario in scenarios
               let entry = Choices.ScenarioEntry(scenario)
               let played = entry.Ipc ? [.. transports.Where(t => IsFirst(scenario, scenarios, t))] : scenario == scenarios[0] ? transports : []
               where played.Count > 0
               select (scenario, played);
    }

    private static bool IsFirst(string scenario, IReadOnlyList<string> scenarios, string transport) =>
        scenarios.FirstOrDefault(s => Choices.ScenarioEntry(s).Kinds.Contains(Grid.KindOf(transport))) == scenario;

    private static IReadOnlyList<string> CodecsOf(RunRequest request, string workload, string scenario)
    {
        if (request.Codecs.Count > 0)
            return request.Codecs;
        var played = Choices.ScenarioEntry(scenario);
        var entry = Choices.WorkloadEntry(workload);
        return played.Ipc ? [entry.Codecs.First(played.Takes)]
            : [.. Grid.ObjectCodecs.Where(codec => played.Takes(codec) && Grid.Takes(entry, scenario, codec))];
    }

    private static string WhyNothing(RunRequest request)
    {
        if (request.Codecs.Count > 0 && request.Codecs.Select(Choices.CodecEntry).ToList() is var codecs && codecs.All(c => c.Scenarios is not null))
        {
            return $"codec '{codecs[0].Id}' is measured in scenario {string.Join(", ", codecs[0].Scenarios!)} of side "
                + $"{string.Join(", ", codecs[0].Sides ?? [])}, with workloads that have objects; see `ipc list codecs`";
        }
        foreach (var workload in request.Workloads.Select(Choices.WorkloadEntry))
        {
            if (request.Codecs.Count > 0 && !request.Codecs.Intersect(workload.Codecs).Any())
                return Choices.WhyNotOf(workload, "codec", request.Codecs, workload.Codecs);
            if (request.Scenarios.Count > 0 && !request.Scenarios.Intersect(workload.Scenarios).Any())
                return Choices.WhyNotOf(workload, "scenario", request.Scenarios, workload.Scenarios);
        }
        if (request.Pairs.Count > 0 && request.Scenarios.Select(Choices.ScenarioEntry).FirstOrDefault(s => !request.Pairs.Any(s.IsBetween)) is { } between)
            return $"scenario '{between.Id}' is played between {string.Join(", ", between.Pairs!)}, not between {string.Join(", ", request.Pairs)}";
        if (request.Codecs.Count > 0 && request.Scenarios.Select(Choices.ScenarioEntry).FirstOrDefault(s => !request.Codecs.Any(s.Takes)) is { } single)
            return $"scenario '{single.Id}' is played with codec {string.Join(" or ", single.Codecs!)}, not with {string.Join(", ", request.Codecs)}";
        var scenarios = request.Scenarios.Select(Choices.ScenarioEntry).Where(s => s.Ipc).ToList();
        var kinds = request.Transports.Select(Grid.KindOf).Distinct().ToList();
        if (scenarios.Count > 0 && kinds.Count > 0 && !scenarios.SelectMany(s => s.Kinds).Intersect(kinds).Any())
            return $"scenario '{scenarios[0].Id}' is played over {string.Join(" or ", scenarios[0].Kinds)} transports, "
                + $"and '{request.Transports[0]}' is of kind {kinds[0]}; see `ipc list transports`";
        if (request.Workloads.Count > 0 && kinds.Count > 0 && !request.Workloads.Any(w => kinds.Any(k => Fits(Choices.WorkloadEntry(w), k))))
            return $"workload '{request.Workloads[0]}' is not played over transports of kind {kinds[0]}, as '{request.Transports[0]}' is; "
                + $"there are {string.Join(", ", Registry.Workloads.Where(w => Fits(w, kinds[0])).Select(w => w.Id))}";
        if (request.Claims.Count > 0)
            return $"no cell of claim {string.Join(", ", request.Claims)} fits the other choices; omit these";
        return request.Preset is null
            ? "no cell fits these choices together; omit one, or see `ipc list workloads`"
            : $"preset '{request.Preset}' has no cell that fits these choices; omit one of them, or omit --preset to measure exactly what you name";
    }
}
