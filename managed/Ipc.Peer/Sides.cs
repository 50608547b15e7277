using System.Runtime.CompilerServices;
using Ipc.Native;

namespace Ipc.Peer;

/// <summary>The two ways this program reaches a transport: pure .NET, or the C ABI.</summary>
internal static class Sides
{
    public static IpcListener Listen(Cell cell) => Of(cell).Listen(cell.Address!);

    public static IpcChannel Connect(Cell cell, int timeoutMilliseconds) => Of(cell).Connect(cell.Address!, timeoutMilliseconds);

    public static IpcQueue OpenQueue(Cell cell, int timeoutMilliseconds) => Of(cell).OpenQueue(cell.Address!, timeoutMilliseconds);

    public static void RemoveQueue(Cell cell) => Of(cell).RemoveQueue(cell.Address!);

    public static Publisher Publish(Cell cell) => Of(cell).Publish(cell.Address!);

    public static Subscriber Subscribe(Cell cell, int timeoutMilliseconds) => Of(cell).Subscribe(cell.Address!, timeoutMilliseconds);

    /// <summary>The library that plays the cell, for the event `environment`.</summary>
    public static string Library(Cell cell) =>
        cell.Address is not null && CallTransports.Play(cell) ? CallTransports.Library() :
        cell.IsBound ? Bound.Library() : $"Ipc {typeof(IpcChannel).Assembly.GetName().Version?.ToString(3)}";

    private static IIpc Of(Cell cell) => cell.IsBound ? Bound.Instance() : ManagedIpc.Instance;

    /// <summary>Kept apart, so that a managed side does not even load the assembly that binds the native library.</summary>
    private static class Bound
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static IIpc Instance() => NativeIpc.Instance;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static string Library() =>
            $"Ipc.Native {typeof(NativeIpc).Assembly.GetName().Version?.ToString(3)} over C ABI {NativeIpc.AbiVersion}";
    }
}
