using System.Buffers.Binary;

namespace Ipc.Puppet;

/// <summary>A message by description: the raw payload of docs/peer-protocol.md.</summary>
internal readonly record struct Payload(int Length, ulong Seed, ulong Sequence)
{
    private const int WordSize = sizeof(ulong);

    /// <summary>Message <paramref name="index"/> (from 1) of a series whose messages have 0 to <paramref name="most"/> bytes.</summary>
    public static Payload OfSeries(ulong seed, ulong index, int most)
    {
        var state = seed + index;
        return new Payload((int)(SplitMix64(ref state) % ((ulong)most + 1)), seed + index, index);
    }

    public void Fill(Span<byte> room)
    {
        Span<byte> word = stackalloc byte[WordSize];
        var state = Seed;
        for (var at = 0; at < Length; at += WordSize)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(word, Word(at, ref state));
            var size = Math.Min(WordSize, Length - at);
            word[..size].CopyTo(room.Slice(at, size));
        }
    }

    public byte[] Bytes()
    {
        var bytes = new byte[Length];
        Fill(bytes);
        return bytes;
    }

    /// <summary>Returns if the bytes are this payload's content, of whatever length; else says where they differ.</summary>
    public void RequireContent(ReadOnlySpan<byte> bytes) => (this with { Length = bytes.Length }).Require(bytes);

    /// <summary>Returns if the bytes are exactly this payload; else says where they differ.</summary>
    public void Require(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length != Length)
            throw new WrongException($"message {Sequence}: expected {Length} bytes, got {bytes.Length}");
        Span<byte> word = stackalloc byte[WordSize];
        var state = Seed;
        for (var at = 0; at < Length; at += WordSize)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(word, Word(at, ref state));
            var size = Math.Min(WordSize, Length - at);
            if (!word[..size].SequenceEqual(bytes.Slice(at, size)))
                throw new WrongException($"message {Sequence}: the content differs within the 8 bytes at offset {at} of {Length} (seed {Seed})");
        }
    }

    // The sequence takes the place of the first output, where it fits whole.
    private ulong Word(int at, ref ulong state)
    {
        var word = SplitMix64(ref state);
        return at == 0 && Length >= WordSize ? Sequence : word;
    }

    private static ulong SplitMix64(ref ulong state)
    {
        state += 0x9E3779B97F4A7C15;
        var z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
