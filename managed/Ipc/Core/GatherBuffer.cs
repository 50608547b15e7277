namespace Ipc;

/// <summary>Collects a payload that arrives in fragments. It grows with the bytes that have come, never with the length that a
/// peer announces, and keeps its memory for the next payload.</summary>
internal sealed class GatherBuffer
{
    private const int FirstSize = 64 * 1024;

    private byte[] _bytes = [];

    /// <summary>Bytes collected so far.</summary>
    public int Count { get; private set; }

    public ReadOnlySpan<byte> Bytes => _bytes.AsSpan(0, Count);

    public void Clear() => Count = 0;

    public void Append(ReadOnlySpan<byte> fragment)
    {
        if (_bytes.Length - Count < fragment.Length)
            Grow((int)Math.Min(Array.MaxLength, Math.Max(Count + (long)fragment.Length, 2L * Count)));
        fragment.CopyTo(_bytes.AsSpan(Count));
        Count += fragment.Length;
    }

    /// <summary>Free room at the end, at least one byte, for a payload of <paramref name="total"/> bytes in all;
    /// <see cref="Advance"/> tells how much of it was filled.</summary>
    public Span<byte> Room(int total)
    {
        if (_bytes.Length == Count)
            Grow((int)Math.Min(total, Math.Max(FirstSize, 2L * Count)));
        return _bytes.AsSpan(Count, Math.Min(_bytes.Length, total) - Count);
    }

    public void Advance(int filled) => Count += filled;

    private void Grow(int size)
    {
        var larger = GC.AllocateUninitializedArray<byte>(size);
        Bytes.CopyTo(larger);
        _bytes = larger;
    }
}
