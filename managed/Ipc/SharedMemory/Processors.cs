using System.Numerics;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Which processors two processes may run on.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class Processors
{
    private const int MaskWords = 128; // as many as the kernel can be built for

    /// <summary>Whether this thread and the peer's process have one and the same single processor between them, so that only
    /// one of the two can run at a time. False when the peer cannot be asked.</summary>
    public static bool AreOne(int peer)
    {
        var own = stackalloc ulong[MaskWords];
        var others = stackalloc ulong[MaskWords];
        const int Bytes = MaskWords * sizeof(ulong);
        if (peer <= 0 || Libc.GetAffinity(0, Bytes, own) != 0 || Libc.GetAffinity(peer, Bytes, others) != 0)
            return false;
        var together = 0;
        for (var i = 0; i < MaskWords; i++)
            together += BitOperations.PopCount(own[i] | others[i]);
        return together == 1;
    }
}
