using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Ipc.Codecs;

/// <summary>System.Text.Json, compiled ahead (source generation); docs/wire-formats.md "JSON codec".</summary>
public readonly struct JsonCodec<TStrings, TContainer> : ICodec<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    private static readonly JsonTypeInfo<Request<TStrings>> s_request = JsonText.TypeOf<Request<TStrings>>(ObjectsJson.Default);
    private static readonly JsonTypeInfo<Reply<TStrings>> s_reply = JsonText.TypeOf<Reply<TStrings>>(ObjectsJson.Default);

    /// <inheritdoc/>
    public void EncodeRequest(Request<TStrings> request, MessageBuffer buffer) => JsonText.Encode(request, s_request, buffer);

    /// <inheritdoc/>
    public void EncodeReply(Reply<TStrings> reply, MessageBuffer buffer) => JsonText.Encode(reply, s_reply, buffer);

    /// <inheritdoc/>
    public Request<TStrings> DecodeRequest(ReadOnlySpan<byte> bytes)
    {
        var request = JsonText.Decode(bytes, s_request, "request");
        RefuseNulls(request.Ids, "request", "ids");
        RefuseNulls(request.Fields, "request", "fields");
        return request;
    }

    /// <inheritdoc/>
    public Reply<TStrings> DecodeReply(ReadOnlySpan<byte> bytes)
    {
        var reply = JsonText.Decode(bytes, s_reply, "reply");
        RefuseNulls(reply.Cells, "reply", "cells");
        return reply;
    }

    // The deserializer refuses null where a text belongs, but neither in place of a container, whose type it knows only as a type
    // parameter, nor among the texts inside.
    private static void RefuseNulls(TStrings? strings, string what, string field)
    {
        var search = new NullSearch();
        if (strings is not null)
            default(TContainer).Visit(strings, ref search);
        if (strings is null || search.Found)
            throw new CodecException($"the JSON {what} has null for or among its {field}: check that the peer sends texts");
    }

    private struct NullSearch : IStringVisitor
    {
        public bool Found { get; private set; }

        public void Visit(string? text) => Found |= text is null;
    }
}

/// <summary>Objects to JSON bytes and back, for any type a source-generated context knows.</summary>
public static class JsonText
{
    private static readonly JsonWriterOptions s_options = new() { Encoder = LeastEscapes.Instance, SkipValidation = true };

    // A writer is an object of its own size; one per thread serves all messages.
    [ThreadStatic]
    private static Utf8JsonWriter? t_writer;

    /// <summary>How a context reads and writes a type.</summary>
    public static JsonTypeInfo<T> TypeOf<T>(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return context.GetTypeInfo(typeof(T)) as JsonTypeInfo<T>
            ?? throw new NotSupportedException($"{typeof(T)} has no JSON form: add it to {context.GetType().Name}");
    }

    /// <summary>Appends a value's JSON: no white space, nothing escaped that need not be.</summary>
    public static void Encode<T>(T value, JsonTypeInfo<T> type, MessageBuffer buffer)
    {
        ArgumentNullException.ThrowIfNull(type);
        var writer = t_writer ??= new Utf8JsonWriter(buffer, s_options);
        writer.Reset(buffer);
        try
        {
            JsonSerializer.Serialize(writer, value, type);
        }
        catch (ArgumentException e)
        {
            throw new CodecException($"a text cannot be written as JSON: correct the text ({e.Message})", e);
        }
        writer.Flush();
    }

    /// <summary>A value from its JSON; <paramref name="what"/> names it in the error message of the <see cref="CodecException"/>.</summary>
    public static T Decode<T>(ReadOnlySpan<byte> bytes, JsonTypeInfo<T> type, string what) where T : class
    {
        try
        {
            return JsonSerializer.Deserialize(bytes, type)
                ?? throw new CodecException($"the JSON {what} is null: check that the peer sends it with codec json");
        }
        catch (JsonException e)
        {
            throw new CodecException($"the JSON {what} cannot be decoded: check that the peer sends it with codec json ({e.Message})", e);
        }
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, RespectNullableAnnotations = true)]
[JsonSerializable(typeof(Request), TypeInfoPropertyName = "RequestWithArrays")]
[JsonSerializable(typeof(Reply), TypeInfoPropertyName = "ReplyWithArrays")]
[JsonSerializable(typeof(Request<LinkedList<string>>), TypeInfoPropertyName = "RequestWithLists")]
[JsonSerializable(typeof(Reply<LinkedList<string>>), TypeInfoPropertyName = "ReplyWithLists")]
internal sealed partial class ObjectsJson : JsonSerializerContext;
