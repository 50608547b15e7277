namespace Ipc.Lab.Planning;

/// <summary>Checks what the user names against the registry; every refusal says what there is.</summary>
internal static class Choices
{
    public static string Side(string id, IEnumerable<ForeignPeer> foreign) =>
        Check("side", id, Registry.Sides.Select(s => s.Id).Concat(foreign.Select(p => p.Side)));
    /// <summary>Null for a foreign peer's.</summary>
    public static SideEntry? SideEntry(string id) => Registry.Sides.FirstOrDefault(s => s.Id == id);
    public static string Codec(string id) => Check("codec", id, Registry.Codecs.Select(c => c.Id));
    public static CodecEntry CodecEntry(string id) => Registry.Codecs.First(c => c.Id == id);
    public static string Scenario(string id) => Check("scenario", id, Registry.Scenarios.Select(s => s.Id));
    public static string Workload(string id) => WorkloadEntry(id).Id;

    /// <summary>What a workload's name stands for: itself, or all of the group of that name.</summary>
    public static IEnumerable<string> Workloads(string name)
    {
        string[] group = [.. Registry.Workloads.Where(w => w.Group == name).Select(w => w.Id)];
        return group.Length > 0
            ? group
            : [FindWorkload(name)?.Id ?? throw NoWorkload(name, Registry.Workloads.Select(w => w.Group ?? w.Id).Distinct())];
    }

    public static string Pair(string text, IReadOnlyList<ForeignPeer> foreign)
    {
        var (server, client) = SidesOf(text);
        return $"{Side(server, foreign)}:{Side(client, foreign)}";
    }

    private static (string Server, string Client) SidesOf(string pair) =>
        pair.Split(':') is [{ Length: > 0 } server, { Length: > 0 } client]
            ? (server, client)
            : throw new UserMistakeException($"pair '{pair}' is not of the form server:client, e.g. native:managed");

    /// <summary>A cell that may come from a file: every word of it is one of the registry's.</summary>
    public static void Check(Cell cell, IReadOnlyList<ForeignPeer> foreign)
    {
        CheckWords(cell);
        Pair(cell.Pair, foreign);
    }

    /// <summary>The same, but for its sides, which may be anybody's peers.</summary>
    public static void CheckWords(Cell cell)
    {
        if (!cell.IsAlone)
            TransportSpec.Check(cell.Transport);
        SidesOf(cell.Pair);
        Codec(cell.Codec);
        Scenario(cell.Scenario);
        Workload(cell.Workload);
    }

    public static string Check(string kind, string id, IEnumerable<string> known)
    {
        var all = known.ToList();
        return all.Contains(id, StringComparer.Ordinal)
            ? id
            : throw NoSuch(kind, id, all);
    }

    /// <summary>The registry's workload of this id, or one of the user's own sizes (<see cref="OwnSizes"/>); null if there is neither.</summary>
    public static WorkloadEntry? FindWorkload(string id) => Registry.Workloads.FirstOrDefault(w => w.Id == id) ?? OwnSizes.Find(id);

    public static WorkloadEntry WorkloadEntry(string id) => FindWorkload(id) ?? throw NoWorkload(id, Registry.Workloads.Select(w => w.Id));
    public static ScenarioEntry ScenarioEntry(string id) => Registry.Scenarios.First(s => s.Id == id);

    /// <summary>Why a workload is not played with what was asked for.</summary>
    public static string WhyNotOf(WorkloadEntry workload, string kind, IEnumerable<string> asked, IEnumerable<string> played) =>
        $"workload '{workload.Id}' has no {kind} '{string.Join(", ", asked)}'; it takes {string.Join(", ", played)}";

    private static UserMistakeException NoWorkload(string id, IEnumerable<string> known) =>
        NoSuch("workload", id, known, $"; or sizes of your own: {OwnSizes.Form}");

    private static UserMistakeException NoSuch(string kind, string id, IEnumerable<string> known, string andMore = "") =>
        new($"there is no {kind} '{id}'; the {kind}s are {string.Join(", ", known)}{andMore}");
}
