using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Ipc;

/// <summary>What passes through mailslots, docs/wire-formats.md "Mailslots".</summary>
internal static class MailslotWire
{
    private const uint Magic = 0x4C435049; // IPCL
    private const uint Version = 1;
    private const int TokenLength = 32;

    public const int HandshakeLength = 64;
    public const int TrailerLength = 16;
    public const int MostInFragment = 16 * 1024;
    public const int MostInMessage = MostInFragment + TrailerLength;
    /// <summary>So many fragments may be unread; the reader tells each time it has read ToldAfter.</summary>
    public const int Window = 8, ToldAfter = 4;

    public const uint Fragment = 1, End = 2, Read = 3;

    public static string NewToken() => RandomNumberGenerator.GetHexString(TokenLength, lowercase: true);

    /// <summary>Hello, welcome and confirmation: who sends it, and for which connection.</summary>
    public static byte[] MakeHandshake(string token)
    {
        var bytes = new byte[HandshakeLength];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(4), Version);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(8), Environment.ProcessId);
        System.Text.Encoding.ASCII.GetBytes(token, bytes.AsSpan(16));
        return bytes;
    }

    /// <summary>The token, or null if it is no such message.</summary>
    public static string? ReadHandshake(ReadOnlySpan<byte> message, out uint process)
    {
        process = 0;
        if (message.Length != HandshakeLength || BinaryPrimitives.ReadUInt32LittleEndian(message) != Magic ||
            BinaryPrimitives.ReadUInt32LittleEndian(message[4..]) != Version)
            return null;
        process = BinaryPrimitives.ReadUInt32LittleEndian(message[8..]);
        var token = message.Slice(16, TokenLength);
        foreach (var digit in token)
        {
            if (!char.IsAsciiHexDigitLower((char)digit))
                return null;
        }
        return System.Text.Encoding.ASCII.GetString(token);
    }

    public static void WriteTrailer(Span<byte> to, uint kind, ulong number)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], kind);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], number);
    }

    /// <summary>The kind, or 0 if it is no trailer.</summary>
    public static uint ReadTrailer(ReadOnlySpan<byte> from, out ulong number)
    {
        number = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]);
        return BinaryPrimitives.ReadUInt32LittleEndian(from) == Magic ? BinaryPrimitives.ReadUInt32LittleEndian(from[4..]) : 0;
    }
}
