using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Ipc;

internal readonly partial struct ShmRingMemory
{
    /// <summary>Copies a payload in or out. Up to 64 bytes go in a few overlapping moves: the general copy's call costs as much as
    /// all else that sending a short message does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Copy(ref byte from, ref byte to, int length)
    {
        var size = (nuint)(uint)length;
        if (size > 64)
        {
            MemoryMarshal.CreateReadOnlySpan(ref from, length).CopyTo(MemoryMarshal.CreateSpan(ref to, length));
        }
        else if (size >= 16)
        {
            var last = Vector128.LoadUnsafe(ref from, size - 16);
            Vector128.LoadUnsafe(ref from).StoreUnsafe(ref to);
            if (size > 32)
            {
                Vector128.LoadUnsafe(ref from, 16).StoreUnsafe(ref to, 16);
                if (size > 48)
                    Vector128.LoadUnsafe(ref from, 32).StoreUnsafe(ref to, 32);
            }
            last.StoreUnsafe(ref to, size - 16);
        }
        else if (size >= 8)
        {
            var last = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref from, size - 8));
            Unsafe.WriteUnaligned(ref to, Unsafe.ReadUnaligned<ulong>(ref from));
            Unsafe.WriteUnaligned(ref Unsafe.Add(ref to, size - 8), last);
        }
        else
        {
            for (nuint i = 0; i < size; i++)
                Unsafe.Add(ref to, i) = Unsafe.Add(ref from, i);
        }
    }
}
