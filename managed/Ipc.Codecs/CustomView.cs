using System.Buffers.Binary;
using System.Runtime.CompilerServices;

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
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
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
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => _texts.MoveNext();
    /// <summary>For <c>foreach</c>.</summary>
    public readonly CustomReplyView GetEnumerator() => this;
}

/// <summary>What both views walk with. A length is copied, checked, then used; every look goes through a span of the message.</summary>
internal ref struct CustomTexts(ReadOnlySpan<byte> bytes, string what)
{
    private const int LengthSize = 4;

    private readonly int _total = bytes.Length;
    private ReadOnlySpan<byte> _rest = bytes;
    private ReadOnlySpan<byte> _current;
    private long _left; // texts to come

    public readonly ReadOnlySpan<byte> Current => _current;

    public ulong ReadUInt64(string field)
    {
        if (!BinaryPrimitives.TryReadUInt64LittleEndian(_rest, out var value))
            throw Damaged($"ends inside {field}");
        _rest = _rest[sizeof(ulong)..];
        return value;
    }

    public uint ReadUInt32(string field)
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(_rest, out var value))
            throw Damaged($"ends inside {field}");
        _rest = _rest[sizeof(uint)..];
        return value;
    }

    public void Expect(long count, string texts)
    {
        if (count > _rest.Length / LengthSize)
            throw Damaged($"promises {count} {texts} where {_rest.Length} bytes are left");
        _left = count;
    }

    // What is unusual is said by functions of their own, so that this becomes part of its caller's loop.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext()
    {
        if (_left == 0)
            return End();
        var rest = _rest;
        if (rest.Length < LengthSize)
            throw EndsInLength();
        var length = BinaryPrimitives.ReadUInt32LittleEndian(rest);
        rest = rest[LengthSize..];
        if (length > (uint)rest.Length)
            throw PromisesTooMuch(length);
        var text = rest[..(int)length];
        if (!Utf8Text.IsValid(text))
            throw NotUtf8();
        _current = text;
        _rest = rest[(int)length..];
        _left--;
        return true;
    }

    private readonly bool End() => _rest.IsEmpty ? false : throw Damaged($"has {_rest.Length} bytes more than its content");

    private readonly CodecException EndsInLength() => Damaged("ends inside the length of a text");

    private readonly CodecException PromisesTooMuch(uint length) => Damaged($"promises a text of {length} bytes where {_rest.Length - LengthSize} are left");

    private readonly CodecException NotUtf8() => Damaged("has a text that is not UTF-8");

    private readonly CodecException Damaged(string why) =>
        new($"the custom {what} {why} at byte {_total - _rest.Length}: check that the peer sends it with codec custom");
}
