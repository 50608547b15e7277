using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Ipc.Native;

namespace Ipc.Puppet;

/// <summary>The puppet inside a native process, interop/hosting/host. Its handlers are called by ipc_serve of that process.</summary>
internal static unsafe class HostedPuppet
{
    private static NativeHost* s_host;

    public static bool IsHere => s_host != null;

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    internal static int Play(int count, byte** arguments, NativeHost* host)
    {
        s_host = host;
        try
        {
            return Commands.CarryOut("hosted");
        }
        // No exception crosses to the native side.
        catch (Exception e)
        {
            Console.Error.WriteLine(e);
            return 1;
        }
    }

    /// <summary>Serves a channel by the static handler of this name of <see cref="CallVerbs"/>.</summary>
    public static void Serve(IpcChannel channel, string handler)
    {
        fixed (byte* type = "Ipc.Puppet.CallVerbs"u8, method = System.Text.Encoding.UTF8.GetBytes(handler + "\0"))
        {
            void* user;
            var answer = s_host->FindHandler(type, method, &user);
            if (answer == null)
                throw new WrongException(Marshal.PtrToStringUTF8((nint)s_host->LastError()) ?? "");
            NativeIpc.Serve(channel, answer, user);
        }
    }

    /// <summary>What the native process offers.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal readonly struct NativeHost
    {
        public readonly nuint Size;
        public readonly void* ServeBySteps;
        public readonly delegate* unmanaged[Cdecl]<byte*, byte*, void**, delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int>> FindHandler;
        public readonly delegate* unmanaged[Cdecl]<byte*> LastError;
    }
}
