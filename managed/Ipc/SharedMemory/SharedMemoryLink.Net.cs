using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.Arm;
using System.Runtime.Intrinsics.X86;

namespace Ipc;

internal sealed partial class SharedMemoryLink
{
    // Tells the processor that this is a spin loop.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Relax()
    {
        if (X86Base.IsSupported)
            X86Base.Pause();
        else if (ArmBase.IsSupported)
            ArmBase.Yield();
    }
}
