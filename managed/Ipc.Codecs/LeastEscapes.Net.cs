using System.Buffers;

namespace Ipc.Codecs;

// The searches, many characters at a time.
internal sealed partial class LeastEscapes
{
    private static readonly byte[] s_escapes = [.. Enumerable.Range(0, 0x20).Select(c => (byte)c), (byte)'"', (byte)'\\'];
    private static readonly SearchValues<byte> s_escapedBytes = SearchValues.Create(s_escapes);
    private static readonly SearchValues<char> s_escaped = SearchValues.Create(Array.ConvertAll(s_escapes, b => (char)b));

    public override int FindFirstCharacterToEncodeUtf8(ReadOnlySpan<byte> utf8Text) => utf8Text.IndexOfAny(s_escapedBytes);

    private static int IndexOfEscaped(ReadOnlySpan<char> text) => text.IndexOfAny(s_escaped);

    private static int IndexOfSurrogate(ReadOnlySpan<char> text) => text.IndexOfAnyInRange('\ud800', '\udfff');
}
