using System.Buffers.Binary;

namespace Ipc.Codecs;

/// <summary>Separates the objects of a collection; see docs/wire-formats.md, "Collections".</summary>
/// <remarks>An object is appended between <see cref="Open"/> and <see cref="Close"/>. The C++ twin is native/src/codecs/collection.hpp.</remarks>
public interface IFraming
{
    /// <summary>Makes room before the next object; what it returns is for <see cref="Close"/>.</summary>
    int Open(MessageBuffer collection);

    /// <summary>Completes the object that was appended since.</summary>
    /// <param name="collection">With the object's bytes at its end.</param>
    /// <param name="opened">What <see cref="Open"/> returned.</param>
    void Close(MessageBuffer collection, int opened);

    /// <summary>The next object's bytes, cut off what is left; damaged bytes are a <see cref="CodecException"/>.</summary>
    /// <param name="left">Not empty.</param>
    ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left);
}

/// <summary>The framing of codec <c>custom</c> and of raw bytes: the length of each object, 32 bits, precedes it.</summary>
public readonly struct LengthFraming : IFraming
{
    /// <inheritdoc/>
    public int Open(MessageBuffer collection)
    {
        ArgumentNullException.ThrowIfNull(collection);
        var opened = collection.Length;
        _ = collection.GetSpan(sizeof(int));
        collection.Advance(sizeof(int));
        return opened;
    }

    /// <inheritdoc/>
    public void Close(MessageBuffer collection, int opened)
    {
        ArgumentNullException.ThrowIfNull(collection);
        BinaryPrimitives.WriteInt32LittleEndian(collection.Bytes.AsSpan(opened), collection.Length - opened - sizeof(int));
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left)
    {
        if (!BinaryPrimitives.TryReadUInt32LittleEndian(left, out var length))
            throw Framing.Damaged("ends inside the length of an object", left.Length);
        return Framing.Take(ref left, sizeof(uint), length);
    }
}

/// <summary>Codec protobuf: a message whose only field is <c>repeated Request requests = 1</c> (replies: <c>repeated Reply replies = 1</c>).</summary>
public readonly struct FieldFraming : IFraming
{
    // Field 1, length-delimited.
    private const byte Tag = 0x0A;
    private const int MoreFollows = 0x80;
    // A length is known only behind the object. Two bytes say up to 16 kB, which is what is collected; a longer or shorter length moves its object.
    private const int UsualLengthSize = 2;

    /// <inheritdoc/>
    public int Open(MessageBuffer collection)
    {
        ArgumentNullException.ThrowIfNull(collection);
        var opened = collection.Length;
        collection.GetSpan(1 + UsualLengthSize)[0] = Tag;
        collection.Advance(1 + UsualLengthSize);
        return opened;
    }

    /// <inheritdoc/>
    public void Close(MessageBuffer collection, int opened)
    {
        ArgumentNullException.ThrowIfNull(collection);
        var at = opened + 1;
        var size = collection.Length - at - UsualLengthSize;
        var lengthSize = SizeOfLength(size);
        if (lengthSize != UsualLengthSize)
            Move(collection, at, size, lengthSize);
        var bytes = collection.Bytes;
        for (var rest = (uint)size; ; rest >>= 7)
        {
            bytes[at++] = (byte)(rest >= MoreFollows ? rest | MoreFollows : rest);
            if (rest < MoreFollows)
                return;
        }
    }

    private static int SizeOfLength(int size)
    {
        var bytes = 1;
        for (var rest = (uint)size; rest >= MoreFollows; rest >>= 7)
            bytes++;
        return bytes;
    }

    private static void Move(MessageBuffer collection, int at, int size, int lengthSize)
    {
        if (lengthSize > UsualLengthSize)
        {
            _ = collection.GetSpan(lengthSize - UsualLengthSize);
            collection.Advance(lengthSize - UsualLengthSize);
        }
        else
        {
            collection.TakeBack(UsualLengthSize - lengthSize);
        }
        Buffer.BlockCopy(collection.Bytes, at + UsualLengthSize, collection.Bytes, at + lengthSize, size);
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left)
    {
        if (left[0] != Tag)
            throw Framing.Damaged("has something else than an object", left.Length);
        ulong size = 0;
        var head = 1;
        for (var shift = 0; ; shift += 7)
        {
            // No object of four gigabytes and more fits a message, so five bytes are enough.
            if (shift > 28)
                throw Framing.Damaged("has an object's length in more than five bytes", left.Length);
            if (head == left.Length)
                throw Framing.Damaged("ends inside the length of an object", left.Length);
            var one = left[head++];
            size |= (ulong)(one & 0x7F) << shift;
            if (one < MoreFollows)
                return Framing.Take(ref left, head, size);
        }
    }
}

/// <summary>The framing of codec <c>json</c>: JSON Lines. A line feed follows each object and occurs nowhere inside it.</summary>
public readonly struct LineFraming : IFraming
{
    private const byte LineFeed = (byte)'\n';

    /// <inheritdoc/>
    public int Open(MessageBuffer collection) => 0;

    /// <inheritdoc/>
    public void Close(MessageBuffer collection, int opened)
    {
        ArgumentNullException.ThrowIfNull(collection);
        collection.GetSpan(1)[0] = LineFeed;
        collection.Advance(1);
    }

    /// <inheritdoc/>
    public ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left)
    {
        var end = left.IndexOf(LineFeed);
        if (end < 0)
            throw Framing.Damaged("has no line feed behind its last object", left.Length);
        var line = left[..end];
        left = left[(end + 1)..];
        return line;
    }
}

internal static class Framing
{
    public static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> left, int head, ulong size)
    {
        if (size > (ulong)(left.Length - head))
            throw Damaged($"promises an object of {size} bytes where {left.Length - head} are left", left.Length);
        var taken = left.Slice(head, (int)size);
        left = left[(head + (int)size)..];
        return taken;
    }

    public static CodecException Damaged(string why, int left) =>
        new($"the collection {why}, {left} bytes before its end: check that the peer sends it with the same codec");
}
