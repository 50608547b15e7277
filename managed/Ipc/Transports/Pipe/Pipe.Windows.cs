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

    public override Listener Listen(Address address) =>
        new PipeListener(address, LocalPipeListener.Open(LocalPipe.PublicName(address), ModeOf(address)));

    public override Channel Connect(Address address, int timeoutMilliseconds)
    {
        var mode = ModeOf(address);
        var pipe = LocalPipe.Connect(LocalPipe.PublicName(address), mode, new Deadline(timeoutMilliseconds));
        return new StreamChannel(new PipeStream(pipe, mode), address);
    }

    internal static PipeMode ModeOf(Address address) => address.Option("mode") == "message" ? PipeMode.Message : PipeMode.Byte;
}

[SupportedOSPlatform("windows")]
internal sealed class PipeListener(Address address, LocalPipeListener listener) : Listener
{
    public override string Address { get; } = address.ToString();

    public override Channel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Channel.Forever)
            throw new IpcException(Status.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Forever (-1)");
        var pipe = listener.Accept(new Deadline(timeoutMilliseconds));
        return new StreamChannel(new PipeStream(pipe, WindowsPipeTransport.ModeOf(address)), address);
    }

    public override void Close() => listener.Close();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            listener.Close();
    }
}
