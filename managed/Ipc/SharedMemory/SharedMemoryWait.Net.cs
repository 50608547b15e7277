using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace Ipc;

internal static partial class SharedMemoryWait
{
    /// <summary>Tells the processor that this is a spin loop.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Relax()
    {
        if (X86Base.IsSupported)
            X86Base.Pause();
        else if (ArmBase.IsSupported)
            ArmBase.Yield();
    }

    /// <summary>Asks for cache lines before they are needed: where two processors share no cache a line takes some 200 ns from one to the
    /// other, and a processor has many on the way at once, but only those that it knows of. A hint: no address is too wrong for it.
    /// There is none in .NET for lines that will be written (native: fetching.hpp), nor one for ARM.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchToRead(byte* first, int bytes)
    {
        for (var at = 0; at < bytes; at += SharedMemoryLayout.SlotBytes)
            FetchLineToRead(first + at);
    }

    /// <summary>As <see cref="FetchToRead"/>, one line.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void FetchLineToRead(byte* line)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(line);
    }
}
