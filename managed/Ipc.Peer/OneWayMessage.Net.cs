using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Ipc.Peer;

internal sealed partial class MessagePattern
{
    /// <summary>Writes the whole message.</summary>
    /// <param name="to">At least <see cref="Length"/> bytes.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(Span<byte> to, ulong head)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(to.Length, Length);
        ref var first = ref MemoryMarshal.GetReference(to);
        ref var words = ref MemoryMarshal.GetArrayDataReference(_words);
        var heads = Vector256.Create(head);
        var i = 0;
        for (; i + Vector256<ulong>.Count <= _whole; i += Vector256<ulong>.Count)
            (Vector256.LoadUnsafe(ref words, (nuint)i) + heads).AsByte().StoreUnsafe(ref first, (nuint)(i * Word));
        for (; i < _whole; i++)
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref first, i * Word), Unsafe.Add(ref words, i) + head);
        if (_whole < _words.Length)
            WriteTail(to, head);
    }

    /// <summary>Whether a message of the right length is as <see cref="Write"/> makes it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsRight(ReadOnlySpan<byte> message, ulong head)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(message.Length, Length);
        ref var first = ref MemoryMarshal.GetReference(message);
        ref var words = ref MemoryMarshal.GetArrayDataReference(_words);
        var heads = Vector256.Create(head);
        var wrong = Vector256<ulong>.Zero;
        var i = 0;
        for (; i + Vector256<ulong>.Count <= _whole; i += Vector256<ulong>.Count)
            wrong |= Vector256.LoadUnsafe(ref first, (nuint)(i * Word)).AsUInt64() ^ (Vector256.LoadUnsafe(ref words, (nuint)i) + heads);
        var rest = 0UL;
        for (; i < _whole; i++)
            rest |= Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref first, i * Word)) ^ (Unsafe.Add(ref words, i) + head);
        return wrong == Vector256<ulong>.Zero && rest == 0 && (_whole == _words.Length || IsTailRight(message, head));
    }

    // 32 bytes, where every nanosecond counts: the words stay in a register from message to message, and nothing is decided before the end.
    private bool IsOneVector => Length == Vector256<byte>.Count;

    private bool WriteAtOnce(Span<byte> to, int count, ulong head)
    {
        if (!IsOneVector)
            return false;
        ArgumentOutOfRangeException.ThrowIfLessThan(to.Length, count * Vector256<byte>.Count);
        ref var first = ref MemoryMarshal.GetReference(to);
        var message = Vector256.Create(_words) + Vector256.Create(head);
        for (var i = 0; i < count; i++)
        {
            message.AsByte().StoreUnsafe(ref first, (nuint)(i * Vector256<byte>.Count));
            message += Vector256<ulong>.One;
        }
        return true;
    }

    // False: one is wrong, or messages are of another length than this is made for.
    private bool AreRightAtOnce(ReadOnlySpan<byte> messages, int count, ulong head)
    {
        if (!IsOneVector)
            return false;
        ArgumentOutOfRangeException.ThrowIfLessThan(messages.Length, count * Vector256<byte>.Count);
        ref var first = ref MemoryMarshal.GetReference(messages);
        var message = Vector256.Create(_words) + Vector256.Create(head);
        var wrong = Vector256<ulong>.Zero;
        for (var i = 0; i < count; i++)
        {
            wrong |= Vector256.LoadUnsafe(ref first, (nuint)(i * Vector256<byte>.Count)).AsUInt64() ^ message;
            message += Vector256<ulong>.One;
        }
        return wrong == Vector256<ulong>.Zero;
    }
}
