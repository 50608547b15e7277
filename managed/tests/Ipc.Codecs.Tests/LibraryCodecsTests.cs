using FsCheck;
using FsCheck.Fluent;
using Ipc.Peer;

namespace Ipc.Codecs.Tests;

/// <summary>The serializers that scenario `serialize` compares with: what is measured does its work, and encoding takes no memory anew.</summary>
public sealed class LibraryCodecsTests
{
    [Fact]
    public void MemoryPackGivesBackAnyObject() => AssertObjectsComeBack<MemoryPackCodec>();

    [Fact]
    public void MessagePackGivesBackAnyObject() => AssertObjectsComeBack<MessagePackCodec>();

    [Fact]
    public void MemoryPackEncodesWithoutMemory() => AssertEncodesWithoutMemory<MemoryPackCodec>();

    [Fact]
    public void MessagePackEncodesWithoutMemory() => AssertEncodesWithoutMemory<MessagePackCodec>();

    private static void AssertObjectsComeBack<TCodec>() where TCodec : struct, ICodec<LibraryRequest, LibraryReply>
    {
        var buffer = new MessageBuffer();
        Prop.ForAll(Samples.Requests, request =>
        {
            buffer.Clear();
            default(TCodec).EncodeRequest(default(LibraryAccess).BuildRequest(request), buffer);
            var back = default(TCodec).DecodeRequest(buffer.Written);
            Samples.AssertSame(request, default(LibraryAccess).RequestToDomain(back));
            Assert.True(default(LibraryAccess).SameRequest(back, request));
        }).QuickCheckThrowOnFailure();
        Prop.ForAll(Samples.Replies, reply =>
        {
            buffer.Clear();
            default(TCodec).EncodeReply(default(LibraryAccess).BuildReply(reply), buffer);
            var back = default(TCodec).DecodeReply(buffer.Written);
            Samples.AssertSame(reply, default(LibraryAccess).ReplyToDomain(back));
            Assert.True(default(LibraryAccess).SameReply(back, reply));
        }).QuickCheckThrowOnFailure();
        Assert.Throws<CodecException>(() => default(TCodec).DecodeReply(buffer.Written[..1]));
    }

    private static void AssertEncodesWithoutMemory<TCodec>() where TCodec : struct, ICodec<LibraryRequest, LibraryReply>
    {
        var buffer = new MessageBuffer();
        var reply = default(LibraryAccess).BuildReply(Samples.Reply);
        default(TCodec).EncodeReply(reply, buffer);
        buffer.Clear();
        var before = GC.GetAllocatedBytesForCurrentThread();
        default(TCodec).EncodeReply(reply, buffer);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }
}
