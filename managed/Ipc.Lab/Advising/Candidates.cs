using Ipc.Lab.Planning;
using Ipc.Lab.Running;

namespace Ipc.Lab.Advising;

/// <summary>A transport, with options, that does what is needed.</summary>
/// <param name="Why">Why with these options; null for none.</param>
internal sealed record Candidate(string Spec, string? Why);

/// <summary>A transport that does not, and why.</summary>
internal sealed record Excluded(string Transport, string Why);

/// <summary>Sorts the registry's transports by what is needed; what they can, the registry says.</summary>
internal static class Candidates
{
    public static (IReadOnlyList<Candidate> Fit, IReadOnlyList<Excluded> Not) Of(Need need, Programs programs)
    {
        var fit = new List<Candidate>();
        var not = new List<Excluded>();
        foreach (var transport in Registry.Transports)
        {
            if (WhyNot(need, transport, programs) is { } why)
                not.Add(new Excluded(transport.Id, why));
            else
                fit.AddRange(SpecsOf(need, transport));
        }
        return (fit, not);
    }

    private static string? WhyNot(Need need, TransportEntry transport, Programs programs)
    {
        var scene = Choices.ScenarioEntry(need.Scenario);
        if (!scene.Kinds.Contains(transport.Kind))
            return $"its kind is {transport.Kind}; pattern '{need.Pattern}' needs {string.Join(" or ", scene.Kinds)}";
        string[] platforms = need.Platform == "both" ? ["linux", "windows"] : [need.Platform];
        foreach (var (platform, side) in from p in platforms from s in (string[])[need.Server, need.Client] select (p, s))
        {
            if (Registry.WhyNotAvailable(transport.Id, side, platform) is { Length: > 0 } missing)
                return missing;
        }
        if (need.Network && !transport.Network)
            return "it works within one machine only, and the ends may be on two";
        if (need.Network && need.KeepOut)
            return "over a network users cannot be told apart (users=any), and other users must be kept out";
        if ((need.KeepOut || need.SurviveCrash) && !transport.Hardened)
            return "its library trusts the contents of shared memory, so a process that misbehaves or dies can harm the other";
        if (Math.Max(need.RequestBytes, need.ReplyBytes) > LargestOf(transport))
            return $"its messages are at most {transport.LargestMessage} long";
        return Planner.WhySkipped(new Cell(transport.Id, need.Pair, "raw", need.Scenario, need.Workload.Id), null, programs);
    }

    private static List<Candidate> SpecsOf(Need need, TransportEntry transport)
    {
        if (transport.Options.FirstOrDefault(o => o.Name == "wait") is not { Choices: { } choices } wait)
            return [new Candidate(transport.Id, null)];
        var specs = new List<Candidate>
        {
            need.Sleeps && wait.Default == "adaptive"
                ? new Candidate($"{transport.Id}?wait=block", "at this rate a receiver sleeps between two messages, so spinning first would only cost time")
                : new Candidate(transport.Id, null),
        };
        if (need.SpareCore && choices.Split(',').Contains("spin"))
            specs.Add(new Candidate($"{transport.Id}?wait=spin", "a processor may be kept busy"));
        return specs;
    }

    private static double LargestOf(TransportEntry transport)
    {
        var unit = transport.LargestMessage[^1] switch { 'G' => 1L << 30, 'M' => 1L << 20, 'k' => 1L << 10, _ => 1 };
        var digits = unit == 1 ? transport.LargestMessage : transport.LargestMessage[..^1];
        return double.Parse(digits, System.Globalization.CultureInfo.InvariantCulture) * unit;
    }
}
