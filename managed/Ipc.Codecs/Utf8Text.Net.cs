using System.Buffers;
using System.Text;
using System.Text.Unicode;

namespace Ipc.Codecs;

/// <summary>UTF-8, strictly: what is not, or cannot be, is refused.</summary>
internal static class Utf8Text
{
    /// <summary>Writes a text into room for at least three bytes a character; how many bytes.</summary>
    public static int Write(string text, Span<byte> room)
    {
        // Nearly every text is ASCII; that conversion is one vectorised pass with the check built in.
        if (Ascii.FromUtf16(text, room, out var written) == OperationStatus.Done)
            return written;
        if (Utf8.FromUtf16(text, room, out _, out written, replaceInvalidSequences: false) == OperationStatus.Done)
            return written;
        throw new CodecException($"a text holds half a surrogate pair after {written} bytes, which UTF-8 cannot say: correct the text");
    }

    /// <summary>The text, or null if the bytes are not UTF-8.</summary>
    public static string? Read(ReadOnlySpan<byte> utf8)
    {
        // Nearly every text is ASCII, whose characters are its bytes widened: quicker than counting characters first.
        if (Ascii.IsValid(utf8))
            return Encoding.Latin1.GetString(utf8);
        return Utf8.IsValid(utf8) ? Encoding.UTF8.GetString(utf8) : null;
    }

    public static bool IsValid(ReadOnlySpan<byte> utf8) => Utf8.IsValid(utf8);
}
