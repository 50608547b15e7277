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
}
