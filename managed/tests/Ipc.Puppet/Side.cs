using System.Runtime.CompilerServices;
using Ipc.Native;

namespace Ipc.Puppet;

/// <summary>The two implementations by which a .NET process opens channels.</summary>
internal static class Side
{
    public static IIpc Of(string id) => id switch
    {
        "bound" or "bound-netfx" or "hosted" => Bound(),
        "managed" or "managed-netfx" => ManagedIpc.Instance,
        _ => throw new WrongException($"there is no side '{id}' here: use --side managed or --side bound"),
    };

    // Never inlined, so that a managed puppet does not so much as load the assembly of the bound side.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IIpc Bound() => NativeIpc.Instance;
}
