using Ipc.Peer;

namespace Ipc.Codecs.Tests;

/// <summary>The files that hold this implementation and its native twin together, native/tests/golden/README.md.</summary>
public sealed class GoldenFilesTests
{
    public static TheoryData<string, string> CodecsAndFiles => new()
    {
        { "custom", "custom" }, { "custom, linked lists", "custom" },
        { "protobuf", "protobuf" }, { "protobuf, linked lists", "protobuf" }, { "protobuf-direct", "protobuf" },
        { "flatbuffers", "flatbuffers" }, { "flatbuffers, linked lists", "flatbuffers" },
        { "json", "json" }, { "json, linked lists", "json" },
    };

    [Theory, MemberData(nameof(CodecsAndFiles))]
    public void RequestIsReadAndWrittenAlike(string codec, string file) => CheckRequest(codec, $"request.{file}", Samples.Request);

    [Theory, MemberData(nameof(CodecsAndFiles))]
    public void EdgeRequestIsReadAndWrittenAlike(string codec, string file) => CheckRequest(codec, $"request-edge.{file}", Samples.EdgeRequest);

    [Theory, MemberData(nameof(CodecsAndFiles))]
    public void ReplyIsReadAndWrittenAlike(string codec, string file) => CheckReply(codec, $"reply.{file}", Samples.Reply);

    [Theory, MemberData(nameof(CodecsAndFiles))]
    public void EdgeReplyIsReadAndWrittenAlike(string codec, string file) => CheckReply(codec, $"reply-edge.{file}", Samples.EdgeReply);

    [Theory, MemberData(nameof(CodecsAndFiles))]
    public void CollectionsAreReadAndWrittenAlike(string codec, string file)
    {
        var tested = CodecUnderTest.Get(codec);
        Request[] requests = [Samples.Request, Samples.EdgeRequest, Samples.Request];
        Reply[] replies = [Samples.Reply, Samples.EdgeReply, Samples.Reply];
        CheckCollection(file, "requests", [.. requests.Select(r => tested.Encode(r))],
            (bytes, i) => Samples.AssertSame(requests[i], tested.DecodeRequest(bytes)));
        CheckCollection(file, "replies", [.. replies.Select(r => tested.Encode(r))],
            (bytes, i) => Samples.AssertSame(replies[i], tested.DecodeReply(bytes)));
    }

    // Short and long objects: what stands around them is as long as it must be.
    [Theory]
    [InlineData("custom"), InlineData("protobuf"), InlineData("json")]
    public void CollectionsTakeObjectsOfAnyLength(string codec)
    {
        int[] lengths = [0, 1, 127, 128, 16_383, 16_384, 2_097_152, 5];
        var collection = new MessageBuffer();
        foreach (var length in lengths)
            Append(FramingOf(codec), collection, new byte[length]);
        var left = collection.Written;
        foreach (var length in lengths)
            Assert.Equal(length, FramingOf(codec).Split(ref left).Length);
        Assert.True(left.IsEmpty);
    }

    [Theory]
    [InlineData("custom", new byte[] { 255, 255, 255, 255, 0 }), InlineData("custom", new byte[] { 1, 0, 0 })]
    [InlineData("protobuf", new byte[] { 0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F }), InlineData("protobuf", new byte[] { 0x0A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 })]
    [InlineData("protobuf", new byte[] { 0x0A }), InlineData("protobuf", new byte[] { 0x12, 0 }), InlineData("json", new byte[] { (byte)'{', (byte)'}' })]
    public void DamagedCollectionsAreRefused(string codec, byte[] bytes) =>
        Assert.Throws<CodecException>(() =>
        {
            ReadOnlySpan<byte> left = bytes;
            FramingOf(codec).Split(ref left);
        });

    [Fact]
    public void RawPayloadIsMadeAlike()
    {
        var payload = PayloadData.Raw(42, 100);
        PayloadData.Stamp(payload, 1);
        Assert.Equal(Read("raw-request.bin"), payload);
    }

    private static void CheckRequest(string codec, string file, Request expected)
    {
        var bytes = Read(file);
        Samples.AssertSame(expected, CodecUnderTest.Get(codec).DecodeRequest(bytes));
        Assert.Equal(bytes, CodecUnderTest.Get(codec).Encode(expected));
    }

    private static void CheckReply(string codec, string file, Reply expected)
    {
        var bytes = Read(file);
        Samples.AssertSame(expected, CodecUnderTest.Get(codec).DecodeReply(bytes));
        Assert.Equal(bytes, CodecUnderTest.Get(codec).Encode(expected));
    }

    private static void CheckCollection(string file, string name, IReadOnlyList<byte[]> objects, Action<byte[], int> check)
    {
        var committed = Read($"{name}.{file}");
        var collection = new MessageBuffer();
        foreach (var one in objects)
            Append(FramingOf(file), collection, one);
        Assert.Equal(committed, collection.Written.ToArray());
        ReadOnlySpan<byte> left = committed;
        for (var i = 0; i < objects.Count; i++)
            check(FramingOf(file).Split(ref left).ToArray(), i);
        Assert.True(left.IsEmpty);
    }

    private static void Append(IFraming framing, MessageBuffer collection, byte[] one)
    {
        var opened = framing.Open(collection);
        one.CopyTo(collection.GetSpan(one.Length));
        collection.Advance(one.Length);
        framing.Close(collection, opened);
    }

    private static IFraming FramingOf(string codec) => codec switch
    {
        "protobuf" => new FieldFraming(),
        "json" => new LineFraming(),
        _ => new LengthFraming(),
    };

    private static byte[] Read(string file) => File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "golden", file));
}
