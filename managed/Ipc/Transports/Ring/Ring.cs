using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>`ring`: osIPC's ring of fixed blocks in shared memory, many writers and many readers.</summary>
internal sealed class RingTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            TransportTable.Add("ring", new RingTransport());
    }

    public override IpcQueue OpenQueue(IpcAddress address, int timeoutMilliseconds) =>
        new RingQueue(RingFile.Open(address, new Deadline(timeoutMilliseconds).ForMoments()), WaitPolicy.Of(address), address.MaxMessageLength);

    public override void RemoveQueue(IpcAddress address) => RingFile.Remove(address);
}
