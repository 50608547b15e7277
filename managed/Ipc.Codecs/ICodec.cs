namespace Ipc.Codecs;

// Members of these interfaces are static: code generic over structs that implement them is compiled once per codec, with direct
// calls. All of them may be used by several threads at once.

/// <summary>Turns a request and a reply into bytes and back.</summary>
/// <remarks>
/// Encoding appends to the buffer. Half a surrogate pair, which UTF-8 cannot say, is a <see cref="CodecException"/> or becomes U+FFFD,
/// as the codec's library has it. Decoders take bytes from anywhere: every length is checked before it is used, memory taken is
/// bounded by a small multiple of the bytes given, and damaged bytes are a <see cref="CodecException"/>.
/// </remarks>
/// <typeparam name="TRequest">What the program holds: a domain object or a message.</typeparam>
/// <typeparam name="TReply">The same for replies.</typeparam>
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

/// <summary>The half of a codec that scenario `serialize` times apart: a program's objects into those that are encoded, and back.</summary>
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

/// <summary>How code written for any codec reaches into its objects: <see cref="DomainAccess{TStrings, TContainer}"/> or
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
