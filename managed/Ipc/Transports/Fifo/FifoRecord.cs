using System.Buffers.Binary;
using System.Text;

namespace Ipc;

/// <summary>The record a client leaves in the listener's FIFO, docs/wire-formats.md "FIFO handshake".</summary>
internal static class FifoRecord
{
    public const int Length = 48;
    public const int TokenLength = 32;
    public const byte Greeting = 0x06;
    /// <summary>The first byte of every record.</summary>
    public const byte First = (byte)'I';

    private const uint Magic = 0x46435049; // "IPCF"
    private const uint Version = 1;
    private const int TokenAt = 8;

    public static byte[] Make(string token)
    {
        var record = new byte[Length];
        BinaryPrimitives.WriteUInt32LittleEndian(record, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(record.AsSpan(4), Version);
        Encoding.ASCII.GetBytes(token, record.AsSpan(TokenAt));
        return record;
    }

    /// <summary>The token, or null if the bytes are no record. It holds nothing but digits, because it becomes part of a path.</summary>
    public static string? Read(ReadOnlySpan<byte> bytes)
    {
        var token = bytes.Slice(TokenAt, TokenLength);
        var sound = BinaryPrimitives.ReadUInt32LittleEndian(bytes) == Magic && BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]) == Version &&
            AreDigits(token) && !bytes[(TokenAt + TokenLength)..].ContainsAnyExcept((byte)0);
        return sound ? Encoding.ASCII.GetString(token) : null;
    }

    private static bool AreDigits(ReadOnlySpan<byte> token)
    {
        foreach (var digit in token)
        {
            if (digit is not ((>= (byte)'0' and <= (byte)'9') or (>= (byte)'a' and <= (byte)'f')))
                return false;
        }
        return true;
    }
}
