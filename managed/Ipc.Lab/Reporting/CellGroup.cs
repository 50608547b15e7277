using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>Cells that may be compared with one another: same scenario, workload, codec and count; fastest first.</summary>
internal sealed record CellGroup(string Title, IReadOnlyList<CellResult> Cells)
{
    /// <summary>Whether one process played the cells alone.</summary>
    public bool IsAlone => Cells[0].Transport == Cell.NoTransport;

    /// <summary>Whether an operation is a one-way message of many that go as fast as they can, timed at its receiver.</summary>
    public bool IsStream => Choices.ScenarioEntry(Cells[0].Scenario).IsStream;

    /// <summary>The columns as they fit these cells.</summary>
    public IReadOnlyList<Column> Fit(IReadOnlyList<Column> columns) =>
        Choices.ScenarioEntry(Cells[0].Scenario).Idle && columns != Columns.Full ? [.. columns.Except([Columns.P99, Columns.FloorRatio]), .. Columns.Idle] :
        columns == Columns.Full ? [.. Headed(columns), .. Columns.Of(Choices.ScenarioEntry(Cells[0].Scenario))] : Headed(columns);

    private IReadOnlyList<Column> Headed(IReadOnlyList<Column> columns) =>
        IsStream ? Columns.OfMessages(columns) : Cells[0].Scenario == "batch" ? Columns.OfObjects(columns) : columns;

    /// <summary>Groups in the order of their first cell; cells without figures last.</summary>
    public static IReadOnlyList<CellGroup> Of(IEnumerable<CellResult> cells) =>
    [
        .. cells
            .GroupBy(c => (c.Scenario, c.Workload, c.Codec, c.Count))
            .Select(g => new CellGroup(
                $"{g.Key.Scenario} {g.Key.Workload} {g.Key.Codec}{(g.Key.Count is { } n ? $", {n} operations" : "")}"
                + $"{ClientsOf(g.Key.Scenario)}{InFlightOf(g.Key.Scenario)}{TogetherOf(g.Key.Scenario, g.Key.Workload)}",
                [.. g.OrderBy(c => c.P50Ns ?? double.MaxValue)])),
    ];

    private static string TogetherOf(string scenario, string workload) => Choices.WorkloadEntry(workload) switch
    {
        { Group: "batch", Bucket: var bucket } => $": {bucket} objects to a call, figures of one",
        { Bucket: > 1 and var bucket } => $": {bucket} messages to a confirmation, figures of one",
        { Rate: > 0 and var rate } when Choices.ScenarioEntry(scenario).Last => $": {Units.MessageRate(rate)}, timed until the last client has it",
        { Rate: > 0 and var rate } => $": {Units.Rate(rate)}, timed from when each was due",
        _ => "",
    };

    private static string InFlightOf(string scenario) => Choices.ScenarioEntry(scenario).InFlight is > 0 and var calls ? $", {calls} in flight" : "";

    private static string ClientsOf(string scenario) =>
        Choices.ScenarioEntry(scenario) is { Clients: > 1 and var clients } ? $", {clients} clients"
        : Choices.ScenarioEntry(scenario) is { Threads: > 1 and var threads } ? $", {threads} threads of one client" : "";
}
