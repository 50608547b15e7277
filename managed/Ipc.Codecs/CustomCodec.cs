using System.Buffers.Binary;

namespace Ipc.Codecs;

/// <summary>The project's own serializer: lengths and texts one after the other, docs/wire-formats.md "Custom codec".
/// The twin of native/src/codecs/custom.cpp.</summary>
public readonly struct CustomCodec<TStrings, TContainer> : ICodec<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public void EncodeRequest(Request<TStrings> request, MessageBuffer buffer)
    {
        var writer = new CustomWriter(buffer);
        writer.WriteUInt64(request.Sequence);
        writer.WriteUInt32((uint)default(TContainer).Count(request.Ids));
        writer.WriteUInt32((uint)default(TContainer).Count(request.Fields));
        writer.Visit(request.Name);
        default(TContainer).Visit(request.Ids, ref writer);
        default(TContainer).Visit(request.Fields, ref writer);
        writer.Finish();
    }

    /// <inheritdoc/>
    public void EncodeReply(Reply<TStrings> reply, MessageBuffer buffer)
    {
        var writer = new CustomWriter(buffer);
        writer.WriteUInt64(reply.Sequence);
        writer.WriteUInt32(reply.Columns);
        writer.WriteUInt32((uint)default(TContainer).Count(reply.Cells));
        default(TContainer).Visit(reply.Cells, ref writer);
        writer.Finish();
    }

    /// <inheritdoc/>
    public unsafe Request<TStrings> DecodeRequest(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
            return DecodeRequest(new CustomReader(start, bytes.Length, "request"));
    }

    private static Request<TStrings> DecodeRequest(CustomReader reader)
    {
        var sequence = reader.ReadUInt64("its sequence");
        var ids = reader.ReadUInt32("its number of ids");
        var fields = reader.ReadUInt32("its number of fields");
        reader.CheckCount(1L + ids + fields, "texts");
        var request = new Request<TStrings>
        {
            Sequence = sequence,
            Name = reader.Take(),
            Ids = default(TContainer).Create((int)ids, ref reader),
            Fields = default(TContainer).Create((int)fields, ref reader),
        };
        reader.CheckEnd();
        return request;
    }

    /// <inheritdoc/>
    public unsafe Reply<TStrings> DecodeReply(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
            return DecodeReply(new CustomReader(start, bytes.Length, "reply"));
    }

    private static Reply<TStrings> DecodeReply(CustomReader reader)
    {
        var sequence = reader.ReadUInt64("its sequence");
        var columns = reader.ReadUInt32("its number of columns");
        var cells = reader.ReadUInt32("its number of cells");
        reader.CheckCount(cells, "cells");
        var reply = new Reply<TStrings> { Sequence = sequence, Columns = columns, Cells = default(TContainer).Create((int)cells, ref reader) };
        reader.CheckEnd();
        return reply;
    }
}

/// <summary>Writes into the buffer's free room and asks it for more only when that might not suffice.</summary>
/// <remarks>Array and index rather than a span: a struct without spans can be a type argument on every runtime.</remarks>
internal struct CustomWriter(MessageBuffer buffer) : IStringVisitor
{
    private const int LengthSize = 4;

    private byte[] _bytes = buffer.Bytes;
    private int _at = buffer.Length;

    public void WriteUInt64(ulong value)
    {
        EnsureRoom(sizeof(ulong));
        BinaryPrimitives.WriteUInt64LittleEndian(_bytes.AsSpan(_at), value);
        _at += sizeof(ulong);
    }

    public void WriteUInt32(uint value)
    {
        EnsureRoom(sizeof(uint));
        BinaryPrimitives.WriteUInt32LittleEndian(_bytes.AsSpan(_at), value);
        _at += sizeof(uint);
    }

    public void Visit(string text)
    {
        // One UTF-16 unit becomes at most three bytes, so that the text is converted in one pass, straight into its place.
        EnsureRoom(LengthSize + 3L * text.Length);
        _at += Utf8Text.WriteWithLength(text, _bytes, _at);
    }

    public readonly void Finish() => buffer.Advance(_at - buffer.Length);

    private void EnsureRoom(long wanted)
    {
        if (_bytes.Length - _at < wanted)
            Grow(wanted);
    }

    private void Grow(long wanted)
    {
        buffer.Advance(_at - buffer.Length);
        _ = buffer.GetSpan((int)Math.Min(wanted, int.MaxValue));
        _bytes = buffer.Bytes;
    }
}

/// <summary>Walks through bytes that may be anything: a length is copied, checked, then used.</summary>
/// <remarks>Holds a pointer, which its maker keeps fixed, for the writer's reason; every look goes through a span of what is left.</remarks>
internal unsafe struct CustomReader(byte* bytes, int total, string what) : IStringSource
{
    private const int LengthSize = 4;

    private int _position;

    private readonly ReadOnlySpan<byte> Left => new(bytes + _position, total - _position);

    public ulong ReadUInt64(string field)
    {
        if (!BinaryPrimitives.TryReadUInt64LittleEndian(Left, out var value))
            throw Damaged($"ends inside {field}");
        _position += sizeof(ulong);
        return value;
    }

    public uint ReadUInt32(string field)
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(Left, out var value))
            throw Damaged($"ends inside {field}");
        _position += sizeof(uint);
        return value;
    }

    /// <summary>Before any memory is taken for that many texts: can they be there at all?</summary>
    public readonly void CheckCount(long count, string texts)
    {
        if (count > (total - _position) / LengthSize)
            throw Damaged($"promises {count} {texts} where {total - _position} bytes are left");
    }

    public string Take()
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(Left, out var length))
            throw Damaged("ends inside the length of a text");
        var left = Left[LengthSize..];
        if (length > (uint)left.Length)
            throw Damaged($"promises a text of {length} bytes where {left.Length} are left");
        var text = Utf8Text.Read(left[..(int)length]) ?? throw Damaged("has a text that is not UTF-8");
        _position += LengthSize + (int)length;
        return text;
    }

    public readonly void CheckEnd()
    {
        if (_position != total)
            throw Damaged($"has {total - _position} bytes more than its content");
    }

    private readonly CodecException Damaged(string why) =>
        new($"the custom {what} {why} at byte {_position}: check that the peer sends it with codec custom");
}
