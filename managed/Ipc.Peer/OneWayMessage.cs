using System.Buffers.Binary;

namespace Ipc.Peer;

/// <summary>The first 8 bytes of a one-way message, docs/peer-protocol.md "One-way messages".</summary>
internal static class MessageHead
{
    /// <summary>Ends a stretch; carries the sequence that would be next.</summary>
    public const ulong EndMark = 1UL << 63;
    public const int ClientShift = 56;
    public const ulong Sequence = (1UL << ClientShift) - 1;

    public static ulong FirstOf(int client) => ((ulong)client << ClientShift) + 1;

    /// <summary>Of an end mark: 128 and more, which no client has.</summary>
    public static ulong ClientOf(ulong head) => head >> ClientShift;
}

/// <summary>What one-way messages of a cell say: every word is a function of the head, so that no byte of another message passes for one of
/// this. Written and compared in vectors, because at some nanoseconds a message nothing else is cheap enough.</summary>
internal sealed partial class MessagePattern
{
    private const int Word = sizeof(ulong);

    private readonly ulong[] _words;
    private readonly int _whole;

    public MessagePattern(ulong seed, int length)
    {
        Length = length;
        _whole = length / Word;
        _words = new ulong[(length + Word - 1) / Word];
        var generator = new Generator(seed);
        for (var i = 0; i < _words.Length; i++)
            _words[i] = generator.Next();
        _words[0] = 0; // so that the head itself follows the same rule as every other word
    }

    public int Length { get; }

    /// <summary>The pattern of a cell; a <see cref="Failure"/> if its messages have no room for a head.</summary>
    public static MessagePattern Of(Cell cell) => cell.Workload.RequestBytes >= Word
        ? new MessagePattern(cell.Seed, cell.Workload.RequestBytes)
        : throw Failure.BadCell(
            $"workload '{cell.Workload.Id}' has messages of {cell.Workload.RequestBytes} bytes, too short for a sequence: choose one of 8 bytes or more");

    /// <summary>In scenario `broadcast-last` the time of publication is in the word behind the head.</summary>
    public static void WriteStamp(Span<byte> message, long nanoseconds) => BinaryPrimitives.WriteInt64LittleEndian(message[Word..], nanoseconds);

    /// <summary>What was there, which becomes again what the pattern says.</summary>
    public long TakeStamp(Span<byte> message, out ulong head)
    {
        head = BinaryPrimitives.ReadUInt64LittleEndian(message);
        var stamp = BinaryPrimitives.ReadInt64LittleEndian(message[Word..]);
        BinaryPrimitives.WriteUInt64LittleEndian(message[Word..], _words[1] + head);
        return stamp;
    }

    /// <summary>Writes so many whole messages back to back, with one head after another from <paramref name="head"/> on.</summary>
    public void WriteMany(Span<byte> to, int count, ulong head)
    {
        if (WriteAtOnce(to, count, head))
            return;
        for (var i = 0; i < count; i++)
            Write(to[(i * Length)..], head + (ulong)i);
    }

    /// <summary>How many of the messages that lie back to back are as <see cref="WriteMany"/> makes them, before the first that is not.</summary>
    public int CountRight(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, ulong head)
    {
        // Where one has another length the next ones lie elsewhere, or nowhere.
        var alike = 0;
        while (alike < lengths.Length && lengths[alike] == Length)
            alike++;
        if (alike > 1 && AreRightAtOnce(messages, alike, head))
            return alike;
        var right = 0;
        while (right < alike && IsRight(messages[(right * Length)..], head + (ulong)right))
            right++;
        return right;
    }

    private void WriteTail(Span<byte> to, ulong head)
    {
        var value = _words[_whole] + head;
        for (var at = _whole * Word; at < Length; at++, value >>= 8)
            to[at] = (byte)value;
    }

    private bool IsTailRight(ReadOnlySpan<byte> message, ulong head)
    {
        var value = _words[_whole] + head;
        var wrong = 0;
        for (var at = _whole * Word; at < Length; at++, value >>= 8)
            wrong |= message[at] ^ (byte)value;
        return wrong == 0;
    }
}
