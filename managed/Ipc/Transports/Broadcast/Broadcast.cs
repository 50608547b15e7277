using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`broadcast`: one publisher, up to 64 subscribers each at its own pace, through one ring that only the publisher can write to.</summary>
[SupportedOSPlatform("linux")]
internal sealed class BroadcastTransport : Transport
{
    private const string Prefix = "broadcast-"; // of the socket in the private folder

    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("broadcast", new BroadcastTransport());
    }

    public override Publisher Publish(IpcAddress address) =>
        new BroadcastPublisher(address, LocalNames.InPrivateFolder(address, Prefix), SizeOf(address), new BroadcastStart(0, 1));

    public override Subscriber Subscribe(IpcAddress address, int timeoutMilliseconds)
    {
        SizeOf(address);
        var deadline = new Deadline(timeoutMilliseconds);
        var name = LocalNames.InPrivateFolder(address, Prefix);
        return new BroadcastSubscriber(address, name, LocalSocket.Connect(name, deadline), deadline);
    }

    private static ulong SizeOf(IpcAddress address)
    {
        var size = (ulong)address.OptionSize("size");
        return BroadcastLayout.IsRingSize(size) ? size : throw address.BadValue("size", "a power of two from 64k to 4G");
    }
}
