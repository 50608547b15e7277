using System.Runtime.Versioning;
using static Ipc.Win32Com;

namespace Ipc;

/// <summary>Under Wine keeps the interfaces that servers of ours are called through in use until the process ends.</summary>
/// <remarks>Wine's runtime gives an interface up with the last object in the process that has it, and waits until no call over it is
/// under way. A call that ends just then is missed: the wait never ends, and every other end of an object waits behind it
/// (docs/windows.md, "Ends of COM connections").</remarks>
[SupportedOSPlatform("windows")]
internal static unsafe class LastingInterfaces
{
    // An object without methods. Nobody is told of it.
    private sealed class Nothing : DispatchObject
    {
        protected override int Call(int number, ReadOnlySpan<Variant> arguments, ref Variant result) => DISP_E_MEMBERNOTFOUND;
    }

    private static readonly Lazy<bool> s_kept = new(Start);

    /// <summary>To be called by a server before it has its first object. On Windows it does nothing. Any thread.</summary>
    public static void Keep()
    {
        if (Win32.UnderWine)
            _ = s_kept.Value;
    }

    private static bool Start()
    {
        var kept = new ManualResetEventSlim(); // stays: the thread may still be about to leave Set
        ComTransport.StartThread(() =>
        {
            if (CoInitializeEx(0, COINIT_MULTITHREADED) >= 0)
                KeepInUse(new Nothing().Pointer);
            kept.Set();
            Thread.Sleep(Timeout.Infinite);
        }, singleThreaded: false, "ipc com interfaces");
        kept.Wait();
        return true;
    }

    // As the running object table has doors (IUnknown), and as clients have sessions (IDispatch). The apartment's own interface, over
    // which clients release objects, comes with them.
    private static void KeepInUse(nint instance)
    {
        foreach (var interfaceId in (ReadOnlySpan<Guid>)[IID_IUnknown, IID_IDispatch])
        {
            nint described = 0;
            var wanted = interfaceId;
            if (CreateStreamOnHGlobal(0, 1, &described) < 0)
                continue;
            _ = CoMarshalInterface(described, &wanted, instance, MSHCTX_LOCAL, 0, MSHLFLAGS_TABLESTRONG);
            Release(described);
        }
    }
}
