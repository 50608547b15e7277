using System.Buffers;

namespace Ipc.Codecs;

/// <summary>A buffer that is used again for every message, so that it stops allocating after the longest one. One thread at a time may use it.</summary>
public sealed class MessageBuffer : IBufferWriter<byte>
{
    private byte[] _bytes = [];
    private int _length;

    /// <summary>What was written since <see cref="Clear"/>; valid until the next write.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, _length);

    /// <summary>The memory itself, until it grows: what was written, and free room behind it.</summary>
    internal byte[] Bytes => _bytes;

    internal int Length => _length;

    /// <summary>Starts the next message.</summary>
    public void Clear() => _length = 0;

    /// <inheritdoc/>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_bytes.Length - _length), nameof(count));
        _length += count;
    }

    /// <summary>The last bytes written are not part of the message after all.</summary>
    internal void TakeBack(int count) => _length -= count;

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        EnsureRoom(sizeHint);
        return _bytes.AsMemory(_length);
    }

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0)
    {
        EnsureRoom(sizeHint);
        return _bytes.AsSpan(_length);
    }

    private void EnsureRoom(int wanted)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(wanted);
        // A writer that names no size still needs a byte at least.
        wanted = Math.Max(wanted, 1);
        if (_bytes.Length - _length < wanted)
            Grow(wanted);
    }

    private void Grow(int wanted)
    {
        var needed = (long)_length + wanted;
        if (needed > Array.MaxLength)
            throw new CodecException($"the message needs more than {Array.MaxLength} bytes, the longest a buffer can be: split it");
        // Twice as large each time, so that a message written in small pieces is copied a bounded number of times.
        var size = Math.Min(Math.Max(needed, Math.Max(256, 2L * _bytes.Length)), Array.MaxLength);
        var larger = GC.AllocateUninitializedArray<byte>((int)size);
        _bytes.AsSpan(0, _length).CopyTo(larger);
        _bytes = larger;
    }
}
