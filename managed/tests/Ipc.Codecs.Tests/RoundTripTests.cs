using FsCheck;
using FsCheck.Fluent;

namespace Ipc.Codecs.Tests;

public sealed class RoundTripTests
{
    public static TheoryData<string> Codecs => CodecUnderTest.All;

    [Theory, MemberData(nameof(Codecs))]
    public void AnyRequestComesBack(string name)
    {
        var codec = CodecUnderTest.Get(name);
        Prop.ForAll(Samples.Requests, request => Samples.AssertSame(request, codec.DecodeRequest(codec.Encode(request)))).QuickCheckThrowOnFailure();
    }

    [Theory, MemberData(nameof(Codecs))]
    public void AnyReplyComesBack(string name)
    {
        var codec = CodecUnderTest.Get(name);
        Prop.ForAll(Samples.Replies, reply => Samples.AssertSame(reply, codec.DecodeReply(codec.Encode(reply)))).QuickCheckThrowOnFailure();
    }

    [Theory, MemberData(nameof(Codecs))]
    public void ComparisonSeesEveryDifference(string name)
    {
        var codec = CodecUnderTest.Get(name);
        var request = codec.Encode(Samples.Request);
        var (ids, fields) = (Samples.Request.Ids, Samples.Request.Fields);
        Assert.True(codec.Same(request, Samples.Request));
        Assert.False(codec.Same(request, new Request { Sequence = 7, Name = "other", Ids = ids, Fields = fields }));
        Assert.False(codec.Same(request, new Request { Sequence = 7, Name = Samples.Request.Name, Ids = [.. ids, "more"], Fields = fields }));
        Assert.False(codec.Same(request, new Request { Sequence = 7, Name = Samples.Request.Name, Ids = ids, Fields = fields[1..] }));

        var reply = codec.Encode(Samples.Reply);
        var cells = Samples.Reply.Cells;
        Assert.True(codec.Same(reply, Samples.Reply));
        Assert.False(codec.Same(reply, new Reply { Sequence = 7, Columns = 9, Cells = cells }));
        Assert.False(codec.Same(reply, new Reply { Sequence = 7, Columns = 10, Cells = [.. cells[..^1], "changed"] }));
    }

    [Theory, MemberData(nameof(Codecs))]
    public void TraversalReadsEveryCharacter(string name)
    {
        var codec = CodecUnderTest.Get(name);
        Assert.Equal(Sum(Samples.EdgeRequest.Ids) + Sum(Samples.EdgeRequest.Fields), codec.TraverseRequest(codec.Encode(Samples.EdgeRequest)));
        Assert.Equal(Sum(Samples.EdgeReply.Cells), codec.TraverseReply(codec.Encode(Samples.EdgeReply)));
    }

    [Theory, MemberData(nameof(Codecs))]
    public void EncodingAppendsAndReusesItsBuffer(string name)
    {
        // A large message between two small ones: the buffer grows and keeps what it had.
        var codec = CodecUnderTest.Get(name);
        var large = new Reply { Sequence = 1, Columns = 10, Cells = [.. Enumerable.Repeat(new string('語', 1000), 500)] };
        Samples.AssertSame(large, codec.DecodeReply(codec.Encode(large)));

        var buffer = new MessageBuffer();
        default(CustomCodec<string[], ArrayStrings>).EncodeReply(Samples.Reply, buffer);
        var first = buffer.Written.ToArray();
        default(CustomCodec<string[], ArrayStrings>).EncodeReply(large, buffer);
        Assert.True(buffer.Written.StartsWith(first));
        buffer.Clear();
        Assert.True(buffer.Written.IsEmpty);
        default(CustomCodec<string[], ArrayStrings>).EncodeReply(Samples.Reply, buffer);
        Assert.Equal(first, buffer.Written.ToArray());
    }

    [Fact]
    public void TranslationIsTheHalfThatEncodingLeavesOut()
    {
        var message = default(ProtobufTranslation<string[], ArrayStrings>).TranslateRequest(Samples.EdgeRequest);
        var direct = new MessageBuffer();
        default(ProtobufDirectCodec).EncodeRequest(message, direct);
        Assert.Equal(CodecUnderTest.Get("protobuf").Encode(Samples.EdgeRequest), direct.Written.ToArray());
        Samples.AssertSame(Samples.EdgeRequest, default(ProtobufTranslation<string[], ArrayStrings>).TranslateBackRequest(message));
    }

    // Texts are converted in blocks that depend on their length: every length, and something else at every place.
    [Fact]
    public void TextsOfEveryLengthAreConvertedWhole()
    {
        var codec = CodecUnderTest.Get("custom");
        for (var length = 0; length <= 70; length++)
        {
            var text = string.Concat(Enumerable.Range(0, length).Select(i => (char)('!' + i)));
            var reply = new Reply { Sequence = 1, Columns = 2, Cells = ["", text, "z", text] };
            var bytes = codec.Encode(reply);
            Assert.Equal(16 + 4 + 2 * (4 + length) + 5, bytes.Length);
            Samples.AssertSame(reply, codec.DecodeReply(bytes));
            for (var at = 0; at < length; at++)
            {
                const int first = 16 + 4 + 4; // behind the header, the empty text and the text's own length
                var damaged = bytes.ToArray();
                damaged[first + at] = 0x80;
                Assert.Throws<CodecException>(() => codec.DecodeReply(damaged));
                foreach (var foreign in (string[])["\u0080", "ä", "€", "\uffff", "😀"])
                {
                    var mixed = new Reply { Sequence = 1, Columns = 1, Cells = [string.Concat(text.AsSpan(0, at), foreign, text.AsSpan(at + 1)), text] };
                    Samples.AssertSame(mixed, codec.DecodeReply(codec.Encode(mixed)));
                }
            }
        }
    }

    [Fact]
    public void CustomAllocatesOnlyItsObjects()
    {
        var buffer = new MessageBuffer();
        default(CustomCodec<string[], ArrayStrings>).EncodeReply(Samples.Reply, buffer);
        var before = GC.GetAllocatedBytesForCurrentThread();
        buffer.Clear();
        default(CustomCodec<string[], ArrayStrings>).EncodeReply(Samples.Reply, buffer);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
    }

    // What a message held before must not show, whether the next one is good, shorter or damaged.
    [Fact]
    public void ReusedMessagesHoldOnlyWhatCameLast()
    {
        var codec = CodecUnderTest.Get("protobuf-direct");
        var (request, reply) = (new Messages.Request(), new Messages.Reply());
        foreach (var next in (Request[])[Samples.Request, Samples.EdgeRequest, new() { Sequence = 0, Name = "", Ids = [], Fields = [] }, Samples.Request])
        {
            ProtobufDirectCodec.DecodeInto(codec.Encode(next), request);
            Samples.AssertSame(next, default(MessageAccess).RequestToDomain(request));
            Assert.Throws<CodecException>(() => ProtobufDirectCodec.DecodeInto([0x1a, 5, 0xff], request));
        }
        foreach (var next in (Reply[])[Samples.Reply, Samples.EdgeReply, new() { Sequence = 0, Columns = 0, Cells = [] }, Samples.Reply])
        {
            ProtobufDirectCodec.DecodeInto(codec.Encode(next), reply);
            Samples.AssertSame(next, default(MessageAccess).ReplyToDomain(reply));
            ProtobufDirectCodec.DecodeInto([0x7a, 1, 0xff, .. codec.Encode(next)], reply);
            ProtobufDirectCodec.DecodeInto(codec.Encode(next), reply);
            Assert.Equal(codec.Encode(next).Length, reply.CalculateSize());
            Assert.Throws<CodecException>(() => ProtobufDirectCodec.DecodeInto([0x1a, 1, 0xff], reply));
        }
    }

    [Fact]
    public void ViewsAllocateNothing()
    {
        AssertWalksWithoutMemory("custom", static bytes =>
        {
            var characters = 0;
            foreach (var cell in new CustomReplyView(bytes))
                characters += cell.Length;
            return characters;
        });
        AssertWalksWithoutMemory("flatbuffers", static bytes =>
        {
            var characters = 0;
            foreach (var cell in new FlatBuffersReplyView(bytes))
                characters += cell.Length;
            return characters;
        });
    }

    private static void AssertWalksWithoutMemory(string codec, Func<byte[], int> countCharacters)
    {
        var bytes = CodecUnderTest.Get(codec).Encode(Samples.Reply);
        Assert.Equal(600, countCharacters(bytes));
        var before = GC.GetAllocatedBytesForCurrentThread();
        var characters = countCharacters(bytes);
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.Equal(600, characters);
    }

    private static ulong Sum(string[] texts) => texts.Aggregate(0UL, (sum, text) => text.Aggregate(sum, (s, character) => s + character));
}
