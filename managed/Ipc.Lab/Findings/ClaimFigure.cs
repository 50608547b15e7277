using Ipc.Lab.Reporting;
using Ipc.Lab.Results;

namespace Ipc.Lab.Findings;

/// <summary>The figures of a launch that claims speak of.</summary>
internal static class ClaimFigure
{
    /// <summary>What is meant where nothing is named.</summary>
    public const string Usual = "p50";

    private static readonly string[] s_steps = ["build", "translate", "encode", "decode", "traverse"];
    private static readonly Dictionary<string, Func<LaunchFigures, double?>> s_plain = new()
    {
        [Usual] = l => l.P50Ns,
        ["mean"] = l => l.MeanNs,
        ["p99"] = l => l.P99Ns,
        ["rate"] = l => l.OpsPerS,
        ["memory"] = l => l.MemoryBytes is { Server: { } server, Client: { } client } ? server + client : null,
        ["ten-servers"] = l => l.Phases?.GetValueOrDefault("ten_servers_proportional_bytes"),
        ["allocated"] = l => l.AllocatedBytesPerOp,
    };

    /// <summary>The name, if it is one: a plain figure, or steps of scenario serialize joined by +, e.g. <c>encode+decode</c> or
    /// <c>linked_cold_encode</c>.</summary>
    public static string Check(string claim, string name) =>
        s_plain.ContainsKey(name) || name.Split('+').All(IsStep)
            ? name
            : throw new UserMistakeException(
                $"claims.csv, '{claim}': there is no figure '{name}'; there are {string.Join(", ", s_plain.Keys)} and sums of steps such as encode+decode");

    /// <summary>A launch's own; null where it has not been kept.</summary>
    public static double? Of(LaunchFigures launch, string name)
    {
        if (s_plain.TryGetValue(name, out var plain))
            return plain(launch);
        // A sum without one of its parts would be another figure.
        return name.Split('+').Aggregate((double?)0, (sum, step) => sum + launch.Phases?.GetValueOrDefault($"{step}_ns"));
    }

    /// <summary>A figure for people.</summary>
    public static string Format(string name, double value) => name switch
    {
        "rate" => Units.MessageRate(value),
        "memory" or "ten-servers" => Units.Bytes(value),
        "allocated" => $"{Units.Bytes(value)} per operation",
        _ => Units.Time(value),
    };

    private static bool IsStep(string name) =>
        s_steps.Contains(name.Replace("linked_", "", StringComparison.Ordinal).Replace("cold_", "", StringComparison.Ordinal));
}
