namespace Ipc.Codecs;

// Members of these interfaces are static: code generic over structs that implement them is compiled once per codec, with direct
// calls. All of them may be used by several threads at once.

/// <summary>Encodes requests and replies as bytes, and decodes them.</summary>
/// <remarks>Encoding appends to the buffer. A lone surrogate, which UTF-8 cannot express, is a <see cref="CodecException"/> or becomes U+FFFD, depending
/// on the codec's library. Decoders accept bytes from anywhere: they check every length before they use it, allocate at most a small multiple of the
/// bytes given, and throw a <see cref="CodecException"/> for damaged bytes.</remarks>
/// <typeparam name="TRequest">The program's request: a domain object or a message.</typeparam>
/// <typeparam name="TReply">The program's reply.</typeparam>
public interface ICodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    /// <summary>Appends a request's bytes.</summary>
    void EncodeRequest(TRequest request, MessageBuffer buffer);
    /// <summary>A new request from its bytes.</summary>
    TRequest DecodeRequest(ReadOnlySpan<byte> bytes);
    /// <summary>Appends a reply's bytes.</summary>
    void EncodeReply(TReply reply, MessageBuffer buffer);
    /// <summary>A new reply from its bytes.</summary>
    TReply DecodeReply(ReadOnlySpan<byte> bytes);
}

/// <summary>Converts the program's objects to those that are encoded, and back. Scenario <c>serialize</c> measures this part separately.</summary>
public interface ITranslation<TRequest, TReply, TRequestOnWire, TReplyOnWire>
{
    /// <summary>The request to encode.</summary>
    TRequestOnWire TranslateRequest(TRequest request);
    /// <summary>The reply to encode.</summary>
    TReplyOnWire TranslateReply(TReply reply);
    /// <summary>The program's object of a decoded request.</summary>
    TRequest TranslateBackRequest(TRequestOnWire request);
    /// <summary>The program's object of a decoded reply.</summary>
    TReply TranslateBackReply(TReplyOnWire reply);
}

/// <summary>Access to the objects of any codec, for code written once for all of them: <see cref="DomainAccess{TStrings, TContainer}"/> or
/// <see cref="MessageAccess"/>.</summary>
public interface IObjectAccess<TRequest, TReply>
{
    /// <summary>Builds a request from domain data, every string a copy of its own.</summary>
    TRequest BuildRequest(Request domain);
    /// <summary>Builds a reply from domain data, every string a copy of its own.</summary>
    TReply BuildReply(Reply domain);

    /// <summary>The request as a domain object; strings are shared.</summary>
    Request RequestToDomain(TRequest request);
    /// <summary>The reply as a domain object; strings are shared.</summary>
    Reply ReplyToDomain(TReply reply);

    /// <summary>Whether the contents are the same; sequences are compared by whoever counts them.</summary>
    bool SameRequest(TRequest request, Request expected);
    /// <summary>Whether the contents are the same; sequences are compared by whoever counts them.</summary>
    bool SameReply(TReply reply, Reply expected);

    /// <summary>Reads every character of the ids and fields; the sum keeps the reading from being optimised away.</summary>
    ulong TraverseRequest(TRequest request);
    /// <summary>Reads every character of the cells.</summary>
    ulong TraverseReply(TReply reply);
}

/// <summary>For codecs that encode the program's objects as they are.</summary>
public readonly struct NoTranslation<TRequest, TReply> : ITranslation<TRequest, TReply, TRequest, TReply>
{
    /// <inheritdoc/>
    public TRequest TranslateRequest(TRequest request) => request;
    /// <inheritdoc/>
    public TReply TranslateReply(TReply reply) => reply;
    /// <inheritdoc/>
    public TRequest TranslateBackRequest(TRequest request) => request;
    /// <inheritdoc/>
    public TReply TranslateBackReply(TReply reply) => reply;
}
