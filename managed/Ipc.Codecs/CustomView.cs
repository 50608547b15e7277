using System.Buffers.Binary;

namespace Ipc.Codecs;

// Messages of codec custom read where they lie, without an object or a string: the numbers first, then text after text.
//
//     foreach (var cell in new CustomReplyView(bytes)) ...    // cell: ReadOnlySpan<byte>, UTF-8
//
// All that the decoder refuses is refused here, each text when it is its turn; so what was seen before a CodecException may belong to a
// damaged message. The texts lie in the message: they last as long as it does. In memory that a peer can write to they can change at any
// time, also after they were checked, but never come to lie outside. The twin of native/src/codecs/custom_view.hpp.

/// <summary>A request read where it lies; its texts are the name, the ids and the fields.</summary>
public ref struct CustomRequestView
{
    private CustomTexts _texts;

    /// <summary>Reads the numbers; damaged ones are a <see cref="CodecException"/>.</summary>
    public CustomRequestView(ReadOnlySpan<byte> bytes)
    {
        _texts = new CustomTexts(bytes, "request");
        Sequence = _texts.ReadUInt64("its sequence");
        Ids = _texts.ReadUInt32("its number of ids");
        Fields = _texts.ReadUInt32("its number of fields");
        _texts.Expect(1L + Ids + Fields, "texts");
    }

    /// <summary>The number of the exchange.</summary>
    public ulong Sequence { get; }
    /// <summary>How many ids follow the name.</summary>
    public uint Ids { get; }
    /// <summary>How many fields follow the ids.</summary>
    public uint Fields { get; }
    /// <summary>The text <see cref="MoveNext"/> found, in UTF-8.</summary>
    public readonly ReadOnlySpan<byte> Current => _texts.Current;

    /// <summary>Goes to the next text; false after the last. Damage is a <see cref="CodecException"/>.</summary>
    public bool MoveNext() => _texts.MoveNext();
    /// <summary>For <c>foreach</c>.</summary>
    public readonly CustomRequestView GetEnumerator() => this;
}

/// <summary>A reply read where it lies; its texts are the cells, row after row.</summary>
public ref struct CustomReplyView
{
    private CustomTexts _texts;

    /// <summary>Reads the numbers; damaged ones are a <see cref="CodecException"/>.</summary>
    public CustomReplyView(ReadOnlySpan<byte> bytes)
    {
        _texts = new CustomTexts(bytes, "reply");
        Sequence = _texts.ReadUInt64("its sequence");
        Columns = _texts.ReadUInt32("its number of columns");
        Cells = _texts.ReadUInt32("its number of cells");
        _texts.Expect(Cells, "cells");
    }

    /// <summary>The number of the exchange.</summary>
    public ulong Sequence { get; }
    /// <summary>Cells per row.</summary>
    public uint Columns { get; }
    /// <summary>How many cells there are.</summary>
    public uint Cells { get; }
    /// <summary>The cell <see cref="MoveNext"/> found, in UTF-8.</summary>
    public readonly ReadOnlySpan<byte> Current => _texts.Current;

    /// <summary>Goes to the next cell; false after the last. Damage is a <see cref="CodecException"/>.</summary>
    public bool MoveNext() => _texts.MoveNext();
    /// <summary>For <c>foreach</c>.</summary>
    public readonly CustomReplyView GetEnumerator() => this;
}

/// <summary>What both views walk with. A length is copied, checked, then used; every look goes through a span of the message.</summary>
internal ref struct CustomTexts(ReadOnlySpan<byte> bytes, string what)
{
    private const int LengthSize = 4;

    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private int _position;
    private long _left; // texts to come

    public ReadOnlySpan<byte> Current { get; private set; }

    private readonly ReadOnlySpan<byte> Left => _bytes[_position..];

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

    public void Expect(long count, string texts)
    {
        if (count > (_bytes.Length - _position) / LengthSize)
            throw Damaged($"promises {count} {texts} where {_bytes.Length - _position} bytes are left");
        _left = count;
    }

    public bool MoveNext()
    {
        if (_left == 0)
        {
            if (_position != _bytes.Length)
                throw Damaged($"has {_bytes.Length - _position} bytes more than its content");
            return false;
        }
        _left--;
        var left = Left;
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(left, out var length))
            throw Damaged("ends inside the length of a text");
        if (length > (uint)(left.Length - LengthSize))
            throw Damaged($"promises a text of {length} bytes where {left.Length - LengthSize} are left");
        var text = left.Slice(LengthSize, (int)length);
        if (!Utf8Text.IsValid(text))
            throw Damaged("has a text that is not UTF-8");
        Current = text;
        _position += LengthSize + (int)length;
        return true;
    }

    private readonly CodecException Damaged(string why) =>
        new($"the custom {what} {why} at byte {_position}: check that the peer sends it with codec custom");
}
