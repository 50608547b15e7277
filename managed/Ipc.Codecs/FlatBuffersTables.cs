using Google.FlatBuffers;

namespace Ipc.Codecs;

/// <summary>The tables of proto/ipc.fbs, as the compiler would make them, and one builder per thread that keeps its memory.</summary>
/// <remarks>By hand, because code from the compiler works only with the library of the same version, which Debian's is not. The order in which parts
/// are added is the order in which they lie, from the message's end: native/src/codecs/flatbuffers.cpp has the same.</remarks>
internal sealed class FlatBuffersTables
{
    // The fields, by their place in the schema.
    public const int RequestSequence = 0, RequestName = 1, RequestIds = 2, RequestFields = 3;
    public const int ReplySequence = 0, ReplyColumns = 1, ReplyCells = 2;

    private const int OffsetSize = sizeof(int);

    [ThreadStatic]
    private static FlatBuffersTables? t_tables;

    private readonly FlatBufferBuilder _builder = new(1024);
    private StringOffset[] _offsets = [];
    private int _count;

    /// <summary>This thread's, for one message.</summary>
    public static FlatBuffersTables Start()
    {
        var tables = t_tables ??= new();
        tables._builder.Clear();
        return tables;
    }

    // The library's builder doubles its memory, and has no exception of its own for the end of that.
    public static bool IsTooLong(Exception e) => e.GetType() == typeof(Exception) || e is OutOfMemoryException or OverflowException;

    public static CodecException TooLong(string what, Exception e)
    {
        t_tables = null; // half a message is in it
        return new($"the {what} is longer than FlatBuffers' builder for .NET can make one, which is a gigabyte: split it ({e.Message})", e);
    }

    public StringOffset Add(string text) => _builder.CreateString(text);

    public VectorOffset AddAll<TStrings, TContainer>(TStrings strings)
        where TStrings : class
        where TContainer : struct, IStrings<TStrings>
    {
        _count = 0;
        var count = default(TContainer).Count(strings);
        if (_offsets.Length < count)
            _offsets = new StringOffset[Math.Max(count, 2 * _offsets.Length)];
        var adder = new Adder(this);
        default(TContainer).Visit(strings, ref adder);
        _builder.StartVector(OffsetSize, count, OffsetSize);
        for (var i = count; i-- > 0;)
            _builder.AddOffset(_offsets[i].Value);
        return _builder.EndVector();
    }

    public void FinishRequest(ulong sequence, StringOffset name, VectorOffset ids, VectorOffset fields, MessageBuffer buffer)
    {
        _builder.StartTable(RequestFields + 1);
        _builder.AddUlong(RequestSequence, sequence, 0);
        _builder.AddOffset(RequestFields, fields.Value, 0);
        _builder.AddOffset(RequestIds, ids.Value, 0);
        _builder.AddOffset(RequestName, name.Value, 0);
        Finish(buffer);
    }

    public void FinishReply(ulong sequence, uint columns, VectorOffset cells, MessageBuffer buffer)
    {
        _builder.StartTable(ReplyCells + 1);
        _builder.AddUlong(ReplySequence, sequence, 0);
        _builder.AddOffset(ReplyCells, cells.Value, 0);
        _builder.AddUint(ReplyColumns, columns, 0);
        Finish(buffer);
    }

    private void Finish(MessageBuffer buffer)
    {
        _builder.Finish(_builder.EndTable());
        var made = _builder.DataBuffer;
        var size = made.Length - made.Position;
        made.ToArraySegment(made.Position, size).AsSpan().CopyTo(buffer.GetSpan(size));
        buffer.Advance(size);
    }

    private readonly struct Adder(FlatBuffersTables tables) : IStringVisitor
    {
        public void Visit(string text) => tables._offsets[tables._count++] = tables.Add(text);
    }
}
