using System.Buffers;
using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace Ipc.Codecs;

/// <summary>The project's own serializer: lengths and texts one after the other, docs/wire-formats.md "Custom codec".
/// The twin of native/src/codecs/custom.cpp.</summary>
public readonly struct CustomCodec<TStrings, TContainer> : ICodec<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public static void EncodeRequest(Request<TStrings> request, MessageBuffer buffer)
    {
        var writer = new CustomWriter(buffer);
        writer.WriteUInt64(request.Sequence);
        writer.WriteUInt32((uint)TContainer.Count(request.Ids));
        writer.WriteUInt32((uint)TContainer.Count(request.Fields));
        writer.Visit(request.Name);
        TContainer.Visit(request.Ids, ref writer);
        TContainer.Visit(request.Fields, ref writer);
        writer.Finish();
    }

    /// <inheritdoc/>
    public static void EncodeReply(Reply<TStrings> reply, MessageBuffer buffer)
    {
        var writer = new CustomWriter(buffer);
        writer.WriteUInt64(reply.Sequence);
        writer.WriteUInt32(reply.Columns);
        writer.WriteUInt32((uint)TContainer.Count(reply.Cells));
        TContainer.Visit(reply.Cells, ref writer);
        writer.Finish();
    }

    /// <inheritdoc/>
    public static Request<TStrings> DecodeRequest(ReadOnlySpan<byte> bytes)
    {
        var reader = new CustomReader(bytes, "request");
        var sequence = reader.ReadUInt64("its sequence");
        var ids = reader.ReadUInt32("its number of ids");
        var fields = reader.ReadUInt32("its number of fields");
        reader.CheckCount(1L + ids + fields, "texts");
        var request = new Request<TStrings>
        {
            Sequence = sequence,
            Name = reader.Take(),
            Ids = TContainer.Create((int)ids, ref reader),
            Fields = TContainer.Create((int)fields, ref reader),
        };
        reader.CheckEnd();
        return request;
    }

    /// <inheritdoc/>
    public static Reply<TStrings> DecodeReply(ReadOnlySpan<byte> bytes)
    {
        var reader = new CustomReader(bytes, "reply");
        var sequence = reader.ReadUInt64("its sequence");
        var columns = reader.ReadUInt32("its number of columns");
        var cells = reader.ReadUInt32("its number of cells");
        reader.CheckCount(cells, "cells");
        var reply = new Reply<TStrings> { Sequence = sequence, Columns = columns, Cells = TContainer.Create((int)cells, ref reader) };
        reader.CheckEnd();
        return reply;
    }
}

/// <summary>Writes into the buffer's free room and asks it for more only when that might not suffice.</summary>
internal ref struct CustomWriter(MessageBuffer buffer) : IStringVisitor
{
    private const int LengthSize = 4;

    private Span<byte> _room = buffer.GetSpan();
    private int _used;

    public void WriteUInt64(ulong value)
    {
        EnsureRoom(sizeof(ulong));
        BinaryPrimitives.WriteUInt64LittleEndian(_room[_used..], value);
        _used += sizeof(ulong);
    }

    public void WriteUInt32(uint value)
    {
        EnsureRoom(sizeof(uint));
        BinaryPrimitives.WriteUInt32LittleEndian(_room[_used..], value);
        _used += sizeof(uint);
    }

    public void Visit(string text)
    {
        // One UTF-16 unit becomes at most three bytes, so that the text is converted in one pass, straight into its place.
        EnsureRoom(LengthSize + 3L * text.Length);
        var written = Convert(text, _room[(_used + LengthSize)..]);
        BinaryPrimitives.WriteInt32LittleEndian(_room[_used..], written);
        _used += LengthSize + written;
    }

    public void Finish()
    {
        buffer.Advance(_used);
        _room = default;
        _used = 0;
    }

    private static int Convert(string text, Span<byte> room)
    {
        // Nearly every text is ASCII; that conversion is one vectorised pass with the check built in.
        if (Ascii.FromUtf16(text, room, out var written) == OperationStatus.Done)
            return written;
        if (Utf8.FromUtf16(text, room, out _, out written, replaceInvalidSequences: false) == OperationStatus.Done)
            return written;
        throw new CodecException($"a text holds half a surrogate pair after {written} bytes, which UTF-8 cannot say: correct the text");
    }

    private void EnsureRoom(long wanted)
    {
        if (_room.Length - _used < wanted)
            Grow(wanted);
    }

    private void Grow(long wanted)
    {
        buffer.Advance(_used);
        _used = 0;
        _room = buffer.GetSpan((int)Math.Min(wanted, int.MaxValue));
    }
}

/// <summary>Walks through bytes that may be anything: a length is copied, checked, then used.</summary>
internal ref struct CustomReader(ReadOnlySpan<byte> bytes, string what) : IStringSource
{
    private const int LengthSize = 4;

    private readonly int _total = bytes.Length;
    private ReadOnlySpan<byte> _left = bytes;

    public ulong ReadUInt64(string field)
    {
        if (!BinaryPrimitives.TryReadUInt64LittleEndian(_left, out var value))
            throw Damaged($"ends inside {field}");
        _left = _left[sizeof(ulong)..];
        return value;
    }

    public uint ReadUInt32(string field)
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(_left, out var value))
            throw Damaged($"ends inside {field}");
        _left = _left[sizeof(uint)..];
        return value;
    }

    /// <summary>Before any memory is taken for that many texts: can they be there at all?</summary>
    public readonly void CheckCount(long count, string texts)
    {
        if (count > _left.Length / LengthSize)
            throw Damaged($"promises {count} {texts} where {_left.Length} bytes are left");
    }

    public string Take()
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(_left, out var length))
            throw Damaged("ends inside the length of a text");
        var left = _left[LengthSize..];
        if (length > (uint)left.Length)
            throw Damaged($"promises a text of {length} bytes where {left.Length} are left");
        var text = ToText(left[..(int)length]);
        _left = left[(int)length..];
        return text;
    }

    public readonly void CheckEnd()
    {
        if (!_left.IsEmpty)
            throw Damaged($"has {_left.Length} bytes more than its content");
    }

    private readonly string ToText(ReadOnlySpan<byte> utf8)
    {
        // Nearly every text is ASCII, whose characters are its bytes widened: quicker than counting characters first.
        if (Ascii.IsValid(utf8))
            return Encoding.Latin1.GetString(utf8);
        if (Utf8.IsValid(utf8))
            return Encoding.UTF8.GetString(utf8);
        throw Damaged("has a text that is not UTF-8");
    }

    private readonly CodecException Damaged(string why) =>
        new($"the custom {what} {why} at byte {_total - _left.Length}: check that the peer sends it with codec custom");
}
