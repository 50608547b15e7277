namespace Ipc.Codecs;

// The searches, one character at a time.
internal sealed partial class LeastEscapes
{
    public override int FindFirstCharacterToEncodeUtf8(ReadOnlySpan<byte> utf8Text)
    {
        for (var i = 0; i < utf8Text.Length; i++)
        {
            if (IsEscaped(utf8Text[i]))
                return i;
        }
        return -1;
    }

    private static int IndexOfEscaped(ReadOnlySpan<char> text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            if (IsEscaped(text[i]))
                return i;
        }
        return -1;
    }

    private static int IndexOfSurrogate(ReadOnlySpan<char> text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            if (char.IsSurrogate(text[i]))
                return i;
        }
        return -1;
    }

    private static bool IsEscaped(int character) => character is < 0x20 or '"' or '\\';
}
