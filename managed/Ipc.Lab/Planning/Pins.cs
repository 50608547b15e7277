using System.Globalization;
using System.Text.Json.Serialization;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Planning;

/// <summary>The CPUs the two processes are pinned to, or null for both when they are not.</summary>
internal sealed record Pins(int? Server, int? Client)
{
    public static Pins None { get; } = new(null, null);

    /// <summary>Where further clients go, in turns, in scenarios with several; empty: all to the one client's CPU.</summary>
    public IReadOnlyList<int> MoreClients { get; init; } = [];

    /// <summary>Whether both processes take turns on one CPU.</summary>
    [JsonIgnore]
    public bool AreOne => Server is not null && Server == Client;

    /// <summary>The CPU of one of several clients.</summary>
    public int? ForClient(int client)
    {
        var turn = client % (MoreClients.Count + 1);
        return turn == 0 ? Client : MoreClients[turn - 1];
    }

    /// <summary>The pins of a scenario's processes: one CPU for both where that is what it is about.</summary>
    public Pins For(ScenarioEntry scenario) => scenario.OneCpu ? new Pins(Server, Server) : this;

    /// <summary>Reads <c>server,client</c> or <c>none</c>; without a wish, picks two cores that share no core, as far as the machine has them.</summary>
    public static Pins Choose(string? wish, CpuTopology topology)
    {
        if (wish is null)
            return Default(topology);
        if (wish == "none")
            return None;
        var parts = wish.Split(',');
        if (parts.Length != 2 || !TryCpu(parts[0], out var server) || !TryCpu(parts[1], out var client))
            throw new UserMistakeException($"--pin '{wish}' is neither two CPU numbers such as 0,1 nor none");
        foreach (var cpu in (int[])[server, client])
        {
            if (!topology.Allowed.Contains(cpu))
                throw new UserMistakeException($"CPU {cpu} of --pin '{wish}' cannot be used; this process may run on {string.Join(", ", topology.Allowed)}");
        }
        return new Pins(server, client);
    }

    /// <summary>The pins as `--pin` takes them.</summary>
    public override string ToString() => Server is null ? "none" : $"{Server},{Client}";

    /// <summary>The pins for people, with what spoils them, and whether idle processors are kept from halting.</summary>
    public string Describe(bool awake = false) =>
        (Server is null ? "not pinned"
        : AreOne ? $"server and client both on CPU {Server}: they take turns, so spinning transports cannot be judged"
        : $"server on CPU {Server}, client on CPU {Client}")
        + (awake ? ", idle processors kept awake" : "");

    private static Pins Default(CpuTopology topology)
    {
        if (topology.Allowed.Count == 0)
            return None;
        var first = topology.Allowed[0];
        var other = topology.Allowed.Skip(1).Where(cpu => !topology.ShareACore(first, cpu)).Concat(topology.Allowed.Skip(1)).FirstOrDefault(first);
        int[] more = [.. topology.Allowed.Where(cpu => cpu != first && cpu != other)];
        return new Pins(first, other) { MoreClients = more };
    }

    private static bool TryCpu(string text, out int cpu) => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out cpu);
}
