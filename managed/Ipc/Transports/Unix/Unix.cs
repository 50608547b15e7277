using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`unix`: an AF_UNIX stream socket, by name in the private folder or by absolute path.</summary>
[SupportedOSPlatform("linux")]
internal sealed class UnixTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("unix", new UnixTransport());
    }

    public override IpcListener Listen(IpcAddress address) => LocalStreams.Listen(NameOf(address), address);

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) => LocalStreams.Connect(NameOf(address), address, timeoutMilliseconds);

    private static LocalName NameOf(IpcAddress address)
    {
        if (address.Name[0] != '/')
            return LocalNames.InPrivateFolder(address, "unix-");
        LocalNames.OpenFolder(LocalNames.PrivateFolder).Dispose(); // its lock guards this name as well
        return new LocalName(address.ToString(), address.Name);
    }
}

/// <summary>Frames over named Unix sockets, which is all that `unix` and `pipe` are.</summary>
[SupportedOSPlatform("linux")]
internal static class LocalStreams
{
    public static IpcListener Listen(LocalName name, IpcAddress address) =>
        LocalListener.Open(name, connection => new StreamChannel(new SocketStream(connection), address));

    public static IpcChannel Connect(LocalName name, IpcAddress address, int timeoutMilliseconds)
    {
        var connection = LocalSocket.Connect(name, new Deadline(timeoutMilliseconds));
        return new StreamChannel(new SocketStream(connection, deadline => LocalSocket.ForgetDeadServer(name, connection, deadline)), address);
    }
}
