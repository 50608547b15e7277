using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Running;

/// <summary>One launch of one cell, ready to run.</summary>
/// <param name="Name">Unique name of the launch; addresses are made of it.</param>
/// <param name="Samples">Where the client writes its raw samples.</param>
internal sealed record LaunchTask(
    Cell Cell, JsonNode Workload, string Name, long Seed, Pins Pins, LaunchTiming Timing, string Samples)
{
    /// <summary>The first line to a peer of this launch.</summary>
    public PeerCell ToPeerCell(string role, string side, int? cpu, string address) => new(
        role, side, address, Cell.Codec, Cell.Scene.PlayedAs, Workload.DeepClone(), Seed, cpu, Timing.WarmupSeconds,
        Cell.Count is null ? Timing.Seconds : null, Cell.Count, role == "server" ? null : Samples)
    {
        SettleSeconds = Timing.SettleSeconds,
        InFlight = Cell.Scene.InFlight > 0 ? Cell.Scene.InFlight : null,
        PoolBytes = Cell.Scene.PoolBytes > 0 ? Cell.Scene.PoolBytes : null,
        Order = Cell.Scene.Order,
    };

    /// <summary>The first line to the server of a one-way launch.</summary>
    public PeerCell ToOneWayServer(ScenarioEntry scenario, string address) =>
        ToPeerCell("server", Cell.ServerSide, Pins.Server, address).With(scenario) with { Samples = scenario.Receiver == "server" ? Samples : null };

    /// <summary>The first line to one of its clients.</summary>
    public PeerCell ToOneWayClient(ScenarioEntry scenario, string address, int client) =>
        ToPeerCell("client", Cell.ClientSide, Pins.ForClient(client), address).With(scenario) with
        {
            Client = client,
            Samples = scenario.Receiver == "client" ? SamplesOf(client) : null,
            PauseUs = scenario.SlowClientPauseUs > 0 && client == scenario.Clients - 1 ? scenario.SlowClientPauseUs : null,
        };

    /// <summary>Where one of several measuring clients writes its samples.</summary>
    public string SamplesOf(int client) => $"{Samples}.{client}";
}

/// <summary>Workload objects as peers get them.</summary>
internal static class PeerWorkloads
{
    /// <summary>The object of a workload as it stands in the registry, with the user's table put in if it has one; of sizes of the user's own, one like
    /// it.</summary>
    public static JsonNode Of(string id, TableEntry? table)
    {
        var all = JsonNode.Parse(Registry.Json)!["workloads"]!.AsArray();
        var workload = all.FirstOrDefault(w => (string?)w!["id"] == id)?.DeepClone() ?? OfOwnSizes(Choices.WorkloadEntry(id));
        if (table is not null && workload["table"] is not null)
            workload["table"] = JsonSerializer.SerializeToNode(table, LabJson.Line);
        return workload;
    }

    private static JsonObject OfOwnSizes(WorkloadEntry workload) => new()
    {
        ["id"] = workload.Id,
        ["request_bytes"] = workload.RequestBytes,
        ["reply_bytes"] = workload.ReplyBytes,
        ["scenarios"] = JsonSerializer.SerializeToNode(workload.Scenarios, LabJson.Line),
        ["codecs"] = JsonSerializer.SerializeToNode(workload.Codecs, LabJson.Line),
    };
}
