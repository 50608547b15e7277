namespace Ipc.Codecs.Tests;

/// <summary>A codec and the objects it works with, as bytes and domain objects.</summary>
public abstract class CodecUnderTest
{
    private static readonly Dictionary<string, CodecUnderTest> s_codecs = new()
    {
        ["custom"] = new CodecUnderTest<CustomCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(),
        ["custom, linked lists"] = new CodecUnderTest<CustomCodec<LinkedList<string>, LinkedStrings>, DomainAccess<LinkedList<string>, LinkedStrings>,
            Request<LinkedList<string>>, Reply<LinkedList<string>>>(),
        ["protobuf"] = new CodecUnderTest<ProtobufCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(),
        ["protobuf, linked lists"] = new CodecUnderTest<ProtobufCodec<LinkedList<string>, LinkedStrings>,
            DomainAccess<LinkedList<string>, LinkedStrings>, Request<LinkedList<string>>, Reply<LinkedList<string>>>(),
        ["protobuf-direct"] = new CodecUnderTest<ProtobufDirectCodec, MessageAccess, Messages.Request, Messages.Reply>(),
        ["flatbuffers"] = new CodecUnderTest<FlatBuffersCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(),
        ["flatbuffers, linked lists"] = new CodecUnderTest<FlatBuffersCodec<LinkedList<string>, LinkedStrings>,
            DomainAccess<LinkedList<string>, LinkedStrings>, Request<LinkedList<string>>, Reply<LinkedList<string>>>(),
        ["json"] = new CodecUnderTest<JsonCodec<string[], ArrayStrings>, DomainAccess<string[], ArrayStrings>, Request, Reply>(),
        ["json, linked lists"] = new CodecUnderTest<JsonCodec<LinkedList<string>, LinkedStrings>, DomainAccess<LinkedList<string>, LinkedStrings>,
            Request<LinkedList<string>>, Reply<LinkedList<string>>>(),
    };

    public static IEnumerable<string> Names => s_codecs.Keys;
    public static TheoryData<string> All => [.. Names];

    public static CodecUnderTest Get(string name) => s_codecs[name];

    public abstract byte[] Encode(Request request);
    public abstract byte[] Encode(Reply reply);
    public abstract Request DecodeRequest(byte[] bytes);
    public abstract Reply DecodeReply(byte[] bytes);

    /// <summary>Whether the codec's own comparison finds the decoded object the same as another.</summary>
    public abstract bool Same(byte[] bytes, Request expected);
    /// <summary>Whether the codec's own comparison finds the decoded object the same as another.</summary>
    public abstract bool Same(byte[] bytes, Reply expected);

    /// <summary>The sum of all characters of the decoded object.</summary>
    public abstract ulong TraverseRequest(byte[] bytes);
    /// <summary>The sum of all characters of the decoded object.</summary>
    public abstract ulong TraverseReply(byte[] bytes);
}

internal sealed class CodecUnderTest<TCodec, TAccess, TRequest, TReply> : CodecUnderTest
    where TCodec : struct, ICodec<TRequest, TReply>
    where TAccess : struct, IObjectAccess<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    public override byte[] Encode(Request request)
    {
        var buffer = new MessageBuffer();
        default(TCodec).EncodeRequest(default(TAccess).BuildRequest(request), buffer);
        return buffer.Written.ToArray();
    }

    public override byte[] Encode(Reply reply)
    {
        var buffer = new MessageBuffer();
        default(TCodec).EncodeReply(default(TAccess).BuildReply(reply), buffer);
        return buffer.Written.ToArray();
    }

    public override Request DecodeRequest(byte[] bytes) => default(TAccess).RequestToDomain(default(TCodec).DecodeRequest(bytes));
    public override Reply DecodeReply(byte[] bytes) => default(TAccess).ReplyToDomain(default(TCodec).DecodeReply(bytes));
    public override bool Same(byte[] bytes, Request expected) => default(TAccess).SameRequest(default(TCodec).DecodeRequest(bytes), expected);
    public override bool Same(byte[] bytes, Reply expected) => default(TAccess).SameReply(default(TCodec).DecodeReply(bytes), expected);
    public override ulong TraverseRequest(byte[] bytes) => default(TAccess).TraverseRequest(default(TCodec).DecodeRequest(bytes));
    public override ulong TraverseReply(byte[] bytes) => default(TAccess).TraverseReply(default(TCodec).DecodeReply(bytes));
}
