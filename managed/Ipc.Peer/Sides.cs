using System.Runtime.CompilerServices;
using Ipc.Native;

namespace Ipc.Peer;

/// <summary>The two ways this program reaches a transport: pure .NET, or the C ABI.</summary>
internal static class Sides
{
    public static Listener Listen(Cell cell) => cell.IsBound ? Bound.Listen(cell.Address!) : ManagedIpc.Listen(cell.Address!);

    public static Channel Connect(Cell cell, int timeoutMilliseconds) =>
        cell.IsBound ? Bound.Connect(cell.Address!, timeoutMilliseconds) : ManagedIpc.Connect(cell.Address!, timeoutMilliseconds);

    public static MessageQueue OpenQueue(Cell cell, int timeoutMilliseconds) =>
        cell.IsBound ? Bound.OpenQueue(cell.Address!, timeoutMilliseconds) : ManagedIpc.OpenQueue(cell.Address!, timeoutMilliseconds);

    public static void RemoveQueue(Cell cell)
    {
        if (cell.IsBound)
            Bound.RemoveQueue(cell.Address!);
        else
            ManagedIpc.RemoveQueue(cell.Address!);
    }

    public static Publisher Publish(Cell cell) => cell.IsBound ? Bound.Publish(cell.Address!) : ManagedIpc.Publish(cell.Address!);

    public static Subscriber Subscribe(Cell cell, int timeoutMilliseconds) =>
        cell.IsBound ? Bound.Subscribe(cell.Address!, timeoutMilliseconds) : ManagedIpc.Subscribe(cell.Address!, timeoutMilliseconds);

    /// <summary>The library that plays the cell, for the event `environment`.</summary>
    public static string Library(Cell cell) =>
        cell.Address is not null && CallTransports.Play(cell) ? CallTransports.Library() :
        cell.IsBound ? Bound.Library() : $"Ipc {typeof(Channel).Assembly.GetName().Version?.ToString(3)}";

    /// <summary>Kept apart, so that a managed side does not even load the assembly that binds the native library.</summary>
    private static class Bound
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Listener Listen(string address) => NativeIpc.Listen(address);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Channel Connect(string address, int timeoutMilliseconds) => NativeIpc.Connect(address, timeoutMilliseconds);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static MessageQueue OpenQueue(string address, int timeoutMilliseconds) => NativeIpc.OpenQueue(address, timeoutMilliseconds);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void RemoveQueue(string address) => NativeIpc.RemoveQueue(address);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Publisher Publish(string address) => NativeIpc.Publish(address);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Subscriber Subscribe(string address, int timeoutMilliseconds) => NativeIpc.Subscribe(address, timeoutMilliseconds);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static string Library() =>
            $"Ipc.Native {typeof(NativeIpc).Assembly.GetName().Version?.ToString(3)} over C ABI {NativeIpc.AbiVersion}";
    }
}
