using System.Buffers.Binary;
using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Google.FlatBuffers;

namespace Ipc.Codecs.Tests;

/// <summary>Whatever bytes come, a decoder either gives an object or says <see cref="CodecException"/>, and takes little memory.</summary>
public sealed class HostileBytesTests
{
    // The exception, its error message and what the library below makes of it; far below what any hostile count asks for.
    private const long LittleMemory = 256 * 1024;

    private static readonly CodecUnderTest s_custom = CodecUnderTest.Get("custom");

    public static TheoryData<string> Codecs => CodecUnderTest.All;

    /// <summary>UTF-8 that is not well-formed: lone and missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF.</summary>
    public static TheoryData<byte[]> NotUtf8 =>
    [
        [0x80], [0xbf, 0x41], [0xc3], [0xc3, 0x28], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80],
        [0xed, 0xbf, 0xbf], [0xf0, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff],
        .. new[] { Encoding.ASCII.GetBytes(new string('a', 100)).Append((byte)0xe2).ToArray() },
    ];

    [Theory, MemberData(nameof(Codecs))]
    public void TruncationIsRefusedAtEveryByte(string name)
    {
        var codec = CodecUnderTest.Get(name);
        var request = codec.Encode(Samples.EdgeRequest);
        for (var length = 0; length < request.Length; length++)
            AssertRefusedOrDifferent(name, () => codec.Same(request[..length], Samples.EdgeRequest));
        var reply = codec.Encode(Samples.EdgeReply);
        for (var length = 0; length < reply.Length; length++)
            AssertRefusedOrDifferent(name, () => codec.Same(reply[..length], Samples.EdgeReply));
    }

    [Theory, MemberData(nameof(Codecs))]
    public void AnyBytesGiveAnObjectOrARefusal(string name)
    {
        var codec = CodecUnderTest.Get(name);
        Prop.ForAll(Samples.Bytes, bytes =>
        {
            Try(() => codec.DecodeRequest(bytes));
            Try(() => codec.DecodeReply(bytes));
        }).QuickCheckThrowOnFailure();
    }

    [Theory, MemberData(nameof(Codecs))]
    public void AnyChangedByteGivesAnObjectOrARefusal(string name)
    {
        var codec = CodecUnderTest.Get(name);
        var request = codec.Encode(Samples.EdgeRequest);
        for (var at = 0; at < request.Length; at++)
        {
            foreach (byte value in (byte[])[0, 1, 0x7f, 0x80, 0xff])
            {
                var changed = request.ToArray();
                changed[at] = value;
                AssertTakesLittle(() => Try(() => codec.DecodeRequest(changed)));
            }
        }
    }

    [Theory]
    [InlineData(8)] // number of ids
    [InlineData(12)] // number of fields
    [InlineData(16)] // length of the name
    public void CustomRequestWithHostileCountIsRefusedWithoutMemory(int offset) =>
        AssertHostileCountsAreRefused(s_custom.Encode(Samples.Request), offset, s_custom.DecodeRequest);

    [Theory]
    [InlineData(12)] // number of cells
    [InlineData(16)] // length of the first cell
    public void CustomReplyWithHostileCountIsRefusedWithoutMemory(int offset) =>
        AssertHostileCountsAreRefused(s_custom.Encode(Samples.Reply), offset, s_custom.DecodeReply);

    [Fact]
    public void CustomBytesLeftOverAreRefused()
    {
        var refusal = Assert.Throws<CodecException>(() => s_custom.DecodeRequest([.. s_custom.Encode(Samples.Request), 0]));
        Assert.Contains("1 bytes more", refusal.Message, StringComparison.Ordinal);
        Assert.Throws<CodecException>(() => s_custom.DecodeReply([.. s_custom.Encode(Samples.Reply), 0]));
    }

    [Theory]
    [InlineData(new byte[] { 0x12, 0xff, 0xff, 0xff, 0xff, 0x07 })] // a name of 2^31 - 1 bytes
    [InlineData(new byte[] { 0x1a, 0xff, 0xff, 0xff, 0xff, 0x0f })] // an id of -1 bytes
    [InlineData(new byte[] { 0x0b })] // a group
    [InlineData(new byte[] { 0x09, 1, 2 })] // half a sequence
    public void ProtobufWithHostileLengthIsRefusedWithoutMemory(byte[] bytes)
    {
        AssertTakesLittle(() => Assert.Throws<CodecException>(() => CodecUnderTest.Get("protobuf").DecodeRequest(bytes)));
        AssertTakesLittle(() => Assert.Throws<CodecException>(() => CodecUnderTest.Get("protobuf-direct").DecodeRequest(bytes)));
    }

    // A message whose offsets all lead to one text would otherwise ask for a thousand times its own memory.
    [Fact]
    public void FlatBuffersTextsThatManyOffsetsShareAreRefused()
    {
        const int Cells = 2000;
        var builder = new FlatBufferBuilder(1024);
        var text = builder.CreateString(new string('x', 10_000));
        builder.StartVector(sizeof(int), Cells, sizeof(int));
        for (var i = 0; i < Cells; i++)
            builder.AddOffset(text.Value);
        var cells = builder.EndVector();
        builder.StartTable(3);
        builder.AddOffset(2, cells.Value, 0);
        builder.Finish(builder.EndTable());
        var bytes = builder.SizedByteArray();
        AssertTakesLittle(() => Assert.Contains("overlap",
            Assert.Throws<CodecException>(() => CodecUnderTest.Get("flatbuffers").DecodeReply(bytes)).Message, StringComparison.Ordinal));
    }

    // Any four bytes, which are all that a FlatBuffers message has of offsets, lengths and lists of fields.
    [Fact]
    public void AnyNumberInAFlatBuffersMessageGivesAnObjectOrARefusal()
    {
        var codec = CodecUnderTest.Get("flatbuffers");
        var whole = codec.Encode(Samples.EdgeRequest);
        for (var at = 0; at + sizeof(uint) <= whole.Length; at++)
        {
            var rest = (uint)(whole.Length - at);
            foreach (var number in (uint[])[0, 1, 4, 5, (uint)whole.Length, rest, int.MaxValue, 1u << 31, uint.MaxValue, uint.MaxValue - (uint)at])
            {
                var changed = whole.ToArray();
                BinaryPrimitives.WriteUInt32LittleEndian(changed.AsSpan(at), number);
                AssertTakesLittle(() => Try(() => codec.DecodeRequest(changed)));
            }
        }
    }

    [Theory, MemberData(nameof(NotUtf8))]
    public void InvalidUtf8IsRefused(byte[] text)
    {
        byte[] custom = [.. new byte[8], 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte)text.Length, 0, 0, 0, .. text];
        Assert.Contains("not UTF-8", Assert.Throws<CodecException>(() => s_custom.DecodeRequest(custom)).Message, StringComparison.Ordinal);

        byte[] protobuf = [0x1a, (byte)text.Length, .. text];
        Assert.Throws<CodecException>(() => CodecUnderTest.Get("protobuf").DecodeRequest(protobuf));
        Assert.Throws<CodecException>(() => CodecUnderTest.Get("protobuf-direct").DecodeRequest(protobuf));

        byte[] json = [.. "{\"sequence\":1,\"name\":\"\",\"fields\":[],\"ids\":[\""u8, .. text, .. "\"]}"u8];
        Assert.Throws<CodecException>(() => CodecUnderTest.Get("json").DecodeRequest(json));
    }

    [Fact]
    public void SentReplacementCharacterIsNotMistakenForDamage()
    {
        var reply = new Reply { Sequence = 300, Columns = 1000, Cells = ["\ufffd", "a\ufffdb", new string('\ufffd', 100)] };
        foreach (var name in CodecUnderTest.Names)
            Samples.AssertSame(reply, CodecUnderTest.Get(name).DecodeReply(CodecUnderTest.Get(name).Encode(reply)));
        // An unknown field of bytes, a varint and a fixed32 are skipped, whatever they hold.
        byte[] unknown = [0x7a, 1, 0xff, 0x78, 0xff, 1, 0x7d, 0xff, 0xff, 0xff, 0xff, .. CodecUnderTest.Get("protobuf").Encode(reply)];
        Samples.AssertSame(reply, CodecUnderTest.Get("protobuf").DecodeReply(unknown));
    }

    [Theory, MemberData(nameof(Codecs))]
    public void HalfASurrogatePairIsRefusedOrReplaced(string name)
    {
        var codec = CodecUnderTest.Get(name);
        foreach (var half in (string[])["\ud83d", "a\ude00b", new string('x', 200) + "\ud83d"])
        {
            var replaced = half.Replace('\ud83d', '\ufffd').Replace('\ude00', '\ufffd');
            var reply = new Reply { Sequence = 1, Columns = 1, Cells = [half] };
            if (name.StartsWith("custom", StringComparison.Ordinal))
                Assert.Contains("surrogate", Assert.Throws<CodecException>(() => codec.Encode(reply)).Message, StringComparison.Ordinal);
            else
                Assert.Equal(replaced, codec.DecodeReply(codec.Encode(reply)).Cells[0]);
        }
    }

    // Reading in place shows what decoding gives, and refuses in the same words, whatever the bytes.
    [Theory, InlineData("custom"), InlineData("flatbuffers")]
    public void ViewsShowWhatTheDecoderFinds(string name)
    {
        var codec = CodecUnderTest.Get(name);
        Prop.ForAll(Samples.Requests, request => AssertSameInPlace(name, codec.Encode(request))).QuickCheckThrowOnFailure();
        Prop.ForAll(Samples.Replies, reply => AssertSameInPlace(name, codec.Encode(reply))).QuickCheckThrowOnFailure();
        Prop.ForAll(Samples.Bytes, bytes => AssertSameInPlace(name, bytes)).QuickCheckThrowOnFailure();
        foreach (var bytes in (byte[][])[codec.Encode(Samples.EdgeRequest), codec.Encode(Samples.EdgeReply), codec.Encode(Samples.Reply)])
        {
            AssertSameInPlace(name, [.. bytes, 0]);
            for (var at = 0; at < bytes.Length; at++)
            {
                AssertSameInPlace(name, bytes[..at]);
                foreach (byte value in (byte[])[0, 1, 0x7f, 0x80, 0xff])
                {
                    var changed = bytes.ToArray();
                    changed[at] = value;
                    AssertSameInPlace(name, changed);
                }
            }
        }
    }

    private static void AssertSameInPlace(string name, byte[] bytes)
    {
        var codec = CodecUnderTest.Get(name);
        Assert.Equal(
            Shown(() =>
            {
                var request = codec.DecodeRequest(bytes);
                return [$"{request.Sequence} {request.Ids.Length} {request.Fields.Length}", request.Name, .. request.Ids, .. request.Fields];
            }),
            Shown(() => name == "custom" ? Shown(new CustomRequestView(bytes)) : Shown(new FlatBuffersRequestView(bytes))));
        Assert.Equal(
            Shown(() =>
            {
                var reply = codec.DecodeReply(bytes);
                return [$"{reply.Sequence} {reply.Columns} {reply.Cells.Length}", .. reply.Cells];
            }),
            Shown(() => name == "custom" ? Shown(new CustomReplyView(bytes)) : Shown(new FlatBuffersReplyView(bytes))));
    }

    private static List<string> Shown(CustomRequestView view)
    {
        List<string> shown = [$"{view.Sequence} {view.Ids} {view.Fields}"];
        foreach (var text in view)
            shown.Add(Encoding.UTF8.GetString(text));
        return shown;
    }

    private static List<string> Shown(FlatBuffersRequestView view)
    {
        List<string> shown = [$"{view.Sequence} {view.Ids} {view.Fields}"];
        foreach (var text in view)
            shown.Add(Encoding.UTF8.GetString(text));
        return shown;
    }

    private static List<string> Shown(CustomReplyView view)
    {
        List<string> shown = [$"{view.Sequence} {view.Columns} {view.Cells}"];
        foreach (var text in view)
            shown.Add(Encoding.UTF8.GetString(text));
        return shown;
    }

    private static List<string> Shown(FlatBuffersReplyView view)
    {
        List<string> shown = [$"{view.Sequence} {view.Columns} {view.Cells}"];
        foreach (var text in view)
            shown.Add(Encoding.UTF8.GetString(text));
        return shown;
    }

    private static List<string> Shown(Func<List<string>> read)
    {
        try
        {
            return read();
        }
        catch (CodecException refusal)
        {
            return [refusal.Message];
        }
    }

    private static void AssertHostileCountsAreRefused(byte[] bytes, int offset, Func<byte[], object> decode)
    {
        foreach (var count in (uint[])[uint.MaxValue, int.MaxValue, 1u << 31, (uint)bytes.Length, 1u << 24])
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(offset), count);
            AssertTakesLittle(() => Assert.Throws<CodecException>(() => decode(bytes)));
        }
    }

    private static void AssertTakesLittle(Action action)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        action();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, LittleMemory);
    }

    // In Protocol Buffers an object cut between two fields is an object: with less in it.
    private static void AssertRefusedOrDifferent(string name, Func<bool> same)
    {
        if (name.StartsWith("protobuf", StringComparison.Ordinal))
            Try(() => Assert.False(same()));
        else
            Assert.Throws<CodecException>(() => same());
    }

    private static void Try(Action decode)
    {
        try
        {
            decode();
        }
        catch (CodecException e)
        {
            Assert.Contains("check that", e.Message, StringComparison.Ordinal);
        }
    }
}
