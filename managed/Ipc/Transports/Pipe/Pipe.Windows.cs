using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`pipe` on Windows: the named pipe \\.\pipe\NAME, so that a plain NamedPipeClientStream can connect to a listener here, and a
/// client here to a plain NamedPipeServerStream.</summary>
[SupportedOSPlatform("windows")]
internal sealed class WindowsPipeTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsWindows())
            TransportTable.Add("pipe", new WindowsPipeTransport());
    }

    public override IpcListener Listen(IpcAddress address) =>
        new PipeListener(address, LocalPipeListener.Open(LocalPipe.PublicName(address), ModeOf(address)));

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        var mode = ModeOf(address);
        var pipe = LocalPipe.Connect(LocalPipe.PublicName(address), mode, new Deadline(timeoutMilliseconds));
        return new StreamChannel(new PipeStream(pipe, mode), address);
    }

    internal static PipeMode ModeOf(IpcAddress address) => address.Option("mode") == "message" ? PipeMode.Message : PipeMode.Byte;
}

[SupportedOSPlatform("windows")]
internal sealed partial class PipeListener(IpcAddress address, LocalPipeListener listener) : IpcListener
{
    public override string Address { get; } = address.ToString();

    public override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        return ChannelOf(listener.Accept(new Deadline(timeoutMilliseconds)));
    }

    private StreamChannel ChannelOf(Win32Handle client) => new(new PipeStream(client, WindowsPipeTransport.ModeOf(address)), address);

    public override void Close() => listener.Close();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            listener.Close();
    }
}
