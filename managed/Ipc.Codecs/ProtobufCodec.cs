using Google.Protobuf.Collections;

namespace Ipc.Codecs;

/// <summary>Domain objects translated into Protocol Buffers messages, and messages back into domain objects.</summary>
public readonly struct ProtobufCodec<TStrings, TContainer> : ICodec<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public void EncodeRequest(Request<TStrings> request, MessageBuffer buffer) =>
        default(ProtobufDirectCodec).EncodeRequest(default(ProtobufTranslation<TStrings, TContainer>).TranslateRequest(request), buffer);

    /// <inheritdoc/>
    public Request<TStrings> DecodeRequest(ReadOnlySpan<byte> bytes) =>
        default(ProtobufTranslation<TStrings, TContainer>).TranslateBackRequest(default(ProtobufDirectCodec).DecodeRequest(bytes));

    /// <inheritdoc/>
    public void EncodeReply(Reply<TStrings> reply, MessageBuffer buffer) =>
        default(ProtobufDirectCodec).EncodeReply(default(ProtobufTranslation<TStrings, TContainer>).TranslateReply(reply), buffer);

    /// <inheritdoc/>
    public Reply<TStrings> DecodeReply(ReadOnlySpan<byte> bytes) =>
        default(ProtobufTranslation<TStrings, TContainer>).TranslateBackReply(default(ProtobufDirectCodec).DecodeReply(bytes));
}

/// <summary>Domain objects to messages and back; strings, being unchangeable, are shared.</summary>
public readonly struct ProtobufTranslation<TStrings, TContainer>
    : ITranslation<Request<TStrings>, Reply<TStrings>, Messages.Request, Messages.Reply>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public Messages.Request TranslateRequest(Request<TStrings> request)
    {
        var message = new Messages.Request { Sequence = request.Sequence, Name = request.Name };
        Fill(message.Ids, request.Ids);
        Fill(message.Fields, request.Fields);
        return message;
    }

    /// <inheritdoc/>
    public Messages.Reply TranslateReply(Reply<TStrings> reply)
    {
        var message = new Messages.Reply { Sequence = reply.Sequence, Columns = reply.Columns };
        Fill(message.Cells, reply.Cells);
        return message;
    }

    /// <inheritdoc/>
    public Request<TStrings> TranslateBackRequest(Messages.Request request) => new()
    {
        Sequence = request.Sequence,
        Name = request.Name,
        Ids = Take(request.Ids),
        Fields = Take(request.Fields),
    };

    /// <inheritdoc/>
    public Reply<TStrings> TranslateBackReply(Messages.Reply reply) =>
        new() { Sequence = reply.Sequence, Columns = reply.Columns, Cells = Take(reply.Cells) };

    private static void Fill(RepeatedField<string> field, TStrings strings)
    {
        field.Capacity = default(TContainer).Count(strings);
        var adder = new Adder(field);
        default(TContainer).Visit(strings, ref adder);
    }

    private static TStrings Take(RepeatedField<string> field)
    {
        var source = new FieldSource(field);
        return default(TContainer).Create(field.Count, ref source);
    }

    private readonly struct Adder(RepeatedField<string> field) : IStringVisitor
    {
        public void Visit(string text) => field.Add(text);
    }

    private struct FieldSource(RepeatedField<string> field) : IStringSource
    {
        private int _next;

        public string Take() => field[_next++];
    }
}
