using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>`shm-event`: one shared block and one wake-up each way, the memory-mapped file with events.</summary>
internal sealed class ShmEventTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            TransportTable.Add("shm-event", new ShmEventTransport());
    }

    // A block holds the largest message; its pages cost memory only once they are written.
    public override IpcListener Listen(IpcAddress address) =>
        SharedMemoryHandover.Listen("event-", address, SharedMemoryLayout.Event, 0,
            SharedMemoryLayout.PageUp((ulong)address.MaxMessageLength), segment => new ShmEventChannel(segment, address.MaxMessageLength, address.ToString()));

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) =>
        new ShmEventChannel(
            SharedMemoryHandover.Connect("event-", address, SharedMemoryLayout.Event, timeoutMilliseconds),
            address.MaxMessageLength, address.ToString());
}
