namespace Ipc.Codecs;

/// <summary>FlatBuffers: built by Google's library from the program's objects, and read into them; docs/wire-formats.md "FlatBuffers codec".
/// The twin of native/src/codecs/flatbuffers.cpp.</summary>
public readonly struct FlatBuffersCodec<TStrings, TContainer> : ICodec<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public void EncodeRequest(Request<TStrings> request, MessageBuffer buffer)
    {
        var tables = FlatBuffersTables.Start();
        try
        {
            var name = tables.Add(request.Name);
            var ids = tables.AddAll<TStrings, TContainer>(request.Ids);
            var fields = tables.AddAll<TStrings, TContainer>(request.Fields);
            tables.FinishRequest(request.Sequence, name, ids, fields, buffer);
        }
        catch (Exception e) when (FlatBuffersTables.IsTooLong(e))
        {
            throw FlatBuffersTables.TooLong("request", e);
        }
    }

    /// <inheritdoc/>
    public void EncodeReply(Reply<TStrings> reply, MessageBuffer buffer)
    {
        var tables = FlatBuffersTables.Start();
        try
        {
            var cells = tables.AddAll<TStrings, TContainer>(reply.Cells);
            tables.FinishReply(reply.Sequence, reply.Columns, cells, buffer);
        }
        catch (Exception e) when (FlatBuffersTables.IsTooLong(e))
        {
            throw FlatBuffersTables.TooLong("reply", e);
        }
    }

    /// <inheritdoc/>
    public unsafe Request<TStrings> DecodeRequest(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            var reader = new FlatBuffersReader(start, bytes.Length, "request");
            reader.Open();
            var ids = reader.Vector(FlatBuffersTables.RequestIds);
            var fields = reader.Vector(FlatBuffersTables.RequestFields);
            return new()
            {
                Sequence = reader.UInt64(FlatBuffersTables.RequestSequence),
                Name = reader.Text(FlatBuffersTables.RequestName),
                Ids = Texts(ref reader, ids),
                Fields = Texts(ref reader, fields),
            };
        }
    }

    /// <inheritdoc/>
    public unsafe Reply<TStrings> DecodeReply(ReadOnlySpan<byte> bytes)
    {
        fixed (byte* start = bytes)
        {
            var reader = new FlatBuffersReader(start, bytes.Length, "reply");
            reader.Open();
            var cells = reader.Vector(FlatBuffersTables.ReplyCells);
            return new()
            {
                Sequence = reader.UInt64(FlatBuffersTables.ReplySequence),
                Columns = reader.UInt32(FlatBuffersTables.ReplyColumns),
                Cells = Texts(ref reader, cells),
            };
        }
    }

    private static TStrings Texts(ref FlatBuffersReader reader, FlatBuffersVector vector)
    {
        reader.Show(vector);
        return default(TContainer).Create(vector.Count, ref reader);
    }
}
