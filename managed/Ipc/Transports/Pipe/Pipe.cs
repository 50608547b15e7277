using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`pipe`: the Unix socket that .NET's own named pipes use on Linux, so that a plain NamedPipeClientStream can connect to
/// a listener here, and a client here to a plain NamedPipeServerStream.</summary>
[SupportedOSPlatform("linux")]
internal sealed class PipeTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("pipe", new PipeTransport());
    }

    public override IpcListener Listen(IpcAddress address) => LocalStreams.Listen(NameOf(address), address);

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) => LocalStreams.Connect(NameOf(address), address, timeoutMilliseconds);

    private static LocalName NameOf(IpcAddress address)
    {
        PlainName.Check(address);
        if (address.Option("mode") != "byte")
            throw new IpcException(IpcStatus.BadOption,
                $"{address} asks for mode=message, which only Windows' pipes have: omit it; message boundaries are kept all the same");
        // Its lock guards this name as well: without the folder a listener could not be, so a client shall hear the same.
        LocalNames.OpenFolder(LocalNames.PrivateFolder).Dispose();
        return new LocalName(address.ToString(), Path.Combine(Path.GetTempPath(), "CoreFxPipe_" + address.Name));
    }
}
