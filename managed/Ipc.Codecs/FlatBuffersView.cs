namespace Ipc.Codecs;

// Messages of codec flatbuffers read where they lie, without an object or a string, as those of codec custom (CustomView.cs):
//
//     foreach (var cell in new FlatBuffersReplyView(bytes)) ...    // cell: ReadOnlySpan<byte>, UTF-8
//
// All that the decoder refuses is refused here, each text when it is its turn; so what was seen before a CodecException may belong to a
// damaged message. The texts lie in the message: they last as long as it does. In memory that a peer can write to they can change at any
// time, also after they were checked, but never come to lie outside. The twin of native/src/codecs/flatbuffers_view.hpp, which checks all at once
// and therefore asks for memory that nobody else writes to.

/// <summary>A request read where it lies; its texts are the name, the ids and the fields.</summary>
public ref struct FlatBuffersRequestView
{
    private FlatBuffersTexts _texts;

    /// <summary>Reads the numbers; damaged ones are a <see cref="CodecException"/>.</summary>
    public FlatBuffersRequestView(ReadOnlySpan<byte> bytes)
    {
        _texts = new FlatBuffersTexts(bytes);
        (Sequence, Ids, Fields) = _texts.OpenRequest();
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
    public readonly FlatBuffersRequestView GetEnumerator() => this;
}

/// <summary>A reply read where it lies; its texts are the cells, row after row.</summary>
public ref struct FlatBuffersReplyView
{
    private FlatBuffersTexts _texts;

    /// <summary>Reads the numbers; damaged ones are a <see cref="CodecException"/>.</summary>
    public FlatBuffersReplyView(ReadOnlySpan<byte> bytes)
    {
        _texts = new FlatBuffersTexts(bytes);
        (Sequence, Columns, Cells) = _texts.OpenReply();
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
    public readonly FlatBuffersReplyView GetEnumerator() => this;
}

/// <summary>What both views walk with. The reader's pointer is good as long as the bytes are fixed, so each step says anew where they lie.</summary>
internal unsafe ref struct FlatBuffersTexts(ReadOnlySpan<byte> bytes)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private FlatBuffersReader _reader;
    private ReadOnlySpan<byte> _current;
    // What is still to come, in this order; a reply has the last only.
    private FlatBuffersVector _name;
    private FlatBuffersVector _ids;
    private FlatBuffersVector _last;

    public readonly ReadOnlySpan<byte> Current => _current;

    public (ulong Sequence, uint Ids, uint Fields) OpenRequest()
    {
        fixed (byte* start = _bytes)
        {
            _reader = new FlatBuffersReader(start, _bytes.Length, "request");
            _reader.Open();
            (_ids, _last) = (_reader.Vector(FlatBuffersTables.RequestIds), _reader.Vector(FlatBuffersTables.RequestFields));
            var sequence = _reader.UInt64(FlatBuffersTables.RequestSequence);
            _name = _reader.One(FlatBuffersTables.RequestName);
            return (sequence, (uint)_ids.Count, (uint)_last.Count);
        }
    }

    public (ulong Sequence, uint Columns, uint Cells) OpenReply()
    {
        fixed (byte* start = _bytes)
        {
            _reader = new FlatBuffersReader(start, _bytes.Length, "reply");
            _reader.Open();
            _last = _reader.Vector(FlatBuffersTables.ReplyCells);
            return (_reader.UInt64(FlatBuffersTables.ReplySequence), _reader.UInt32(FlatBuffersTables.ReplyColumns), (uint)_last.Count);
        }
    }

    public bool MoveNext()
    {
        if (_name.Count > 0)
            return Take(ref _name);
        if (_ids.Count > 0)
            return Take(ref _ids);
        return _last.Count > 0 && Take(ref _last);
    }

    private bool Take(ref FlatBuffersVector from)
    {
        fixed (byte* start = _bytes)
        {
            _reader.MoveTo(start);
            var (at, length) = _reader.Find(from.At);
            var text = _bytes.Slice(at, length);
            if (!Utf8Text.IsValid(text))
                throw _reader.NotUtf8(at);
            _current = text;
        }
        from = new(from.At + FlatBuffersReader.OffsetSize, from.Count - 1);
        return true;
    }
}
