using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Running;

/// <summary>The first line to a peer (docs/peer-protocol.md, "The cell").</summary>
internal sealed record PeerCell(
    string Role, string Side, string Address, string Codec, string Scenario, JsonNode Workload, long Seed, int? Cpu,
    double WarmupSeconds, double? Seconds, long? Count, string? Samples)
{
    /// <summary>Which of the clients this one is, from 0.</summary>
    public int Client { get; init; }
    public int Clients { get; init; } = 1;
    /// <summary>How long a warm-up may take when the process does not settle.</summary>
    public double SettleSeconds { get; init; }
    /// <summary>Messages of one sample, of one batch; null where the scenario has none.</summary>
    public int? Portion { get; init; }
    public int? Batch { get; init; }
    /// <summary>Sending threads of this client; null where it has one.</summary>
    public int? Threads { get; init; }
    /// <summary>Calls in flight at a time; null where the scenario has none.</summary>
    public int? InFlight { get; init; }
    /// <summary>How long this receiving client pauses after every hundred messages; null where it does not.</summary>
    public int? PauseUs { get; init; }
    /// <summary>Bytes of the messages that each process chooses from, and in which order; null where all exchanges have the same.</summary>
    public int? PoolBytes { get; init; }
    public string? Order { get; init; }

    /// <summary>The cell with what its scenario's registry entry says.</summary>
    public PeerCell With(ScenarioEntry scenario) => scenario.Receiver is null ? this : this with
    {
        Clients = scenario.ClientThreads,
        Threads = scenario.Threads > 1 ? scenario.Threads : null,
        Portion = scenario.Portion,
        Batch = scenario.Batch > 0 ? scenario.Batch : null,
    };
}

/// <summary>A further line to a peer.</summary>
internal sealed record PeerCommand(string Command)
{
    public static PeerCommand Go { get; } = new("go");
    public static PeerCommand Warm { get; } = new("warm");
    public static PeerCommand Runtime { get; } = new("runtime");
    public static PeerCommand Usage { get; } = new("usage");
}

/// <summary>What a process has used so far. Allocation and collections are null for native processes.</summary>
internal sealed record Usage(
    long? CpuNs, long? VoluntarySwitches, long? InvoluntarySwitches, long? MinorFaults, long? MajorFaults,
    long? MemoryBytes, long? AllocatedBytes, long? Collections, long? CompiledMethods = null)
{
    /// <summary>Both together; what one of them does not know is not known of both.</summary>
    public static Usage? Sum(Usage? a, Usage? b) => a is null || b is null ? null : new Usage(
        a.CpuNs + b.CpuNs, a.VoluntarySwitches + b.VoluntarySwitches, a.InvoluntarySwitches + b.InvoluntarySwitches, a.MinorFaults + b.MinorFaults,
        a.MajorFaults + b.MajorFaults, a.MemoryBytes + b.MemoryBytes, a.AllocatedBytes + b.AllocatedBytes, a.Collections + b.Collections,
        a.CompiledMethods + b.CompiledMethods);
}

/// <summary>A warm client. All but the first two may be missing.</summary>
internal sealed record Warm(long Operations, long ColdNs, bool? Settled = null, string? Unsettled = null, double? P50Ns = null, bool Again = false);

/// <summary>What a managed process says of its runtime.</summary>
internal sealed record RuntimeState(long? CompiledMethods);

/// <param name="SlowestByFastest">Of several sending threads in one process.</param>
internal sealed record Measured(long Operations, long ElapsedNs, long Bytes, Usage? UsageBefore, Usage? UsageAfter, double? SlowestByFastest = null);

/// <summary>What a receiver of one-way messages got in a stretch; the usages belong to the measured one.</summary>
internal sealed record Received(long Operations, long ElapsedNs, long Bytes, long Lost, Usage? UsageBefore, Usage? UsageAfter);

/// <summary>One line from a peer: its event and the whole object.</summary>
internal sealed record PeerEvent(string Name, JsonElement Body)
{
    private const int MostSettings = 100;

    /// <summary>Reads a line, or throws NOT_THE_PROTOCOL.</summary>
    public static PeerEvent Parse(string line, string who)
    {
        try
        {
            using var document = JsonDocument.Parse(line);
            if (document.RootElement.ValueKind == JsonValueKind.Object
                && document.RootElement.TryGetProperty("event", out var name) && name.ValueKind == JsonValueKind.String)
                return new PeerEvent(name.GetString()!, document.RootElement.Clone());
        }
        catch (JsonException)
        {
            // Said below, with the line itself.
        }
        throw new PeerFailure("NOT_THE_PROTOCOL", $"the {who} wrote '{Shorten(line)}' to standard output, where one JSON event per line belongs");
    }

    /// <summary>The body as a message, or throws NOT_THE_PROTOCOL.</summary>
    public T As<T>(string who)
    {
        try
        {
            return Body.Deserialize<T>(LabJson.Line)!;
        }
        catch (JsonException)
        {
            throw new PeerFailure("NOT_THE_PROTOCOL", $"the {who}'s event '{Name}' is not as docs/peer-protocol.md has it: '{Shorten(Body.GetRawText())}'");
        }
    }

    /// <summary>Every number of the body by its name; null where the peer has none.</summary>
    public Dictionary<string, double?> Numbers() =>
        Body.EnumerateObject()
            .Where(p => p.Value.ValueKind is JsonValueKind.Number or JsonValueKind.Null)
            .ToDictionary(p => p.Name, p => p.Value.ValueKind == JsonValueKind.Number ? p.Value.GetDouble() : (double?)null);

    /// <summary>A text field, or null.</summary>
    public string? Text(string field) =>
        Body.TryGetProperty(field, out var value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    public PeerEnvironment ToEnvironment() => new(Text("runtime"), Text("compiler"), Text("build"), Text("library"))
    {
        Settings = Body.TryGetProperty("settings", out var settings) && settings.ValueKind == JsonValueKind.Object
            ? settings.EnumerateObject().Take(MostSettings).ToDictionary(p => p.Name, p => p.Value.ToString()) : null,
    };

    private static string Shorten(string line)
    {
        var visible = string.Concat(line.Take(120).Select(c => char.IsControl(c) ? ' ' : c));
        return line.Length > 120 ? visible + " ..." : visible;
    }
}
