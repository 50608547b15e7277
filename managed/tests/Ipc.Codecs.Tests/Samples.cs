using FsCheck;
using FsCheck.Fluent;
using Ipc.Peer;

namespace Ipc.Codecs.Tests;

/// <summary>Objects to try: the golden ones, and generators of any.</summary>
internal static class Samples
{
    public static Request Request { get; } = Stamped(PayloadData.Request(42, 3));
    public static Reply Reply { get; } = Stamped(PayloadData.Reply(42, 3));

    /// <summary>What native/tests/golden/README.md lists.</summary>
    public static Request EdgeRequest { get; } = new()
    {
        Sequence = ulong.MaxValue,
        Name = "",
        Ids = ["", "ä", "語€", "😀", "\"\\/\n\t\u0001", "a\0b"],
        Fields = [""],
    };

    /// <summary>What native/tests/golden/README.md lists.</summary>
    public static Reply EdgeReply { get; } = new()
    {
        Sequence = 0,
        Columns = uint.MaxValue,
        Cells = ["", "\u007f\u0080", "\uffff\U0010ffff", "e\u0301", "<&+'>", "مرحبا"],
    };

    // All that UTF-16 can say, in the proportions in which it breaks things.
    private static readonly Gen<string> s_text = Gen.Frequency(
        (4, Gen.Choose(0x20, 0x7e)), (2, Gen.Choose(0, 0x1f)), (2, Gen.Choose(0x7f, 0x7ff)), (2, Gen.Choose(0x800, 0xd7ff)),
        (1, Gen.Choose(0xe000, 0xffff)), (2, Gen.Choose(0x10000, 0x10ffff)))
        .ArrayOf().Select(scalars => string.Concat(scalars.Select(char.ConvertFromUtf32)));

    private static readonly Gen<ulong> s_sequence = Gen.Elements<ulong>(0, 1, 255, 1UL << 32, (1UL << 53) + 1, ulong.MaxValue);

    public static Arbitrary<Request> Requests { get; } = (
        from sequence in s_sequence
        from name in s_text
        from ids in s_text.ArrayOf()
        from fields in s_text.ArrayOf()
        select new Request { Sequence = sequence, Name = name, Ids = ids, Fields = fields }).ToArbitrary();

    public static Arbitrary<Reply> Replies { get; } = (
        from sequence in s_sequence
        from columns in Gen.Elements(0u, 1u, 10u, uint.MaxValue)
        from cells in s_text.ArrayOf()
        select new Reply { Sequence = sequence, Columns = columns, Cells = cells }).ToArbitrary();

    /// <summary>Any bytes at all.</summary>
    public static Arbitrary<byte[]> Bytes { get; } = Gen.Choose(0, 255).Select(b => (byte)b).ArrayOf().ToArbitrary();

    public static void AssertSame(Request expected, Request found)
    {
        Assert.Equal(expected.Sequence, found.Sequence);
        Assert.Equal(expected.Name, found.Name);
        Assert.Equal(expected.Ids, found.Ids);
        Assert.Equal(expected.Fields, found.Fields);
    }

    public static void AssertSame(Reply expected, Reply found)
    {
        Assert.Equal(expected.Sequence, found.Sequence);
        Assert.Equal(expected.Columns, found.Columns);
        Assert.Equal(expected.Cells, found.Cells);
    }

    private static Request Stamped(Request request)
    {
        request.Sequence = 7;
        return request;
    }

    private static Reply Stamped(Reply reply)
    {
        reply.Sequence = 7;
        return reply;
    }
}
