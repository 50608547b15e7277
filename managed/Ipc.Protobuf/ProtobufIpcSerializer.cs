using System.Buffers;
using System.Collections.Frozen;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Ipc;

/// <summary>Converts the messages that protoc generates to the binary form of Protocol Buffers and back.</summary>
/// <remarks>Nothing is looked up by reflection, so trimmed and ahead-of-time compiled programs may use it. Messages may be nested 100 deep, which is
/// the limit of Google.Protobuf.</remarks>
public sealed class ProtobufIpcSerializer : IIpcSerializer
{
    private readonly FrozenDictionary<Type, MessageParser> _parsers;

    /// <summary>Creates a serializer for all messages of some .proto files and of the files that they import.</summary>
    /// <param name="files">The descriptors, for a file prices.proto <c>PricesReflection.Descriptor</c>.</param>
    /// <exception cref="ArgumentNullException">The array or one of the descriptors is null.</exception>
    /// <exception cref="ArgumentException">No descriptor is given.</exception>
    public ProtobufIpcSerializer(params FileDescriptor[] files)
    {
        ArgumentNullException.ThrowIfNull(files);
        if (files.Length == 0)
            throw new ArgumentException("a serializer needs at least one .proto file: give its descriptor, such as PricesReflection.Descriptor", nameof(files));
        var parsers = new Dictionary<Type, MessageParser>();
        var seen = new HashSet<FileDescriptor>();
        foreach (var file in files)
        {
            ArgumentNullException.ThrowIfNull(file, nameof(files));
            AddFile(file, parsers, seen);
        }
        _parsers = parsers.ToFrozenDictionary();
    }

    private static void AddFile(FileDescriptor file, Dictionary<Type, MessageParser> parsers, HashSet<FileDescriptor> seen)
    {
        if (!seen.Add(file))
            return;
        AddMessages(file.MessageTypes, parsers);
        foreach (var imported in file.Dependencies)
            AddFile(imported, parsers, seen);
    }

    private static void AddMessages(IEnumerable<MessageDescriptor> messages, Dictionary<Type, MessageParser> parsers)
    {
        foreach (var message in messages)
        {
            // The entries of a map have a descriptor and no class.
            if (message.ClrType is { } type)
                parsers[type] = message.Parser;
            AddMessages(message.NestedTypes, parsers);
        }
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentNullException">The message or <paramref name="bytes"/> is null.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not a message of the files that the serializer was made for.</exception>
    public void Serialize<T>(T value, IBufferWriter<byte> bytes)
    {
        ArgumentNullException.ThrowIfNull(value);
        ArgumentNullException.ThrowIfNull(bytes);
        ParserOf<T>(); // The reader of the bytes would refuse the type, and with less to go by.
        ((IMessage)value).WriteTo(bytes);
    }

    /// <inheritdoc/>
    /// <exception cref="IpcException">The bytes are not such a message (<see cref="IpcStatus.NotOurProtocol"/>). The channel stays usable.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> is not a message of the files that the serializer was made for.</exception>
    public T Deserialize<T>(ReadOnlySpan<byte> bytes)
    {
        var parser = ParserOf<T>();
        try
        {
            return (T)parser.ParseFrom(bytes);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the peer's {bytes.Length} bytes do not read as message {typeof(T).Name} in Protocol Buffers; do both ends use the same? {e.Message}", e);
        }
    }

    private MessageParser ParserOf<T>() => _parsers.TryGetValue(typeof(T), out var parser) ? parser : throw new NotSupportedException(
        $"{typeof(T)} is not a message that this serializer was made for: give {nameof(ProtobufIpcSerializer)} the descriptor of its .proto file");
}
