using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>`queue`: a named queue in shared memory that outlives its maker.</summary>
internal sealed class QueueTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            TransportTable.Add("queue", new QueueTransport());
    }

    public override IpcQueue OpenQueue(IpcAddress address, int timeoutMilliseconds)
    {
        var size = address.OptionSize("size");
        if (!QueueLayout.IsSize(size))
            throw address.BadValue("size", "a power of two from 64k to 1G");
        return new NamedQueue(QueueFile.Open(address, (uint)size, new Deadline(timeoutMilliseconds).ForMoments()), address);
    }

    public override void RemoveQueue(IpcAddress address) => QueueFile.Remove(address);
}
