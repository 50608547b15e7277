namespace Ipc.Peer;

/// <summary>Looks whether bytes that arrived are those that were sent; outside every timed region.</summary>
internal static class Content
{
    private const int CacheLine = 64;

    /// <summary>Throws WRONG_CONTENT unless every byte is as expected.</summary>
    public static void Check(string what, ReadOnlySpan<byte> found, ReadOnlySpan<byte> expected)
    {
        if (found.SequenceEqual(expected))
            return;
        if (found.Length != expected.Length)
            throw Failure.WrongLength(what, found.Length, expected.Length);
        throw Failure.WrongContent(
            $"byte {found.CommonPrefixLength(expected)} of the {what} is not what was sent: "
            + "the transport damaged it, or the peers got different seeds or lost step");
    }

    /// <summary>Damages a buffer in every cache line, so that bytes left from one exchange never pass for those of the next.</summary>
    public static void Spoil(Span<byte> bytes)
    {
        for (var at = 0; at < bytes.Length; at += CacheLine)
            bytes[at] = (byte)~bytes[at];
    }
}
