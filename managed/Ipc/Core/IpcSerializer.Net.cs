using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Ipc;

/// <summary>Turns objects into bytes and back: what a typed call is made of. Any threads at once.</summary>
public interface IIpcSerializer
{
    /// <summary>Writes an object's bytes.</summary>
    void Serialize<T>(T value, IBufferWriter<byte> bytes);

    /// <summary>Makes an object of all the bytes. What a peer sent is not to be trusted: throws for what is none.</summary>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}

/// <summary>JSON in UTF-8 by System.Text.Json.</summary>
public sealed class JsonIpcSerializer : IIpcSerializer
{
    private readonly JsonSerializerOptions _options;

    /// <summary>With the types of a source-generated context, which trimmed and ahead-of-time compiled programs need.</summary>
    public JsonIpcSerializer(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = context.Options;
    }

    private JsonIpcSerializer(JsonSerializerOptions options) => _options = options;

    /// <summary>With any types, which are looked at as the program runs.</summary>
    [RequiresUnreferencedCode("Types are looked at as the program runs; give a JsonSerializerContext where programs are trimmed.")]
    [RequiresDynamicCode("Types are looked at as the program runs; give a JsonSerializerContext where programs are compiled ahead of time.")]
    public static JsonIpcSerializer ByReflection(JsonSerializerOptions? options = null)
    {
        options = options is null ? new JsonSerializerOptions(JsonSerializerDefaults.Web) : new JsonSerializerOptions(options);
        options.TypeInfoResolver ??= new DefaultJsonTypeInfoResolver();
        return new JsonIpcSerializer(options);
    }

    /// <inheritdoc/>
    public void Serialize<T>(T value, IBufferWriter<byte> bytes)
    {
        using var writer = new Utf8JsonWriter(bytes);
        JsonSerializer.Serialize(writer, value, (JsonTypeInfo<T>)_options.GetTypeInfo(typeof(T)));
    }

    /// <inheritdoc/>
    public T Deserialize<T>(ReadOnlySpan<byte> bytes) => JsonSerializer.Deserialize(bytes, (JsonTypeInfo<T>)_options.GetTypeInfo(typeof(T)))!;
}

/// <summary>The server's end of typed calls.</summary>
public static class IpcSerializerExtensions
{
    /// <summary>A handler of requests made of one of objects: for <see cref="IpcChannel.ServeAsync(AsyncRequestHandler, Action{Exception}, CancellationToken)"/>.</summary>
    /// <param name="serializer">The same as the client's.</param>
    /// <param name="handler">Answers one request.</param>
    public static AsyncRequestHandler Handler<TRequest, TReply>(this IIpcSerializer serializer, Func<TRequest, CancellationToken, ValueTask<TReply>> handler) =>
        async (request, reply, cancellationToken) =>
            serializer.Serialize(await handler(serializer.Deserialize<TRequest>(request.Span), cancellationToken).ConfigureAwait(false), reply);
}
