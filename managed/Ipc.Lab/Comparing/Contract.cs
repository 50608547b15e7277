using Ipc.Lab.Results;

namespace Ipc.Lab.Comparing;

/// <summary>Whether two results were made on one machine and in one way; only then does a ratio speak of the programs.</summary>
internal static class Contract
{
    /// <summary>What differs, each in a few words; empty: they may be compared.</summary>
    public static IReadOnlyList<string> Differences(RunResults first, RunResults second)
    {
        (string What, object? First, object? Second)[] facts =
        [
            ("machine", first.Machine.Name, second.Machine.Name),
            ("processor", first.Machine.Cpu.Model, second.Machine.Cpu.Model),
            ("usable CPUs", first.Machine.Cpu.AllowedCpus, second.Machine.Cpu.AllowedCpus),
            ("kernel", first.Machine.Kernel, second.Machine.Kernel),
            ("virtualisation", first.Machine.Virtualisation, second.Machine.Virtualisation),
            ("Wine", first.Machine.Wine, second.Machine.Wine),
            ("build", first.Run.Build, second.Run.Build),
            ("pins", first.Run.Pins.ToString(), second.Run.Pins.ToString()),
            ("idle processors kept awake", first.Run.Awake, second.Run.Awake),
            ("idle processors, by others' demand", Microseconds(first), Microseconds(second)),
            ("warm-up", Seconds(first.Run.Schedule.WarmupSeconds), Seconds(second.Run.Schedule.WarmupSeconds)),
            ("measured time of a launch", Seconds(first.Run.Schedule.Seconds), Seconds(second.Run.Schedule.Seconds)),
            ("time of the whole run", Seconds(first.Run.Schedule.BudgetSeconds), Seconds(second.Run.Schedule.BudgetSeconds)),
        ];
        return [.. facts.Where(f => !Equals(f.First, f.Second)).Select(f => $"{f.What}: {f.First ?? "none"} and {f.Second ?? "none"}")];
    }

    private static string? Microseconds(RunResults results) =>
        results.Machine.Cpu.WakesWithinUs is { } us ? $"awake within {us} µs" : null;

    private static string? Seconds(double? seconds) =>
        seconds is { } s ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{s} s") : null;
}
