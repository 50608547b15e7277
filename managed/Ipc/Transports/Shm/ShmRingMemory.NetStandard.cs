using System.Runtime.CompilerServices;

namespace Ipc;

internal readonly partial struct ShmRingMemory
{
    /// <summary>Copies a payload in or out. The fences around it are the caller's, by its reads and writes of the sequence.</summary>
    public static void Copy(ref byte from, ref byte to, int length) => Unsafe.CopyBlockUnaligned(ref to, ref from, (uint)length);
}
