using Ipc.Peer;

namespace Ipc.Codecs.Tests;

/// <summary>The files that hold this implementation and its native twin together, native/tests/golden/README.md.</summary>
public sealed class GoldenFilesTests
{
    public static TheoryData<string, string> CodecsAndFiles => new()
    {
        { "custom", "custom" }, { "custom, linked lists", "custom" },
        { "protobuf", "protobuf" }, { "protobuf, linked lists", "protobuf" }, { "protobuf-direct", "protobuf" },
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

    private static byte[] Read(string file) => File.ReadAllBytes(Path.Combine(AppContext.BaseDirectory, "golden", file));
}
