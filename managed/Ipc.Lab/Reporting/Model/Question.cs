using System.Globalization;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Model;

/// <summary>A row of the answer "what to use for what": one message between one pair; of objects, transport and codec are chosen together.</summary>
internal sealed record Question(string Pair, string Scenario, string Workload, bool Objects, Verdict Verdict)
{
    /// <summary>The message in words, e.g. "1.00 kB -> 10.0 kB call, objects".</summary>
    public string Title => $"{Names.Size(Scenario, Workload)} {Names.Scenario(Scenario)}{(Objects ? ", objects" : "")}";

    /// <summary>A candidate's name.</summary>
    public string NameOf(CellResult cell) => Objects ? $"{cell.Transport} + {cell.Codec}" : cell.Transport;

    /// <summary>What to use, in words.</summary>
    public string Answer => Verdict.IsMixed ? $"{Choice} (not all in one placement)" : Choice;

    private string Choice =>
        Verdict.Tied.Count == 1 ? NameOf(Verdict.Best)
        : $"{string.Join(", ", Verdict.Tied.Take(4).Select(NameOf))}{(Verdict.Tied.Count > 4 ? $" and {Verdict.Tied.Count - 4} more" : "")} "
            + (Verdict.IsCertain ? "(no difference)" : "(too few launches to tell)");

    /// <summary>The next best in words, or "".</summary>
    public string Next =>
        Verdict.Next is { } next ? $"{NameOf(next)}, {Units.Ratio(next.P50Ns / Verdict.Best.P50Ns)} x as long" : "";

    /// <summary>The questions that a machine's cells answer for a pair, in the order of <see cref="Names.Scenarios"/>. Cells of a fixed count repeat what
    /// somebody published; they answer nobody's question. Of workloads with the same message (64 and sweep-64) the one counts that was measured over most
    /// transports.</summary>
    public static IReadOnlyList<Question> Of(MachineReport machine, string pair) =>
        [.. OfEachWorkload(machine, pair).GroupBy(q => (q.Scenario, q.Objects, Names.Message(q.Workload))).Select(g => g.MaxBy(q => q.Verdict.Ranked.Count)!)];

    private static IEnumerable<Question> OfEachWorkload(MachineReport machine, string pair) =>
        from c in machine.Sound
        where !c.IsAlone && c.Result.Pair == pair && c.Result.Count is null
        group c.Result by (c.Result.Scenario, c.Result.Workload, Objects: Names.IsOfObjects(c.Result.Codec)) into cells
        orderby Names.RankOf(Names.Scenarios.Select(s => s.Id), cells.Key.Scenario), cells.Key.Objects, Names.BytesOf(cells.Key.Workload),
        Names.RankOf(Registry.Workloads.Select(w => w.Id), cells.Key.Workload)
        select new Question(pair, cells.Key.Scenario, cells.Key.Workload, cells.Key.Objects, Verdict.Of(cells)!);

    /// <summary>The pair a reader sees first: the one in the middle of the project if it was measured as often as others, else the commonest.</summary>
    public static string UsualPair(MachineReport machine)
    {
        var counts = machine.Sound.Where(c => !c.IsAlone).CountBy(c => c.Result.Pair).OrderByDescending(c => c.Value).ToList();
        return counts.Count == 0 ? "native:native"
            : ((string[])["native:managed", "native:native"])
                .FirstOrDefault(p => counts.Any(c => c.Key == p && c.Value * 2 >= counts[0].Value)) ?? counts[0].Key;
    }
}

/// <summary>Words for what the registry names by ids.</summary>
internal static class Names
{
    private static readonly string[] s_numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

    public static bool IsOfObjects(string codec) => Registry.Codecs.FirstOrDefault(c => c.Id == codec)?.Objects ?? false;

    public static bool IsStream(string scenario) => Registry.Scenarios.FirstOrDefault(s => s.Id == scenario)?.IsStream == true;

    public static bool IsOneWay(string scenario) => Registry.Scenarios.FirstOrDefault(s => s.Id == scenario)?.Receiver is not null;

    /// <summary>Bytes of one operation, both ways; 0 where the workload has no size of its own.</summary>
    public static long BytesOf(string workload) =>
        Choices.FindWorkload(workload) is { } entry ? entry.RequestBytes + (long)entry.ReplyBytes : 0;

    /// <summary>What is equal of workloads with the same message.</summary>
    public static object Message(string workload) => Choices.FindWorkload(workload) is { RequestBytes: > 0 } entry
        ? (entry.RequestBytes, entry.ReplyBytes, string.Join('|', entry.Text ?? []), entry.Bucket > 1 || entry.Group == "batch" ? entry.Bucket : 0, entry.Rate)
        : workload;

    public static int RankOf(IEnumerable<string> ids, string id) => ids.TakeWhile(i => i != id).Count();

    public static string Side(string id) => id switch
    {
        "native" => "C++",
        "managed" => "C#",
        "bound" => "C# over C library",
        "hosted" => "C# inside C++",
        "managed-netfx" => "C#, .NET Framework/Mono",
        "bound-netfx" => "C# over C library, .NET Framework/Mono",
        "managed-aot" => "C#, NativeAOT",
        "native-x86" => "C++, 32 bits",
        _ => id,
    };

    public static string Pair(string pair) => string.Join(" : ", pair.Split(':').Select(Side));

    /// <summary>All scenarios in the order in which people read them: the registry's, but those that differ in a number only (of calls in flight, clients
    /// or threads) by that number.</summary>
    public static IReadOnlyList<ScenarioEntry> Scenarios { get; } =
        [.. Registry.Scenarios.OrderBy(s => RankOf(Registry.Scenarios.Select(other => other.Id), FamilyOf(s))).ThenBy(s => (s.InFlight, s.Threads, s.Clients))];

    // The first in the registry of those that differ in a number only, which stands at the end of the others' names.
    private static string FamilyOf(ScenarioEntry scenario)
    {
        var family = scenario.Id.TrimEnd('0', '1', '2', '3', '4', '5', '6', '7', '8', '9').TrimEnd('-');
        return Registry.Scenarios.Any(s => s.Id == family) ? family : scenario.Id;
    }

    public static string Scenario(string id) => id switch
    {
        "handler" => "call, answered by a handler",
        "one-cpu" => "call, both on one CPU",
        "shuffled" => "call, data in random order",
        "in-order" => "call, data in the order of memory",
        "bitness" => "call, 32 and 64 bits",
        "startup" => "process start to first reply",
        "footprint" => "call, memory read",
        "idle" => "call, after an idle second",
        "reconnect" => "connect, call, close",
        "push" => "push, confirmed by a byte",
        "push-many" => "push, so many confirmed by a byte",
        "oneway" => "one-way",
        "oneway-batch" => "one-way, batches",
        "fanin" or "fanin-2" or "fanin-8" or "fanin-16" => $"{ClientsOf(id)} clients into one server",
        "fanin-threads" or "fanin-threads-1" or "fanin-threads-2" or "fanin-threads-8" or "fanin-threads-16" =>
            Registry.Scenarios.First(s => s.Id == id).Threads is var threads and > 1
                ? $"{NumberOf(threads)} threads of one client into one server"
                : "one thread of one client into one server",
        "broadcast" or "broadcast-1" or "broadcast-2" or "broadcast-10" => $"broadcast to {ClientsOf(id)}",
        "broadcast-slow" => $"broadcast to {ClientsOf(id)}, one of them slow",
        "broadcast-dead" => $"broadcast to {ClientsOf(id)}, one of them killed",
        "broadcast-last" or "broadcast-last-1" or "broadcast-last-2" or "broadcast-last-10" =>
            ClientsOf(id) is var clients and not "one" ? $"published to {clients}, until the last has it" : "published to one, until it has it",
        "pipelined" or "pipelined-1" or "pipelined-8" or "pipelined-256" =>
            InFlightCurve.InFlightOf(id) is var calls and > 1 ? string.Create(CultureInfo.InvariantCulture, $"{calls} calls in flight") : "one call in flight",
        "batch" => "in buckets",
        "paced" => "paced call",
        "serialize" => "codec alone",
        _ => id,
    };

    private static string ClientsOf(string scenario) => NumberOf(Registry.Scenarios.First(s => s.Id == scenario).Clients);

    private static string NumberOf(int count) => count < s_numbers.Length ? s_numbers[count] : count.ToString(CultureInfo.InvariantCulture);

    /// <summary>"1 kB -> 10 kB"; one-way "32 B"; with the bucket or the rate where there is one.</summary>
    public static string Size(string scenario, string workload) =>
        SizeAlone(scenario, workload) + Choices.FindWorkload(workload) switch
        {
            { Bucket: var bucket } entry when bucket > 1 || entry.Group == "batch" => $" x {bucket}",
            { Rate: > 0 and var rate } => $", {Units.RoundBytes(rate).TrimEnd('B').TrimEnd()}/s",
            _ => "",
        };

    private static string SizeAlone(string scenario, string workload) => Choices.FindWorkload(workload) switch
    {
        { Text: { } text } => string.Join(" -> ", text.Select(t => $"\"{t}\"")),
        { RequestBytes: > 0 } entry =>
            IsOneWay(scenario) ? Units.RoundBytes(entry.RequestBytes) : $"{Units.RoundBytes(entry.RequestBytes)} -> {Units.RoundBytes(entry.ReplyBytes)}",
        _ => workload,
    };
}
