using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>One column of the tables of cells.</summary>
internal sealed record Column(string Title, bool IsText, Func<CellResult, string> Value);

/// <summary>The columns all tables choose from.</summary>
internal static class Columns
{
    public static Column Transport { get; } = new("transport", true, c => c.Transport);
    public static Column Pair { get; } = new("server:client", true, c => c.Pair);
    /// <summary>For cells one process plays alone.</summary>
    public static Column Side { get; } = new("side", true, c => c.Pair[..c.Pair.IndexOf(':', StringComparison.Ordinal)]);
    public static Column P50 { get; } = new("p50", false, c => c.Status == "ok" ? Units.Time(c.P50Ns) : c.Status);
    public static Column P99 { get; } = new("p99", false, c => Units.Time(c.P99Ns));
    public static Column Rate { get; } = new("ops/s", false, c => Units.Rate(c.OpsPerS));
    public static Column FloorRatio { get; } = new("x floor", false, c => Units.Ratio(c.FloorRatio));

    /// <summary>Columns as they are headed where an operation is a one-way message.</summary>
    public static IReadOnlyList<Column> OfMessages(IReadOnlyList<Column> columns) =>
    [
        .. columns.Select(c => c with
        {
            Title = c.Title.Replace("ops/s", "messages/s", StringComparison.Ordinal)
                .Replace("operations", "messages", StringComparison.Ordinal).Replace("cold", "connect + 1", StringComparison.Ordinal),
        }),
    ];

    /// <summary>Columns as they are headed where figures are of one object of a bucket.</summary>
    public static IReadOnlyList<Column> OfObjects(IReadOnlyList<Column> columns) =>
    [
        .. columns.Select(c => c with
        {
            Title = c.Title.Replace("ops/s", "objects/s", StringComparison.Ordinal).Replace("operations", "objects", StringComparison.Ordinal),
        }),
    ];

    /// <summary>What fits a terminal of 80 columns.</summary>
    public static IReadOnlyList<Column> Narrow { get; } = [Transport, Pair, P50, P99, Rate, FloorRatio];

    /// <summary>Everything that is compared between cells.</summary>
    public static IReadOnlyList<Column> Wide { get; } =
    [
        Transport, Pair, P50,
        new("p50, 95 % interval", false, c => Units.Interval(c.P50Ci, Units.Time)),
        new("p90", false, c => Units.Time(c.P90Ns)),
        P99,
        new("p99.9", false, c => Units.Time(c.P999Ns)),
        new("max", false, c => Units.Time(c.MaxNs)),
        Rate, FloorRatio,
        new("CPU server", false, c => Units.Time(c.CpuNsPerOp?.Server)),
        new("CPU client", false, c => Units.Time(c.CpuNsPerOp?.Client)),
        new("allocated", false, c => Units.Bytes(c.AllocatedBytesPerOp)),
    ];

    /// <summary>The whole set, for files.</summary>
    public static IReadOnlyList<Column> Full { get; } =
    [
        .. Wide,
        new("ops/s, 95 % interval", false, c => Units.Interval(c.OpsPerSCi, Units.Rate)),
        new("bytes/s", false, c => Units.BytesPerSecond(c.BytesPerS)),
        new("floor", true, c => c.Floor is null ? Units.Unknown : $"{c.Floor} {Units.Time(c.FloorNs)}"),
        new("cold", false, c => Units.Time(c.ColdNs)),
        new("memory server", false, c => Units.Bytes(c.MemoryBytes?.Server)),
        new("memory client", false, c => Units.Bytes(c.MemoryBytes?.Client)),
        new("operations", false, c => c.Operations?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? Units.Unknown),
        new("slowest client", false, c =>
            c.SlowestByFastest is { } share ? share.ToString("P0", System.Globalization.CultureInfo.InvariantCulture) : Units.Unknown),
        new("launches", false, c => c.Launches.ToString(System.Globalization.CultureInfo.InvariantCulture)),
    ];

    /// <summary>What the lab looked at from outside beside.</summary>
    public static IReadOnlyList<Column> Of(ScenarioEntry scenario) =>
        scenario.Starts ? [new("server, start to ready", false, c => Units.Time(c.Phases?.GetValueOrDefault("server_ready_ns")))]
        : scenario.Footprint ? s_memory
        : scenario.Idle ? Idle : [];

    /// <summary>What an idle second takes.</summary>
    public static IReadOnlyList<Column> Idle { get; } =
    [
        .. from side in (string[])["server", "client"]
           select new Column($"idle second, CPU {side}", false, c => Units.Time(c.Phases?.GetValueOrDefault($"idle_{side}_cpu_ns"))),
    ];

    private static readonly IReadOnlyList<Column> s_memory =
    [
        .. from moment in (string[])["idle_server", "idle_client", "connected_server", "connected_client", "loaded_server", "loaded_client", "ten_servers"]
           from kind in (string[])["private", "proportional"]
           select new Column($"{moment.Replace('_', ' ')}, {kind}", false, c => Units.Bytes(c.Phases?.GetValueOrDefault($"{moment}_{kind}_bytes"))),
    ];

    /// <summary>The steps of a scenario one process plays alone.</summary>
    public static IReadOnlyList<Column> Alone { get; } =
    [
        Side, P50,
        .. from phase in (string[])["build", "translate", "encode", "decode", "traverse"]
           select new Column(phase, false, c => Units.Time(c.Phases?.GetValueOrDefault(phase + "_ns"))),
    ];

    /// <summary>The steps and what they work on, for files.</summary>
    public static IReadOnlyList<Column> AloneFull { get; } =
    [
        .. Alone,
        new("p50, 95 % interval", false, c => Units.Interval(c.P50Ci, Units.Time)),
        P99,
        new("request", false, c => Units.Bytes(c.Phases?.GetValueOrDefault("request_bytes"))),
        new("reply", false, c => Units.Bytes(c.Phases?.GetValueOrDefault("reply_bytes"))),
        .. from phase in (string[])["view", "copy", "cold_encode", "cold_decode", "linked_encode", "linked_decode"]
           select new Column(phase.Replace('_', ' '), false, c => Units.Time(c.Phases?.GetValueOrDefault(phase + "_ns"))),
    ];
}
