using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Results;

/// <summary>One cell's figures from its launches.</summary>
internal static class CellResultBuilder
{
    /// <param name="launches">The cell's launches in the order of their rounds.</param>
    /// <param name="floors">Each floor's median over the rounds.</param>
    /// <param name="floorOfRound">The floors of each round.</param>
    /// <param name="readSamples">Reads a kept file of samples.</param>
    public static CellResult Build(
        Plan plan, PlannedCell planned, IReadOnlyList<LaunchRecord> launches, FloorFigures? floors,
        IReadOnlyDictionary<int, FloorFigures> floorOfRound, Func<string, uint[]> readSamples)
    {
        if (planned.SkipReason is { } skip)
            return Bare(planned.Cell, "skipped", skip);
        // One failed launch fails the cell: figures of the others would hide it.
        if (launches.FirstOrDefault(l => l.Status == "failed") is { } failed)
            return Bare(planned.Cell, "failed", failed.Reason) with { Launches = launches.Count };
        if (launches.Count == 0)
            return Bare(planned.Cell, "pending", "the run stopped before this cell was launched");
        try
        {
            var samples = launches.Select(l => readSamples(l.Samples!)).ToList();
            var result = WithTimes(Bare(planned.Cell, "ok", null), launches, samples);
            return WithCosts(WithFloor(result, launches, floors, floorOfRound), launches);
        }
        catch (Exception e) when (e is IOException or InvalidDataException)
        {
            return Bare(planned.Cell, "failed", $"its kept samples cannot be read: {Sentence.Of(e)}");
        }
    }

    private static CellResult Bare(Cell cell, string status, string? reason) => new()
    {
        Transport = cell.Transport,
        Pair = cell.Pair,
        Codec = cell.Codec,
        Scenario = cell.Scenario,
        Workload = cell.Workload,
        Count = cell.Count,
        Status = status,
        Reason = reason,
        Note = status == "ok" && !cell.IsAlone ? Registry.NoteOf(cell.TransportId) : null,
    };

    private static CellResult WithTimes(CellResult cell, IReadOnlyList<LaunchRecord> launches, List<uint[]> samples)
    {
        foreach (var launch in samples)
            Array.Sort(launch);
        var scene = Choices.ScenarioEntry(cell.Scenario);
        // A one-way message is too short for whole nanoseconds: its samples are picoseconds.
        var unit = scene.Receiver is null ? 1.0 : 1000.0;
        var medians = samples.Select(s => Percentiles.At(s, 5000) / unit).ToList();
        uint[] pooled = samples.Count == 1 ? samples[0] : [.. samples.SelectMany(s => s)];
        Array.Sort(pooled);
        var operations = launches.Select(l => (double)l.Operations).ToList();
        var seconds = launches.Select(l => l.TimedNs / 1e9).ToList();
        return cell with
        {
            Operations = launches.Sum(l => l.Operations),
            Launches = launches.Count,
            LaunchP50Ns = medians,
            P50Ns = Percentiles.At(pooled, 5000) / unit,
            P50Ci95Ns = Bootstrap.OfMedian([.. medians]),
            P90Ns = Percentiles.At(pooled, 9000) / unit,
            P99Ns = Percentiles.At(pooled, 9900) / unit,
            P999Ns = Percentiles.At(pooled, 9990) / unit,
            P9999Ns = Percentiles.At(pooled, 9999) / unit,
            MaxNs = pooled[^1] / unit,
            Lost = scene.Kinds.Contains("broadcast") ? launches.Sum(l => l.Lost) : null,
            OpsPerS = operations.Sum() / seconds.Sum(),
            OpsPerSCi95 = Bootstrap.OfRate(operations, seconds),
            BytesPerS = launches.Sum(l => (double)l.Bytes) / seconds.Sum(),
            ColdNs = Medians.Of(launches.Select(l => (double?)l.ColdNs).OfType<double>()),
            Phases = PhasesOf(launches),
            Samples = [.. launches.Select(l => l.Samples!)],
        };
    }

    private static CellResult WithFloor(
        CellResult cell, IReadOnlyList<LaunchRecord> launches, FloorFigures? floors, IReadOnlyDictionary<int, FloorFigures> floorOfRound)
    {
        if (FloorOfCell.Of(cell.Transport, cell.Scenario, cell.Workload) is not { } floor)
            return cell;
        var held = launches.Zip(cell.LaunchP50Ns, (launch, p50) => (P50: p50, Floor: FloorOf(launch, floor, floorOfRound)))
            .Where(l => l.Floor > 0).ToList();
        return cell with
        {
            Floor = floor.Name,
            FloorNs = floor.In(floors),
            FloorRatio = Medians.Of(held.Select(l => l.P50 / l.Floor!.Value)) is { } ratio ? Math.Round(ratio, 3) : null,
            FloorLaunches = held.Count,
        };
    }

    // Of the same moment if there is one: a virtual machine's processors are moved closer together and further apart by the host,
    // and floor and cell move with them. A launch during which they were moved is held against nothing.
    private static double? FloorOf(LaunchRecord launch, FloorOfCell floor, IReadOnlyDictionary<int, FloorFigures> floorOfRound)
    {
        const double MostBetween = 1.25;
        if (launch.FloorsAroundNs is not [var before, var after])
            return floor.In(floorOfRound.GetValueOrDefault(launch.Round));
        return Math.Max(before, after) <= MostBetween * Math.Min(before, after) ? (before + after) / 2 : null;
    }

    private static CellResult WithCosts(CellResult result, IReadOnlyList<LaunchRecord> launches)
    {
        var allocated = PerOperation(launches, u => u.AllocatedBytes);
        return result with
        {
            CpuNsPerOp = PerOperation(launches, u => u.CpuNs),
            VoluntarySwitchesPerOp = PerOperation(launches, u => u.VoluntarySwitches),
            InvoluntarySwitchesPerOp = PerOperation(launches, u => u.InvoluntarySwitches),
            MinorFaultsPerOp = PerOperation(launches, u => u.MinorFaults),
            MajorFaultsPerOp = PerOperation(launches, u => u.MajorFaults),
            MemoryBytes = new BySide(
                Medians.Of(launches.Select(l => (double?)l.Server?.After?.MemoryBytes).OfType<double>()),
                Medians.Of(launches.Select(l => (double?)l.Client?.After?.MemoryBytes).OfType<double>())),
            AllocatedBytesPerOp = allocated.Server is null && allocated.Client is null ? null : (allocated.Server ?? 0) + (allocated.Client ?? 0),
            AllocatedBytesPerOpBySide = allocated,
            Collections = new BySide(Total(launches, l => l.Server, u => u.Collections), Total(launches, l => l.Client, u => u.Collections)),
        };
    }

    // The server's two looks enclose a few exchanges more than the client measures; each side is divided by its own number.
    private static BySide PerOperation(IReadOnlyList<LaunchRecord> launches, Func<Usage, long?> figure) => new(
        Total(launches, l => l.Server, figure) / launches.Sum(l => l.ServerOperations ?? 0),
        Total(launches, l => l.Client, figure) / launches.Sum(l => l.Operations));

    // A launch without the figure makes the total unknown rather than small.
    private static double? Total(IReadOnlyList<LaunchRecord> launches, Func<LaunchRecord, UsageSpan?> side, Func<Usage, long?> figure)
    {
        double total = 0;
        foreach (var launch in launches)
        {
            if (side(launch) is not { Before: { } before, After: { } after } || figure(after) - figure(before) is not { } used)
                return null;
            total += used;
        }
        return total;
    }

    private static Dictionary<string, double?>? PhasesOf(IReadOnlyList<LaunchRecord> launches) =>
        launches[0].Phases?.Keys.ToDictionary(
            name => name,
            name => Medians.Of(launches.Select(l => l.Phases?.GetValueOrDefault(name)).OfType<double>()));
}
