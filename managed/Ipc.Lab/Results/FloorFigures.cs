namespace Ipc.Lab.Results;

/// <summary>What the hardware and the kernel allow, from `ipc-floors`: p50 round trips in nanoseconds.</summary>
/// <param name="SlotRttNs">By workload: one fixed slot each way, spinning.</param>
/// <param name="OnewayNs">By message size in bytes: a one-way ring of slots, p50 nanoseconds per message.</param>
internal sealed record FloorFigures(
    double? CachelineRttNs, IReadOnlyDictionary<string, double>? SlotRttNs, double? FutexRttNs, double? PipeRttNs, double? UnixRttNs,
    double? MemcpyBytesPerS, double? ClockNs, IReadOnlyDictionary<string, double>? FutexRttNsByWorkload,
    IReadOnlyDictionary<string, double>? PipeRttNsByWorkload, IReadOnlyDictionary<string, double>? UnixRttNsByWorkload,
    IReadOnlyDictionary<string, OneWayFloor>? OnewayNs = null)
{
    /// <summary>The workload whose floor holds for cells without sizes of their own.</summary>
    public const string SmallestSize = "64";

    /// <summary>A floor by its registry name at a workload's size, or null if it was not measured.</summary>
    public double? For(string floor, string workload) => floor switch
    {
        "slot" => At(SlotRttNs, workload) ?? At(SlotRttNs, SmallestSize),
        "futex" => At(FutexRttNsByWorkload, workload) ?? FutexRttNs ?? At(FutexRttNsByWorkload, SmallestSize),
        "pipe" => At(PipeRttNsByWorkload, workload) ?? PipeRttNs ?? At(PipeRttNsByWorkload, SmallestSize),
        "unix" => At(UnixRttNsByWorkload, workload) ?? UnixRttNs ?? At(UnixRttNsByWorkload, SmallestSize),
        _ => null,
    };

    /// <summary>The one-way floor at a message size, or null if it was not measured.</summary>
    public double? ForOneWay(int bytes, bool batch) =>
        OnewayNs is not null && OnewayNs.TryGetValue(bytes.ToString(System.Globalization.CultureInfo.InvariantCulture), out var floor)
            ? batch ? floor.Batch : floor.Single
            : null;

    /// <summary>Each figure's median over the rounds that have it.</summary>
    public static FloorFigures MedianOf(IReadOnlyList<FloorFigures> rounds) => new(
        Median(rounds.Select(r => r.CachelineRttNs)), Medians(rounds.Select(r => r.SlotRttNs)), Median(rounds.Select(r => r.FutexRttNs)),
        Median(rounds.Select(r => r.PipeRttNs)), Median(rounds.Select(r => r.UnixRttNs)), Median(rounds.Select(r => r.MemcpyBytesPerS)),
        Median(rounds.Select(r => r.ClockNs)), Medians(rounds.Select(r => r.FutexRttNsByWorkload)),
        Medians(rounds.Select(r => r.PipeRttNsByWorkload)), Medians(rounds.Select(r => r.UnixRttNsByWorkload)),
        MediansOfOneWay(rounds.Select(r => r.OnewayNs)));

    private static double? At(IReadOnlyDictionary<string, double>? figures, string workload) =>
        figures is not null && figures.TryGetValue(workload, out var figure) ? figure : null;

    private static double? Median(IEnumerable<double?> figures) => Statistics.Medians.Of(figures.OfType<double>());

    private static Dictionary<string, double> Medians(IEnumerable<IReadOnlyDictionary<string, double>?> rounds) =>
        rounds.SelectMany(r => r ?? new Dictionary<string, double>())
            .GroupBy(pair => pair.Key, pair => pair.Value)
            .ToDictionary(group => group.Key, group => Statistics.Medians.Of(group)!.Value);

    private static Dictionary<string, OneWayFloor> MediansOfOneWay(IEnumerable<IReadOnlyDictionary<string, OneWayFloor>?> rounds) =>
        rounds.SelectMany(r => r ?? new Dictionary<string, OneWayFloor>())
            .GroupBy(pair => pair.Key, pair => pair.Value)
            .ToDictionary(group => group.Key, group => new OneWayFloor(
                Statistics.Medians.Of(group.Select(f => f.Single))!.Value, Statistics.Medians.Of(group.Select(f => f.Batch))!.Value));
}

/// <summary>Nanoseconds per message through a one-way ring: messages published one by one, and by 64.</summary>
internal sealed record OneWayFloor(double Single, double Batch);
