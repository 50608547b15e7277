using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Running;

/// <summary>The first line to a peer (docs/peer-protocol.md, "The cell").</summary>
internal sealed record PeerCell(
    string Role, string Side, string Address, string Codec, string Scenario, JsonNode Workload, long Seed, int? Cpu,
    double WarmupSeconds, double? Seconds, long? Count, string? Samples);

/// <summary>A further line to a peer.</summary>
internal sealed record PeerCommand(string Command)
{
    public static PeerCommand Go { get; } = new("go");
    public static PeerCommand Usage { get; } = new("usage");
}

/// <summary>What a process has used so far. Allocation and collections are null for native processes.</summary>
internal sealed record Usage(
    long? CpuNs, long? VoluntarySwitches, long? InvoluntarySwitches, long? MinorFaults, long? MajorFaults,
    long? MemoryBytes, long? AllocatedBytes, long? Collections);

internal sealed record Warm(long Operations, long ColdNs);

internal sealed record Measured(long Operations, long ElapsedNs, long Bytes, Usage? UsageBefore, Usage? UsageAfter);

/// <summary>One line from a peer: its event and the whole object.</summary>
internal sealed record PeerEvent(string Name, JsonElement Body)
{
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

    public PeerEnvironment ToEnvironment() => new(Text("runtime"), Text("compiler"), Text("build"), Text("library"));

    private static string Shorten(string line)
    {
        var visible = string.Concat(line.Take(120).Select(c => char.IsControl(c) ? ' ' : c));
        return line.Length > 120 ? visible + " ..." : visible;
    }
}
