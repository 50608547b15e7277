using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using Ipc.Codecs;
using MemoryPack;
using MessagePack;

namespace Ipc.Peer;

// Serializers that only .NET has, to be compared with in scenario `serialize`: no C++ peer could answer in their bytes, so they are no codecs of calls.
// Objects and attributes as each library's own guide has them; used as the program's objects, like the messages of protobuf-direct.

/// <summary>A request as MemoryPack and MessagePack want it declared.</summary>
[MemoryPackable, MessagePackObject]
public sealed partial class LibraryRequest : ISequenced
{
    /// <inheritdoc/>
    [Key(0)]
    public ulong Sequence { get; set; }
    /// <summary>Of the table asked.</summary>
    [Key(1)]
    public string Name { get; set; } = "";
    /// <summary>The rows asked for.</summary>
    [Key(2)]
    public string[] Ids { get; set; } = [];
    /// <summary>The columns asked for.</summary>
    [Key(3)]
    public string[] Fields { get; set; } = [];
}

/// <summary>A reply as MemoryPack and MessagePack want it declared.</summary>
[MemoryPackable, MessagePackObject]
public sealed partial class LibraryReply : ISequenced
{
    /// <inheritdoc/>
    [Key(0)]
    public ulong Sequence { get; set; }
    /// <summary>Cells per row.</summary>
    [Key(1)]
    public uint Columns { get; set; }
    /// <summary>Rows x columns.</summary>
    [Key(2)]
    public string[] Cells { get; set; } = [];
}

/// <summary>MemoryPack: generated code, a format of .NET's own.</summary>
internal readonly struct MemoryPackCodec : ICodec<LibraryRequest, LibraryReply>
{
    public void EncodeRequest(LibraryRequest request, MessageBuffer buffer) => MemoryPackSerializer.Serialize(buffer, request);
    public void EncodeReply(LibraryReply reply, MessageBuffer buffer) => MemoryPackSerializer.Serialize(buffer, reply);
    public LibraryRequest DecodeRequest(ReadOnlySpan<byte> bytes) => Decode<LibraryRequest>(bytes, "request");
    public LibraryReply DecodeReply(ReadOnlySpan<byte> bytes) => Decode<LibraryReply>(bytes, "reply");

    private static T Decode<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.All)] T>(ReadOnlySpan<byte> bytes, string what)
    {
        try
        {
            return MemoryPackSerializer.Deserialize<T>(bytes) ?? throw new CodecException($"the memorypack {what} is null: check who wrote it");
        }
        catch (MemoryPackSerializationException e)
        {
            throw new CodecException($"the memorypack {what} cannot be decoded: check who wrote it ({e.Message})", e);
        }
    }
}

/// <summary>MessagePack for C#, options for bytes that cannot be trusted.</summary>
internal readonly struct MessagePackCodec : ICodec<LibraryRequest, LibraryReply>
{
    private static readonly MessagePackSerializerOptions s_options = MessagePackSerializerOptions.Standard.WithSecurity(MessagePackSecurity.UntrustedData);

    public void EncodeRequest(LibraryRequest request, MessageBuffer buffer) => MessagePackSerializer.Serialize(buffer, request, s_options);
    public void EncodeReply(LibraryReply reply, MessageBuffer buffer) => MessagePackSerializer.Serialize(buffer, reply, s_options);
    public LibraryRequest DecodeRequest(ReadOnlySpan<byte> bytes) => Decode<LibraryRequest>(bytes, "request");
    public LibraryReply DecodeReply(ReadOnlySpan<byte> bytes) => Decode<LibraryReply>(bytes, "reply");

    private static unsafe T Decode<T>(ReadOnlySpan<byte> bytes, string what)
    {
        try
        {
            // The library reads from Memory only, which a span can become while it stands still.
            fixed (byte* start = bytes)
            {
                using var standing = new StandingBytes(start, bytes.Length);
                return MessagePackSerializer.Deserialize<T>(standing.Memory, s_options);
            }
        }
        catch (MessagePackSerializationException e)
        {
            throw new CodecException($"the messagepack {what} cannot be decoded: check who wrote it ({e.Message})", e);
        }
    }

    private sealed unsafe class StandingBytes(byte* start, int length) : MemoryManager<byte>
    {
        public override Span<byte> GetSpan() => new(start, length);
        public override MemoryHandle Pin(int elementIndex = 0) => new(start + elementIndex);
        public override void Unpin()
        {
        }
        protected override void Dispose(bool disposing)
        {
        }
    }
}

/// <summary>Access to these objects.</summary>
internal readonly struct LibraryAccess : IObjectAccess<LibraryRequest, LibraryReply>
{
    public LibraryRequest BuildRequest(Request domain) => new()
    {
        Sequence = domain.Sequence,
        Name = Copy(domain.Name),
        Ids = Array.ConvertAll(domain.Ids, Copy),
        Fields = Array.ConvertAll(domain.Fields, Copy),
    };

    public LibraryReply BuildReply(Reply domain) =>
        new() { Sequence = domain.Sequence, Columns = domain.Columns, Cells = Array.ConvertAll(domain.Cells, Copy) };

    public Request RequestToDomain(LibraryRequest request) =>
        new() { Sequence = request.Sequence, Name = request.Name, Ids = request.Ids, Fields = request.Fields };

    public Reply ReplyToDomain(LibraryReply reply) => new() { Sequence = reply.Sequence, Columns = reply.Columns, Cells = reply.Cells };

    public bool SameRequest(LibraryRequest request, Request expected) =>
        request.Name == expected.Name && request.Ids.AsSpan().SequenceEqual(expected.Ids) && request.Fields.AsSpan().SequenceEqual(expected.Fields);

    public bool SameReply(LibraryReply reply, Reply expected) =>
        reply.Columns == expected.Columns && reply.Cells.AsSpan().SequenceEqual(expected.Cells);

    public ulong TraverseRequest(LibraryRequest request) => Sum(request.Ids) + Sum(request.Fields);

    public ulong TraverseReply(LibraryReply reply) => Sum(reply.Cells);

    private static string Copy(string text) => new(text.AsSpan());

    private static ulong Sum(string[] texts)
    {
        var sum = 0UL;
        foreach (var text in texts)
        {
            foreach (var character in text)
                sum += character;
        }
        return sum;
    }
}
