using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>The object of workload `ping`, both ways.</summary>
internal sealed class TextMessage : ISequenced
{
    public required ulong Sequence { get; set; }
    public required string Text { get; set; }
}

/// <summary>`{"sequence":1,"text":"ping"}`.</summary>
internal readonly struct TextJsonCodec : ICodec<TextMessage, TextMessage>
{
    private static JsonTypeInfo<TextMessage> Type => TextJson.Default.TextMessage;

    public void EncodeRequest(TextMessage request, MessageBuffer buffer) => JsonText.Encode(request, Type, buffer);
    public void EncodeReply(TextMessage reply, MessageBuffer buffer) => JsonText.Encode(reply, Type, buffer);
    public TextMessage DecodeRequest(ReadOnlySpan<byte> bytes) => JsonText.Decode(bytes, Type, "request");
    public TextMessage DecodeReply(ReadOnlySpan<byte> bytes) => JsonText.Decode(bytes, Type, "reply");
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, RespectNullableAnnotations = true)]
[JsonSerializable(typeof(TextMessage))]
internal sealed partial class TextJson : JsonSerializerContext;
