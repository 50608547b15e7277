using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using MemoryPack;

namespace Ipc;

/// <summary>Converts objects to the bytes of MemoryPack and back: types marked <c>[MemoryPackable]</c>, and those that MemoryPack has built in.</summary>
/// <remarks>
/// <para>A program that is trimmed or compiled ahead of time names each marked type once, by <see cref="Register{T}"/>.</para>
/// <para>MemoryPack reads objects nested to any depth. With a type that contains itself, directly or through others, a hostile peer can end the process by
/// a stack overflow.</para>
/// </remarks>
public sealed class MemoryPackIpcSerializer : IIpcSerializer
{
    private readonly MemoryPackSerializerOptions _options;

    /// <summary>Creates a serializer.</summary>
    /// <param name="options">MemoryPack's options; by default strings are in UTF-8. Both ends need the same.</param>
    public MemoryPackIpcSerializer(MemoryPackSerializerOptions? options = null) => _options = options ?? MemoryPackSerializerOptions.Default;

    /// <summary>Makes a type known to MemoryPack, which otherwise finds it by reflection at its first use. For programs that are trimmed or compiled
    /// ahead of time.</summary>
    /// <returns>This serializer.</returns>
    public MemoryPackIpcSerializer Register<T>() where T : IMemoryPackFormatterRegister
    {
        MemoryPackFormatterProvider.Register<T>();
        return this;
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException"><paramref name="bytes"/> is null.</exception>
    /// <exception cref="MemoryPackSerializationException">The type is not one that MemoryPack can write.</exception>
    public void Serialize<T>(T value, IBufferWriter<byte> bytes)
    {
        ArgumentNullException.ThrowIfNull(bytes);
        MemoryPackSerializer.Serialize(bytes, value, _options);
    }

    /// <inheritdoc/>
    /// <exception cref="IpcException">The bytes are not such an object (<see cref="IpcStatus.NotOurProtocol"/>). The channel stays usable.</exception>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = "Members are only looked for in types that nobody has registered; " +
        "where trimming has removed them, MemoryPack says that the type is not registered.")]
    public T Deserialize<T>(ReadOnlySpan<byte> bytes)
    {
        T? value = default;
        int used;
        try
        {
            used = MemoryPackSerializer.Deserialize(bytes, ref value, _options);
        }
        // Not only MemoryPack's own: bytes decide what constructors and collections are given, such as a key that comes twice.
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the peer's {bytes.Length} bytes do not read as type {typeof(T).Name} in MemoryPack; do both ends declare the same members? {e.Message}", e);
        }
        if (used != bytes.Length)
        {
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the peer sent {bytes.Length} bytes, of which type {typeof(T).Name} takes {used} in MemoryPack; do both ends declare the same members?");
        }
        return value!;
    }
}
