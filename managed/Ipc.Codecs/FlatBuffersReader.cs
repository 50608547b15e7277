using System.Buffers.Binary;

namespace Ipc.Codecs;

/// <summary>Where a vector of texts lies.</summary>
internal readonly record struct FlatBuffersVector(int At, int Count);

/// <summary>Walks through a FlatBuffers message that may be any bytes: an offset is copied, checked, then used, once.</summary>
/// <remarks>The library's own accessors follow offsets unchecked, and its verifier writes to the console and takes places past byte 32,767 of a table
/// for negative. What is refused is what the verifier of the C++ library refuses. Holds a pointer, which its maker keeps fixed, for the reason that
/// <see cref="CustomReader"/> has.</remarks>
internal unsafe struct FlatBuffersReader(byte* bytes, int total, string what) : IStringSource
{
    public const int OffsetSize = sizeof(uint);

    private const int FieldSize = sizeof(ushort); // of a table's list of fields, whose first two entries are its own length and the table's

    private int _table;
    private int _fields;
    private int _fieldsSize;
    private int _next;
    private long _shown; // bytes of all texts so far

    /// <summary>The same bytes lie here now.</summary>
    public void MoveTo(byte* start) => bytes = start;

    /// <summary>Finds the message's table, which comes before anything else.</summary>
    public void Open()
    {
        // Builders fill up what they make to a multiple of an offset's size; only so is every message cut short seen.
        if (total % OffsetSize != 0)
            throw Damaged("has bytes missing or too many at its end", total);
        _table = Follow(0);
        // A table begins with how far before it its list of fields lies; or behind it, then the number is negative.
        var fields = (long)_table - (int)Offset(_table);
        if (fields < 0 || fields > total - FieldSize)
            throw Damaged("has a table whose list of fields lies outside", _table);
        _fields = (int)fields;
        _fieldsSize = UInt16(_fields);
        if (_fieldsSize % FieldSize != 0 || _fieldsSize < FieldSize)
            throw Damaged("has a table without a list of fields", _table);
        Check(_fields, _fieldsSize, FieldSize);
    }

    public readonly ulong UInt64(int field) =>
        Place(field) is var at and > 0 ? BinaryPrimitives.ReadUInt64LittleEndian(Checked(at, sizeof(ulong))) : 0;

    public readonly uint UInt32(int field) =>
        Place(field) is var at and > 0 ? BinaryPrimitives.ReadUInt32LittleEndian(Checked(at, sizeof(uint))) : 0;

    public string Text(int field) => TextAt(Required(field));

    /// <summary>A field's one text, as a vector of one.</summary>
    public readonly FlatBuffersVector One(int field) => new(Required(field), 1);

    public readonly FlatBuffersVector Vector(int field)
    {
        var at = Follow(Required(field));
        var count = Offset(at);
        if (count > (uint)(total - at - OffsetSize) / OffsetSize)
            throw Damaged($"promises {count} texts where {total - at - OffsetSize} bytes are left", at);
        return new(at + OffsetSize, (int)count);
    }

    /// <summary><see cref="Take"/> gives this vector's texts from now on.</summary>
    public void Show(FlatBuffersVector vector) => _next = vector.At;

    public string Take()
    {
        var text = TextAt(_next);
        _next += OffsetSize;
        return text;
    }

    /// <summary>Where the text lies to which the offset at a place leads; whether it is UTF-8, nobody has looked.</summary>
    public (int At, int Length) Find(int place)
    {
        var at = Follow(place);
        var length = Offset(at);
        // Behind a text there is a zero.
        if (length >= (uint)(total - at - OffsetSize) || bytes[at + OffsetSize + (int)length] != 0)
            throw Damaged($"promises a text of {length} bytes and a zero where {total - at - OffsetSize} are left", at);
        // Offsets may lead to the same text many times: a few bytes could ask for gigabytes.
        _shown += length;
        if (_shown > total)
            throw Damaged("has texts that overlap", at);
        return (at + OffsetSize, (int)length);
    }

    /// <summary>What there is to say of a text that <see cref="Find"/> has found.</summary>
    public readonly CodecException NotUtf8(int at) => Damaged("has a text that is not UTF-8", at - OffsetSize);

    private string TextAt(int place)
    {
        var (at, length) = Find(place);
        return Utf8Text.Read(new ReadOnlySpan<byte>(bytes + at, length)) ?? throw NotUtf8(at);
    }

    private readonly int Required(int field) => Place(field) is var at and > 0 ? at : throw Damaged($"lacks its field {field}", _table);

    // Where a field lies, or 0: it is not there.
    private readonly int Place(int field)
    {
        var entry = (2 + field) * FieldSize;
        if (entry + FieldSize > _fieldsSize)
            return 0;
        var place = UInt16(_fields + entry);
        return place == 0 ? 0 : _table + place;
    }

    // To what the offset at a place leads, always forward.
    private readonly int Follow(int at)
    {
        var offset = Offset(at);
        if (offset == 0 || offset > (uint)(total - at) - OffsetSize)
            throw Damaged($"has an offset of {offset} where {total - at} bytes are left", at);
        return at + (int)offset;
    }

    private readonly uint Offset(int at) => BinaryPrimitives.ReadUInt32LittleEndian(Checked(at, OffsetSize));

    private readonly ushort UInt16(int at) => BinaryPrimitives.ReadUInt16LittleEndian(Checked(at, FieldSize));

    private readonly ReadOnlySpan<byte> Checked(int at, int size)
    {
        Check(at, size, size);
        return new(bytes + at, size);
    }

    private readonly void Check(int at, int size, int alignment)
    {
        if (at < 0 || at > total - size || at % alignment != 0)
            throw Damaged("ends inside a number, or has it where none can lie", at);
    }

    private readonly CodecException Damaged(string why, int at) =>
        new($"the flatbuffers {what} {why} at byte {at}: check that the peer sends it with codec flatbuffers and the same ipc.fbs");
}
