using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`tcp`: loopback or network, Nagle's delay off. Over loopback both ends check that the other is the same user's.</summary>
[SupportedOSPlatform("linux")]
internal sealed class TcpTransport : Transport
{
    /// <summary>How long a sender waits for room before it looks if the peer has closed, in milliseconds.</summary>
    public const int LongestSend = 1000;

    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("tcp", new TcpTransport());
    }

    public override IpcListener Listen(IpcAddress address)
    {
        var (place, port) = TcpPlace.Parse(address);
        var where = new IPEndPoint(place.Resolve()[0], port);
        TcpReach.Check(where.Address, address);
        var socket = TcpSocket.Listen(where, address);
        var chosen = TcpSocket.LocalEndPoint(socket);
        return new TcpListener(port == 0 ? IpcAddress.Parse(address.WithName(place.WithPort(chosen.Port))) : address, socket);
    }

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) => TcpReach.ConnectToFirst(address, timeoutMilliseconds, ConnectTo);

    private static StreamChannel ConnectTo(IPEndPoint server, IpcAddress address, Deadline deadline)
    {
        var socket = TcpSocket.Connect(server, address, deadline);
        try
        {
            if (TcpReach.ChecksUsers(address))
                TcpUsers.CheckServer(TcpSocket.LocalEndPoint(socket), server, address, () => LocalSocket.PeerHasEnded(socket));
            var stream = IPAddress.IsLoopback(server.Address)
                ? new CheckedClientStream(socket, LongestSend)
                : new SocketStream(socket, longestSend: LongestSend);
            return new StreamChannel(stream, address);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}

[SupportedOSPlatform("linux")]
internal sealed class TcpListener(IpcAddress address, Descriptor socket) : SocketListener(address.ToString(), socket)
{
    protected override IpcChannel? Welcome(Descriptor connection)
    {
        if (TcpReach.ChecksUsers(address)
            && !TcpUsers.IsOwnClient(TcpSocket.RemoteEndPoint(connection), TcpSocket.LocalEndPoint(connection), () => LocalSocket.HasLeft(connection)))
        {
            connection.Dispose();
            return null;
        }
        TcpSocket.Prepare(connection);
        return new StreamChannel(new SocketStream(connection, longestSend: TcpTransport.LongestSend), address);
    }

    protected override void RemoveName()
    {
        // A port leaves nothing behind.
    }
}
