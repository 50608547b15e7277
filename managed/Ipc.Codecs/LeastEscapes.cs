using System.Text.Encodings.Web;

namespace Ipc.Codecs;

/// <summary>Escapes only what JSON demands: the quotation mark, the backslash and control characters, in their short forms. All else is
/// written as UTF-8, so that both languages write the same bytes; the framework's own encoders escape emoji and more.</summary>
/// <remarks>Such JSON is not meant to be pasted into HTML.</remarks>
internal sealed unsafe partial class LeastEscapes : JavaScriptEncoder
{
    public static LeastEscapes Instance { get; } = new();

    /// <summary>\u001f is the longest.</summary>
    public override int MaxOutputCharactersPerInputCharacter => 6;

    public override bool WillEncode(int unicodeScalar) => unicodeScalar is < 0x20 or '"' or '\\';

    public override int FindFirstCharacterToEncode(char* text, int textLength)
    {
        var characters = new ReadOnlySpan<char>(text, textLength);
        var escaped = IndexOfEscaped(characters);
        var half = IndexOfHalfPair(escaped < 0 ? characters : characters[..escaped]);
        return half < 0 ? escaped : half;
    }

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
        var escape = shortForm != '\0' ? $"\\{shortForm}"
            : unicodeScalar < 0x20 ? $"\\u{unicodeScalar:x4}"
            : char.ConvertFromUtf32(unicodeScalar);
        numberOfCharactersWritten = escape.Length;
        return escape.AsSpan().TryCopyTo(room);
    }

    /// <summary>Half a surrogate pair must count as something to encode, which makes it U+FFFD: the writer would drop it and all after it.</summary>
    private static int IndexOfHalfPair(ReadOnlySpan<char> text)
    {
        for (var at = 0; ; at += 2)
        {
            var next = IndexOfSurrogate(text[at..]);
            if (next < 0)
                return -1;
            at += next;
            if (at + 1 == text.Length || !char.IsSurrogatePair(text[at], text[at + 1]))
                return at;
        }
    }
}
