using System.Buffers.Binary;

namespace Ipc.Peer;

/// <summary>splitmix64, docs/peer-protocol.md "Data".</summary>
internal struct Generator(ulong seed)
{
    private const string Alphabet = "abcdefghijklmnopqrstuvwxyz012345";

    private ulong _state = seed;

    public ulong Next()
    {
        _state += 0x9E3779B97F4A7C15;
        var z = _state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// <summary>A text of so many characters: eight from each output, lowest byte first.</summary>
    public string Text(int length)
    {
        Span<char> text = stackalloc char[length];
        var output = 0UL;
        for (var i = 0; i < length; i++)
        {
            output = i % 8 == 0 ? Next() : output >> 8;
            text[i] = Alphabet[(int)(output & 31)];
        }
        return text.ToString();
    }

    public string[] Texts(int count, int length)
    {
        var texts = new string[count];
        for (var i = 0; i < count; i++)
            texts[i] = Text(length);
        return texts;
    }
}

/// <summary>What both ends of an exchange know beforehand; made outside every timed region.</summary>
internal static class PayloadData
{
    private const int Columns = 10;
    private const int CellCharacters = 20; // also of an id
    private const int FieldCharacters = 10;

    public static byte[] Raw(ulong seed, int length)
    {
        var generator = new Generator(seed);
        var payload = new byte[length];
        Span<byte> output = stackalloc byte[sizeof(ulong)];
        for (var at = 0; at < length; at += sizeof(ulong))
        {
            BinaryPrimitives.WriteUInt64LittleEndian(output, generator.Next());
            output[..Math.Min(sizeof(ulong), length - at)].CopyTo(payload.AsSpan(at));
        }
        return payload;
    }

    public static Request Request(ulong seed, int ids)
    {
        var generator = new Generator(seed);
        return new Request
        {
            Sequence = 0,
            Name = "measurements",
            Ids = generator.Texts(ids, CellCharacters),
            Fields = generator.Texts(Columns, FieldCharacters),
        };
    }

    /// <param name="seed">The cell's; the reply is made from the next one.</param>
    public static Reply Reply(ulong seed, int rows)
    {
        var generator = new Generator(unchecked(seed + 1));
        return new Reply { Sequence = 0, Columns = Columns, Cells = generator.Texts(rows * Columns, CellCharacters) };
    }

    /// <summary>Puts the exchange's sequence into a payload, if there is room for one.</summary>
    public static void Stamp(Span<byte> payload, ulong sequence) => BinaryPrimitives.TryWriteUInt64LittleEndian(payload, sequence);
}
