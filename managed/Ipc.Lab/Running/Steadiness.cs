using System.Globalization;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Running;

/// <summary>Whether a launch was measured in a steady state: by what the peers say of themselves, and by what their samples show.</summary>
internal static class Steadiness
{
    private const int Blocks = 20;
    private const int LeastOfBlock = 10;
    // Of 20 blocks in random order, less than one in a thousand rises or falls so steadily (Kendall's tau).
    private const double LeastTau = 0.53;
    private const double MostBehind = 0.05;
    private const double MostDrift = 0.10;
    private const double MostSlowerThanWarm = 1.5;
    // The thread that answers the runner is in the same process, and a method of it may still be compiled late. In each further second some that are seldom
    // called, as what sleeps is over shared memory, are called for the thirtieth time; that takes less than a hundredth of the time.
    private const int MostCompiled = 5;

    /// <summary>Why the launch says nothing of the steady state, or null.</summary>
    /// <param name="serverCompiled">Methods that the server's runtime compiled during the measurement.</param>
    /// <param name="samples">In the order of the operations.</param>
    public static string? WhyUnsteady(Warm warm, string? serverUnsettled, long? serverCompiled, Measured measured, uint[] samples) =>
        warm.Settled == false ? $"the client had not settled when its warm-up ended: {warm.Unsettled ?? "it does not say why"}"
        : serverUnsettled
        ?? WhyCompiling("client", measured.UsageAfter?.CompiledMethods - measured.UsageBefore?.CompiledMethods, measured)
        ?? WhyCompiling("server", serverCompiled, measured)
        ?? WhySlower(warm, samples)
        ?? WhyDrifting(samples);

    /// <summary>Why a paced launch did not keep its rate, or null: calls that wait ever longer have no latency of their own.</summary>
    /// <param name="rate">Calls a second; 0: none was asked for.</param>
    public static string? WhyBehind(double rate, Measured measured, uint[] samples)
    {
        if (rate <= 0 || samples.Length < Blocks)
            return null;
        // Behind at the end by more than a twentieth of the time: it was falling back all along.
        var behind = samples[^1] / (double)measured.ElapsedNs;
        var kept = measured.Operations * 1e9 / measured.ElapsedNs;
        return behind > MostBehind
            ? string.Create(CultureInfo.InvariantCulture,
                $"it managed {kept:0} calls a second of the {rate:0} that were due, and was {samples[^1] / 1e6:0.0} ms behind in the end") : null;
    }

    private static string? WhyCompiling(string who, long? methods, Measured measured) =>
        methods > MostCompiled * Math.Max(1, measured.ElapsedNs / 1e9) ? $"the {who}'s runtime compiled {methods} methods while it was measured" : null;

    // A warm-up that shows another speed than what follows has warmed up something else.
    private static string? WhySlower(Warm warm, uint[] samples)
    {
        if (warm.P50Ns is not > 0 || samples.Length < Blocks)
            return null;
        var p50 = MedianOf(samples);
        return p50 > MostSlowerThanWarm * warm.P50Ns
            ? string.Create(CultureInfo.InvariantCulture,
                $"an operation took {warm.P50Ns:0} ns at the end of the warm-up and {p50:0} ns when it was measured") : null;
    }

    private static string? WhyDrifting(uint[] samples)
    {
        if (samples.Length < Blocks * LeastOfBlock)
            return null;
        var medians = Enumerable.Range(0, Blocks)
            .Select(i => MedianOf(samples[(int)((long)samples.Length * i / Blocks)..(int)((long)samples.Length * (i + 1) / Blocks)])).ToArray();
        var pairs = (from i in Enumerable.Range(0, Blocks) from j in Enumerable.Range(i + 1, Blocks - i - 1) select (First: i, Second: j)).ToList();
        var tau = pairs.Average(p => Math.Sign(medians[p.Second] - medians[p.First]));
        var slope = Medians.Of(pairs.Select(p => (medians[p.Second] - medians[p.First]) / (p.Second - p.First)))!.Value;
        var drift = slope * (Blocks - 1) / Medians.Of(medians)!.Value;
        return Math.Abs(tau) >= LeastTau && Math.Abs(drift) > MostDrift
            ? string.Create(CultureInfo.InvariantCulture,
                $"its operations became {Math.Abs(drift):P0} {(drift > 0 ? "slower" : "faster")} while it was measured") : null;
    }

    private static double MedianOf(uint[] samples)
    {
        uint[] sorted = [.. samples];
        Array.Sort(sorted);
        return Percentiles.At(sorted, 5000);
    }
}
