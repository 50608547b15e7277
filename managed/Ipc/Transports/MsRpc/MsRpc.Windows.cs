using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The three protocol sequences; the numbers stand in handshake sections.</summary>
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

    public override IpcListener Listen(IpcAddress address)
    {
        PlainName.Check(address);
        return RpcListener.Open(address, sequence);
    }

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        PlainName.Check(address);
        var connection = new RpcConnection(RpcHandshake.Find(address, sequence), address, sequence);
        try
        {
            connection.Open(new Deadline(timeoutMilliseconds));
            return new CallClientChannel(new RpcClient(connection), address);
        }
        catch
        {
            connection.Close();
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
internal sealed class RpcClient(RpcConnection connection) : CallClient
{
    public override CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline) =>
        connection.Exchange(kind, id, payload, deadline);
    public override void DropReply() => connection.DropReply();
    public override void Close() => connection.Close();

    public override void Dispose()
    {
        // The connection's thread gives everything back once it is out of its call.
    }
}
