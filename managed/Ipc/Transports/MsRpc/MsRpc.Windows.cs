using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The three protocol sequences; the numbers stand in meeting places.</summary>
internal enum RpcSequence { Alpc = 1, NamedPipe = 2, Tcp = 3 }

/// <summary>`msrpc-alpc`, `msrpc-np`, `msrpc-tcp`: MS-RPC without generated stubs, on both ends, over rpcrt4 itself. Speaks to servers and
/// clients made from idl/ipc.idl by widl or midl. docs/msrpc.md.</summary>
[SupportedOSPlatform("windows")]
internal sealed class MsRpcTransport(RpcSequence sequence) : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (!OperatingSystem.IsWindows())
            return;
        TransportTable.Add("msrpc-alpc", new MsRpcTransport(RpcSequence.Alpc));
        TransportTable.Add("msrpc-np", new MsRpcTransport(RpcSequence.NamedPipe));
        TransportTable.Add("msrpc-tcp", new MsRpcTransport(RpcSequence.Tcp));
    }

    public override Listener Listen(Address address)
    {
        PlainName.Check(address);
        return RpcListener.Open(address, sequence);
    }

    public override Channel Connect(Address address, int timeoutMilliseconds)
    {
        PlainName.Check(address);
        var link = new RpcLink(RpcMeeting.Find(address, sequence), address, sequence);
        try
        {
            link.Open(new Deadline(timeoutMilliseconds));
            return new CallClientChannel(new RpcClient(link), address);
        }
        catch
        {
            link.Close();
            throw;
        }
    }

    /// <summary>As rpcrt4 calls it.</summary>
    public static string NameOf(RpcSequence sequence) => sequence switch
    {
        RpcSequence.Alpc => "ncalrpc",
        RpcSequence.NamedPipe => "ncacn_np",
        _ => "ncacn_ip_tcp",
    };
}

[SupportedOSPlatform("windows")]
internal sealed class RpcClient(RpcLink link) : CallClient
{
    public override CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline) =>
        link.Exchange(kind, id, payload, deadline);
    public override void DropReply() => link.DropReply();
    public override void Close() => link.Close();

    public override void Dispose()
    {
        // The link's thread gives everything back once it is out of its call.
    }
}
