using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;

namespace Ipc.Codecs;

/// <summary>Escapes only what JSON demands: the quotation mark, the backslash and control characters, in their short forms. All else is
/// written as UTF-8, so that both languages write the same bytes; the framework's own encoders escape emoji and more.</summary>
/// <remarks>Such JSON is not meant to be pasted into HTML.</remarks>
internal sealed unsafe class LeastEscapes : JavaScriptEncoder
{
    private static readonly byte[] s_escapes = [.. Enumerable.Range(0, 0x20).Select(c => (byte)c), (byte)'"', (byte)'\\'];
    private static readonly SearchValues<byte> s_escapedBytes = SearchValues.Create(s_escapes);
    private static readonly SearchValues<char> s_escaped = SearchValues.Create(Array.ConvertAll(s_escapes, b => (char)b));

    public static LeastEscapes Instance { get; } = new();

    /// <summary>\u001f is the longest.</summary>
    public override int MaxOutputCharactersPerInputCharacter => 6;

    public override bool WillEncode(int unicodeScalar) => unicodeScalar is < 0x20 or '"' or '\\';

    public override int FindFirstCharacterToEncode(char* text, int textLength)
    {
        var characters = new ReadOnlySpan<char>(text, textLength);
        var escaped = characters.IndexOfAny(s_escaped);
        var half = IndexOfHalfPair(escaped < 0 ? characters : characters[..escaped]);
        return half < 0 ? escaped : half;
    }

    public override int FindFirstCharacterToEncodeUtf8(ReadOnlySpan<byte> utf8Text) => utf8Text.IndexOfAny(s_escapedBytes);

    public override bool TryEncodeUnicodeScalar(int unicodeScalar, char* buffer, int bufferLength, out int numberOfCharactersWritten)
    {
        var room = new Span<char>(buffer, bufferLength);
        var shortForm = unicodeScalar switch
        {
            '"' => '"',
            '\\' => '\\',
            '\b' => 'b',
            '\f' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            _ => '\0',
        };
        if (shortForm != '\0')
            return room.TryWrite($"\\{shortForm}", out numberOfCharactersWritten);
        if (unicodeScalar < 0x20)
            return room.TryWrite($"\\u{unicodeScalar:x4}", out numberOfCharactersWritten);
        return room.TryWrite($"{new Rune(unicodeScalar)}", out numberOfCharactersWritten);
    }

    /// <summary>Half a surrogate pair must count as something to encode, which makes it U+FFFD: the writer would drop it and all after it.</summary>
    private static int IndexOfHalfPair(ReadOnlySpan<char> text)
    {
        for (var at = 0; ; at += 2)
        {
            var next = text[at..].IndexOfAnyInRange('\ud800', '\udfff');
            if (next < 0)
                return -1;
            at += next;
            if (at + 1 == text.Length || !char.IsSurrogatePair(text[at], text[at + 1]))
                return at;
        }
    }
}
