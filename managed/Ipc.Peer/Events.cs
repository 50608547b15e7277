using System.Text.Json.Serialization;

namespace Ipc.Peer;

// The lines this process writes, docs/peer-protocol.md "Events". Property names become snake_case.

internal abstract record PeerEvent([property: JsonPropertyOrder(-1)] string Event);

internal sealed record EnvironmentEvent(string Runtime, string Compiler, string Build, string Library, IReadOnlyDictionary<string, string> Settings)
    : PeerEvent("environment");

internal sealed record ReadyEvent(string Address) : PeerEvent("ready");

/// <param name="Settled">Whether times and runtime had come to rest; null where that is not looked at.</param>
/// <param name="Unsettled">Why not.</param>
/// <param name="P50Ns">Median of the last moments of the warm-up.</param>
/// <param name="Again">Whether the command `warm` makes it go on.</param>
internal sealed record WarmEvent(long Operations, long ColdNs, bool? Settled = null, string? Unsettled = null, long? P50Ns = null, bool Again = false)
    : PeerEvent("warm");

internal sealed record MeasuredEvent(
    long Operations, long ElapsedNs, long Bytes, Usage? UsageBefore, Usage? UsageAfter, double? SlowestByFastest = null) : PeerEvent("measured");

/// <summary>What a receiver of one-way messages got in a stretch; usages belong to the measured one.</summary>
internal sealed record ReceivedEvent(long Operations, long ElapsedNs, long Bytes, long Lost, Usage? UsageBefore, Usage? UsageAfter)
    : PeerEvent("received");

internal sealed record ServedEvent(long Operations) : PeerEvent("served");

internal sealed record FailedEvent(string Status, string Reason) : PeerEvent("failed");

/// <summary>The same fields as inside `measured`, as an event of their own.</summary>
internal sealed record UsageEvent(Usage Usage) : Usage(Usage)
{
    [JsonPropertyOrder(-1)]
    public string Event { get; } = "usage";

    [JsonIgnore]
    public Usage Usage { get; } = Usage;
}

/// <summary>Median nanoseconds of each step for request plus reply: hot and cold cache, arrays and linked lists.</summary>
internal sealed record PhasesEvent(
    long BuildNs, long TranslateNs, long EncodeNs, long DecodeNs, long TraverseNs, long? ViewNs, long CopyNs, long RequestBytes, long ReplyBytes,
    long ColdBuildNs, long ColdTranslateNs, long ColdEncodeNs, long ColdDecodeNs, long ColdTraverseNs,
    long? ColdViewNs, long ColdCopyNs,
    long? LinkedBuildNs, long? LinkedTranslateNs, long? LinkedEncodeNs, long? LinkedDecodeNs, long? LinkedTraverseNs,
    long? LinkedViewNs, long? LinkedCopyNs,
    long? LinkedColdBuildNs, long? LinkedColdTranslateNs, long? LinkedColdEncodeNs, long? LinkedColdDecodeNs, long? LinkedColdTraverseNs,
    long? LinkedColdViewNs, long? LinkedColdCopyNs,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] long? FreshDecodeNs,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] long? ReusedDecodeNs)
    : PeerEvent("phases");

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, GenerationMode = JsonSourceGenerationMode.Serialization)]
[JsonSerializable(typeof(EnvironmentEvent))]
[JsonSerializable(typeof(ReadyEvent))]
[JsonSerializable(typeof(WarmEvent))]
[JsonSerializable(typeof(MeasuredEvent))]
[JsonSerializable(typeof(ReceivedEvent))]
[JsonSerializable(typeof(ServedEvent))]
[JsonSerializable(typeof(FailedEvent))]
[JsonSerializable(typeof(UsageEvent))]
[JsonSerializable(typeof(PhasesEvent))]
internal sealed partial class EventJson : JsonSerializerContext;
