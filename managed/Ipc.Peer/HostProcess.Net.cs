using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Ipc.Native;

namespace Ipc.Peer;

/// <summary>The native process around this program on side `hosted`, interop/hosting/host: it receives requests in C++ and calls .NET for each.</summary>
internal static unsafe class HostProcess
{
    public const string Side = "hosted";

    private static NativeHost* s_host;

    public static bool IsHere => s_host != null;

    /// <summary>Whether the side plays a scenario, as the registry has it.</summary>
    public static bool Plays(string scenario) => Registry.Sides.First(s => s.Id == Side).Scenarios!.Contains(scenario);

    /// <summary>As <see cref="Program"/>'s Main, for the native process.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    internal static int Play(int count, byte** arguments, NativeHost* host)
    {
        s_host = host;
        try
        {
            return Program.Play();
        }
        // No exception crosses to the native side.
        catch (Exception e)
        {
            Console.Error.WriteLine(e);
            return Program.Failed;
        }
    }

    /// <summary>Serves until the client has closed in order.</summary>
    public static (long Operations, long Allocated) Serve(Service service, Control control, Func<long, bool> isLast)
    {
        service.Prepare();
        var exchanges = new Exchanges(service);
        var handle = GCHandle.Alloc(exchanges);
        try
        {
            var status = s_host->ServeBySteps(NativeIpc.HandleOf(service.Channel), &OneExchange, GCHandle.ToIntPtr(handle));
            exchanges.Failure?.Throw();
            if (status != IpcStatus.PeerClosed)
                throw new IpcException(status, $"serving in C++ ended with {status}");
        }
        catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && service.IsWaiting)
        {
            // As below: the client's word that it has made its last call.
        }
        finally
        {
            handle.Free();
        }
        if (isLast(exchanges.Count))
            control.BeginLeavingOut();
        return (exchanges.Count, exchanges.Allocated);
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int OneExchange(nint exchanges, byte* request, nuint length) =>
        Unsafe.As<Exchanges>(GCHandle.FromIntPtr(exchanges).Target!).One(request, (int)length) ? 0 : 1;

    private sealed class Exchanges(Service service)
    {
        public long Count { get; private set; }
        public long Allocated { get; private set; } = RuntimeFacts.AllocatedBytesOfThread;
        public ExceptionDispatchInfo? Failure { get; private set; }

        public bool One(byte* request, int length)
        {
            try
            {
                service.Once(request, length);
                Count++;
                Allocated = RuntimeFacts.AllocatedBytesOfThread;
                service.Prepare();
                return true;
            }
            catch (Exception e)
            {
                Failure = ExceptionDispatchInfo.Capture(e);
                return false;
            }
        }
    }

    /// <summary>What the native process offers.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal readonly struct NativeHost
    {
        public readonly nuint Size;
        public readonly delegate* unmanaged[Cdecl]<nint, delegate* unmanaged[Cdecl]<nint, byte*, nuint, int>, nint, IpcStatus> ServeBySteps;
    }
}
