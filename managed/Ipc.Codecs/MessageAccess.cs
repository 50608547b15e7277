using Google.Protobuf.Collections;

namespace Ipc.Codecs;

/// <summary>Access to the generated messages, the objects of codec protobuf-direct.</summary>
public readonly struct MessageAccess : IObjectAccess<Messages.Request, Messages.Reply>
{
    /// <inheritdoc/>
    public Messages.Request BuildRequest(Request domain)
    {
        var message = new Messages.Request { Sequence = domain.Sequence, Name = FreshCopies.Of(domain.Name) };
        Copy(domain.Ids, message.Ids);
        Copy(domain.Fields, message.Fields);
        return message;
    }

    /// <inheritdoc/>
    public Messages.Reply BuildReply(Reply domain)
    {
        var message = new Messages.Reply { Sequence = domain.Sequence, Columns = domain.Columns };
        Copy(domain.Cells, message.Cells);
        return message;
    }

    /// <inheritdoc/>
    public Request RequestToDomain(Messages.Request request) => new()
    {
        Sequence = request.Sequence,
        Name = request.Name,
        Ids = [.. request.Ids],
        Fields = [.. request.Fields],
    };

    /// <inheritdoc/>
    public Reply ReplyToDomain(Messages.Reply reply) =>
        new() { Sequence = reply.Sequence, Columns = reply.Columns, Cells = [.. reply.Cells] };

    /// <inheritdoc/>
    public bool SameRequest(Messages.Request request, Request expected) =>
        request.Name == expected.Name && Same(request.Ids, expected.Ids) && Same(request.Fields, expected.Fields);

    /// <inheritdoc/>
    public bool SameReply(Messages.Reply reply, Reply expected) =>
        reply.Columns == expected.Columns && Same(reply.Cells, expected.Cells);

    /// <inheritdoc/>
    public ulong TraverseRequest(Messages.Request request)
    {
        var sum = new CharacterSum();
        Visit(request.Ids, ref sum);
        Visit(request.Fields, ref sum);
        return sum.Sum;
    }

    /// <inheritdoc/>
    public ulong TraverseReply(Messages.Reply reply)
    {
        var sum = new CharacterSum();
        Visit(reply.Cells, ref sum);
        return sum.Sum;
    }

    private static void Copy(string[] texts, RepeatedField<string> into)
    {
        into.Capacity = texts.Length;
        foreach (var text in texts)
            into.Add(FreshCopies.Of(text));
    }

    private static bool Same(RepeatedField<string> strings, string[] expected)
    {
        var comparison = new Comparison(expected);
        Visit(strings, ref comparison);
        return comparison.Same;
    }

    private static void Visit<TVisitor>(RepeatedField<string> strings, ref TVisitor visitor) where TVisitor : struct, IStringVisitor
    {
        // By index: the field's enumerator is an object on the heap.
        for (var i = 0; i < strings.Count; i++)
            visitor.Visit(strings[i]);
    }
}
