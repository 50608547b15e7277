namespace Ipc.Codecs;

/// <summary>Access to domain objects, the objects of codecs custom, protobuf, flatbuffers and json.</summary>
public readonly struct DomainAccess<TStrings, TContainer> : IObjectAccess<Request<TStrings>, Reply<TStrings>>
    where TStrings : class
    where TContainer : struct, IStrings<TStrings>
{
    /// <inheritdoc/>
    public Request<TStrings> BuildRequest(Request domain) => new()
    {
        Sequence = domain.Sequence,
        Name = FreshCopies.Of(domain.Name),
        Ids = Copy(domain.Ids),
        Fields = Copy(domain.Fields),
    };

    /// <inheritdoc/>
    public Reply<TStrings> BuildReply(Reply domain) =>
        new() { Sequence = domain.Sequence, Columns = domain.Columns, Cells = Copy(domain.Cells) };

    /// <inheritdoc/>
    public Request RequestToDomain(Request<TStrings> request) => new()
    {
        Sequence = request.Sequence,
        Name = request.Name,
        Ids = ToArray(request.Ids),
        Fields = ToArray(request.Fields),
    };

    /// <inheritdoc/>
    public Reply ReplyToDomain(Reply<TStrings> reply) =>
        new() { Sequence = reply.Sequence, Columns = reply.Columns, Cells = ToArray(reply.Cells) };

    /// <inheritdoc/>
    public bool SameRequest(Request<TStrings> request, Request expected) =>
        request.Name == expected.Name && Same(request.Ids, expected.Ids) && Same(request.Fields, expected.Fields);

    /// <inheritdoc/>
    public bool SameReply(Reply<TStrings> reply, Reply expected) =>
        reply.Columns == expected.Columns && Same(reply.Cells, expected.Cells);

    /// <inheritdoc/>
    public ulong TraverseRequest(Request<TStrings> request)
    {
        var sum = new CharacterSum();
        default(TContainer).Visit(request.Ids, ref sum);
        default(TContainer).Visit(request.Fields, ref sum);
        return sum.Sum;
    }

    /// <inheritdoc/>
    public ulong TraverseReply(Reply<TStrings> reply)
    {
        var sum = new CharacterSum();
        default(TContainer).Visit(reply.Cells, ref sum);
        return sum.Sum;
    }

    private static TStrings Copy(string[] texts)
    {
        var copies = new FreshCopies(texts);
        return default(TContainer).Create(texts.Length, ref copies);
    }

    private static string[] ToArray(TStrings strings)
    {
        var texts = new string[default(TContainer).Count(strings)];
        var filler = new ArrayFiller(texts);
        default(TContainer).Visit(strings, ref filler);
        return texts;
    }

    private static bool Same(TStrings strings, string[] expected)
    {
        var comparison = new Comparison(expected);
        default(TContainer).Visit(strings, ref comparison);
        return comparison.Same;
    }
}
