using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Text;
using System.Text.Unicode;

namespace Ipc.Codecs;

/// <summary>UTF-8, strictly: what is not, or cannot be, is refused.</summary>
/// <remarks>Nearly every text is ASCII, and an identifier or a cell nearly always has 16 to 32 characters: those are converted here, in registers, as
/// two overlapping blocks, a few instructions where the library's conversion is a call that must first find out the length.</remarks>
internal static class Utf8Text
{
    private const int Block = 16; // bytes of a vector, and the characters that become or were one
    private const ushort NotAscii = 0xFF80;
    private const int LengthSize = 4;

    /// <summary>Writes a text's length and the text at an index with room for that and three bytes a character; how many bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int WriteWithLength(string text, byte[] bytes, int at)
    {
        // One comparison for both bounds: below 16 the difference is a huge number.
        if ((uint)(text.Length - Block) <= Block)
        {
            ref var from = ref Characters(text);
            ref var to = ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(bytes), at);
            var rest = (nuint)(text.Length - Block);
            var (a, b) = (Vector128.LoadUnsafe(ref from), Vector128.LoadUnsafe(ref from, Block / 2));
            var (c, d) = (Vector128.LoadUnsafe(ref from, rest), Vector128.LoadUnsafe(ref from, rest + Block / 2));
            if (((a | b | c | d) & Vector128.Create(NotAscii)) == Vector128<ushort>.Zero)
            {
                BinaryPrimitives.WriteInt32LittleEndian(MemoryMarshal.CreateSpan(ref to, LengthSize), text.Length);
                Vector128.Narrow(a, b).StoreUnsafe(ref to, LengthSize);
                Vector128.Narrow(c, d).StoreUnsafe(ref to, LengthSize + rest);
                return LengthSize + text.Length;
            }
        }
        return WriteAnyWithLength(text, bytes, at);
    }

    private static int WriteAnyWithLength(string text, byte[] bytes, int at)
    {
        var written = WriteAny(text, bytes.AsSpan(at + LengthSize));
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at), written);
        return LengthSize + written;
    }

    private static int WriteAny(string text, Span<byte> room)
    {
        if (Ascii.FromUtf16(text, room, out var written) == OperationStatus.Done)
            return written;
        if (Utf8.FromUtf16(text, room, out _, out written, replaceInvalidSequences: false) == OperationStatus.Done)
            return written;
        throw new CodecException($"a text holds half a surrogate pair after {written} bytes, which UTF-8 cannot say: correct the text");
    }

    /// <summary>The text, or null if the bytes are not UTF-8. Bytes that a peer changes meanwhile give another text, at worst with U+0080 to U+00FF
    /// in it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static string? Read(ReadOnlySpan<byte> utf8)
    {
        if ((uint)(utf8.Length - Block) <= Block)
        {
            ref var from = ref MemoryMarshal.GetReference(utf8);
            var rest = (nuint)(utf8.Length - Block);
            var (head, tail) = (Vector128.LoadUnsafe(ref from), Vector128.LoadUnsafe(ref from, rest));
            if ((head | tail).ExtractMostSignificantBits() == 0)
            {
                var text = new string('\0', utf8.Length);
                ref var to = ref Characters(text);
                Vector128.WidenLower(head).StoreUnsafe(ref to);
                Vector128.WidenUpper(head).StoreUnsafe(ref to, Block / 2);
                Vector128.WidenLower(tail).StoreUnsafe(ref to, rest);
                Vector128.WidenUpper(tail).StoreUnsafe(ref to, rest + Block / 2);
                return text;
            }
        }
        return ReadAny(utf8);
    }

    // To be written to only while nobody else has seen the string.
    private static ref ushort Characters(string text) => ref Unsafe.As<char, ushort>(ref Unsafe.AsRef(in text.GetPinnableReference()));

    private static string? ReadAny(ReadOnlySpan<byte> utf8)
    {
        // Characters of ASCII are its bytes widened: quicker than counting characters first.
        if (Ascii.IsValid(utf8))
            return Encoding.Latin1.GetString(utf8);
        return Utf8.IsValid(utf8) ? Encoding.UTF8.GetString(utf8) : null;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsValid(ReadOnlySpan<byte> utf8)
    {
        if ((uint)(utf8.Length - Block) <= Block)
        {
            ref var text = ref MemoryMarshal.GetReference(utf8);
            if ((Vector128.LoadUnsafe(ref text) | Vector128.LoadUnsafe(ref text, (nuint)(utf8.Length - Block))).ExtractMostSignificantBits() == 0)
                return true;
        }
        return Utf8.IsValid(utf8);
    }
}
