using System.Buffers.Binary;
using System.Text;

namespace Ipc.Codecs;

/// <summary>UTF-8, strictly: what is not, or cannot be, is refused.</summary>
internal static unsafe class Utf8Text
{
    private static readonly UTF8Encoding s_strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private const int LengthSize = 4;

    /// <summary>Writes a text's length and the text at an index with room for that and three bytes a character; how many bytes.</summary>
    public static int WriteWithLength(string text, byte[] bytes, int at)
    {
        var written = Write(text, bytes.AsSpan(at + LengthSize));
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at), written);
        return LengthSize + written;
    }

    private static int Write(string text, Span<byte> room)
    {
        if (text.Length == 0)
            return 0;
        try
        {
            fixed (char* characters = text)
            fixed (byte* bytes = room)
                return s_strict.GetBytes(characters, text.Length, bytes, room.Length);
        }
        catch (EncoderFallbackException e)
        {
            throw new CodecException($"a text holds half a surrogate pair at character {e.Index}, which UTF-8 cannot say: correct the text");
        }
    }

    /// <summary>The text, or null if the bytes are not UTF-8.</summary>
    public static string? Read(ReadOnlySpan<byte> utf8)
    {
        if (utf8.IsEmpty)
            return "";
        try
        {
            fixed (byte* bytes = utf8)
                return s_strict.GetString(bytes, utf8.Length);
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }

    public static bool IsValid(ReadOnlySpan<byte> utf8) => Read(utf8) is not null;
}
