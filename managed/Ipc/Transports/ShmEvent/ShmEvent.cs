using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`shm-event`: one shared block and one wake-up each way, the memory-mapped file with events.</summary>
[SupportedOSPlatform("linux")]
internal sealed class ShmEventTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("shm-event", new ShmEventTransport());
    }

    // A block holds the largest message; its pages cost memory only once they are written.
    public override Listener Listen(Address address) =>
        SharedMemoryHandover.Listen(LocalNames.InPrivateFolder(address, "event-"), address, SharedMemoryLayout.Event, 0,
            SharedMemoryLayout.PageUp((ulong)address.Limit), link => new ShmEventChannel(link, address.Limit, address.ToString()));

    public override Channel Connect(Address address, int timeoutMilliseconds) =>
        new ShmEventChannel(
            SharedMemoryHandover.Connect(LocalNames.InPrivateFolder(address, "event-"), address, SharedMemoryLayout.Event, timeoutMilliseconds),
            address.Limit, address.ToString());
}
