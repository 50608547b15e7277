using System.Buffers.Binary;
using Ipc.Conformance.Puppets;

namespace Ipc.Conformance.Raw;

/// <summary>Frames as docs/wire-formats.md lays them out, written here a third time so that neither implementation judges itself.</summary>
internal static class RawFrame
{
    public const int HeaderSize = 16;
    public const uint Magic = 0x31435049;
    public const uint Message = 1, Request = 2, Reply = 3, Fault = 4;

    public static byte[] Of(uint kind, uint id, ReadOnlySpan<byte> payload) => [.. Header(Magic, (uint)payload.Length, kind, id), .. payload];

    public static byte[] Header(uint magic, uint length, uint kind, uint id)
    {
        var header = new byte[HeaderSize];
        BinaryPrimitives.WriteUInt32LittleEndian(header, magic);
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(4), length);
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(8), kind);
        BinaryPrimitives.WriteUInt32LittleEndian(header.AsSpan(12), id);
        return header;
    }

    /// <summary>Returns if the bytes a puppet wrote are the ones the page says.</summary>
    public static void RequireEqual(byte[] expected, byte[] got)
    {
        if (!expected.AsSpan().SequenceEqual(got))
        {
            throw new ConformanceException(
                $"docs/wire-formats.md says {Convert.ToHexString(expected.AsSpan(0, Math.Min(expected.Length, 40)))}..., "
                + $"the puppet wrote {Convert.ToHexString(got.AsSpan(0, Math.Min(got.Length, 40)))}...");
        }
    }

    /// <summary>The raw payload of docs/peer-protocol.md, whose bytes the puppets expect.</summary>
    public static byte[] Payload(int length, ulong seed, ulong sequence)
    {
        var whole = new byte[(length + 7) / 8 * 8];
        var state = seed;
        for (var at = 0; at < whole.Length; at += 8)
        {
            state += 0x9E3779B97F4A7C15;
            var z = state;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
            BinaryPrimitives.WriteUInt64LittleEndian(whole.AsSpan(at), z ^ (z >> 31));
        }
        if (length >= 8)
            BinaryPrimitives.WriteUInt64LittleEndian(whole, sequence);
        return whole[..length];
    }
}
