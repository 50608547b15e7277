using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Ipc;

/// <summary>Converts objects to bytes and back, for typed calls. Any number of threads may use one at once. For .NET 10.</summary>
public interface IIpcSerializer
{
    /// <summary>Writes the bytes of an object.</summary>
    /// <param name="value">The object.</param>
    /// <param name="bytes">Takes the bytes.</param>
    void Serialize<T>(T value, IBufferWriter<byte> bytes);

    /// <summary>Makes an object of all the bytes. Do not trust them: a peer sent them. Throw if they are not an object of this type.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <returns>The object.</returns>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}

/// <summary>Converts objects to JSON in UTF-8 and back, by System.Text.Json. For .NET 10.</summary>
public sealed class JsonIpcSerializer : IIpcSerializer
{
    private readonly JsonSerializerOptions _options;

    /// <summary>Creates a serializer for the types of a source-generated context, as trimmed and ahead-of-time compiled programs need it.</summary>
    /// <param name="context">The context, for example <c>MyTypes.Default</c>.</param>
    /// <exception cref="ArgumentNullException">The context is null.</exception>
    public JsonIpcSerializer(JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        _options = context.Options;
    }

    private JsonIpcSerializer(JsonSerializerOptions options) => _options = options;

    /// <summary>Creates a serializer for any types, which it inspects at run time.</summary>
    /// <param name="options">The options; by default those for the web.</param>
    /// <returns>The serializer.</returns>
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

/// <summary>The server's end of typed calls. For .NET 10.</summary>
public static class IpcSerializerExtensions
{
    private const int FirstBuffer = 1024, LargestKeptBuffer = 1 << 20;

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? t_reply; // null while a handler of this thread has it

    /// <summary>Makes a handler of requests from a function of objects, for <see cref="IpcServer"/> and
    /// <see cref="IpcChannel.Serve(RequestHandler, Action{Exception})"/>.</summary>
    /// <param name="serializer">The serializer; the client uses the same.</param>
    /// <param name="handler">Answers one request, on the thread that received it. Several threads may be in it at once.</param>
    /// <returns>The handler. It throws what the serializer and <paramref name="handler"/> throw, which fails the call at the client.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static RequestHandler Handler<TRequest, TReply>(this IIpcSerializer serializer, Func<TRequest, TReply> handler)
    {
        ArgumentNullException.ThrowIfNull(serializer);
        ArgumentNullException.ThrowIfNull(handler);
        return (request, reply) =>
        {
            var answer = handler(serializer.Deserialize<TRequest>(request));
            // How long the reply is has to be known before there is room for it.
            var bytes = t_reply ?? new ArrayBufferWriter<byte>(FirstBuffer);
            t_reply = null;
            try
            {
                serializer.Serialize(answer, bytes);
                bytes.WrittenSpan.CopyTo(reply.Reserve(bytes.WrittenCount));
            }
            finally
            {
                bytes.ResetWrittenCount();
                if (bytes.Capacity <= LargestKeptBuffer)
                    t_reply = bytes;
            }
        };
    }

    /// <summary>Makes a handler of requests from an asynchronous function of objects, for
    /// <see cref="IpcChannel.ServeAsync(AsyncRequestHandler, Action{Exception}, CancellationToken)"/>
    /// and hosted servers.</summary>
    /// <param name="serializer">The serializer; the client uses the same.</param>
    /// <param name="handler">Answers one request.</param>
    /// <returns>The handler. It throws what the serializer and <paramref name="handler"/> throw, which fails the call at the client.</returns>
    public static AsyncRequestHandler Handler<TRequest, TReply>(this IIpcSerializer serializer, Func<TRequest, CancellationToken, ValueTask<TReply>> handler) =>
        async (request, reply, cancellationToken) =>
            serializer.Serialize(await handler(serializer.Deserialize<TRequest>(request.Span), cancellationToken).ConfigureAwait(false), reply);
}
