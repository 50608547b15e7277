using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>TCP sockets on Windows: listening, and connecting within a deadline.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class WindowsTcpSocket
{
    private const int Backlog = int.MaxValue; // SOMAXCONN: as many as the system likes
    private const int InitialRetries = unchecked((int)0x98000011); // SIO_TCP_INITIAL_RTO

    public static Socket Listen(IPEndPoint where, IpcAddress address)
    {
        var socket = Make(where, address);
        try
        {
            // Without an option about reusing addresses: other users' sockets cannot share the port, and connections of an
            // earlier listener do not keep it.
            socket.Bind(where);
            socket.Listen(Backlog);
            return socket;
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw ListenFailed(address, e);
        }
    }

    public static Socket Connect(IPEndPoint server, IpcAddress address, Deadline deadline)
    {
        var socket = Make(server, address);
        try
        {
            if (IPAddress.IsLoopback(server.Address))
                TakeFirstRefusal(socket);
            var error = ConnectWithin(socket, server, deadline);
            // With nobody at a port of the system's own range, a socket there can meet itself.
            if (error == SocketError.Success && server.Equals(socket.LocalEndPoint))
                error = SocketError.ConnectionRefused;
            if (error != SocketError.Success)
                throw ConnectFailed(address, error);
            socket.NoDelay = true;
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Whether the peer has closed or reset the connection and sent nothing before.</summary>
    public static bool HasEnded(Socket socket)
    {
        try
        {
            return socket.Poll(0, SelectMode.SelectRead) && socket.Available == 0;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    private static Socket Make(IPEndPoint where, IpcAddress address)
    {
        try
        {
            return new Socket(where.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        }
        catch (SocketException e)
        {
            throw Win32.Failure(IpcStatus.System, $"cannot make a socket for {address}", e.ErrorCode);
        }
    }

    // A refusal on this machine is final, but the system would ask again for two seconds.
    private static void TakeFirstRefusal(Socket socket)
    {
        try
        {
            // TCP_INITIAL_RTO_PARAMETERS: unspecified round trip, no retransmissions
            socket.IOControl(InitialRetries, [0xff, 0xff, 0xfe, 0], null);
        }
        catch (SocketException)
        {
            // A system that does not know it (Wine) takes longer, or asks only once anyway.
        }
    }

    // WouldBlock when the time-out passed.
    private static SocketError ConnectWithin(Socket socket, IPEndPoint server, Deadline deadline)
    {
        using var connected = Win32.CreateEvent();
        if (Win32.SelectEvents(socket.Handle, connected, Win32.FD_CONNECT) != 0)
            return (SocketError)Win32.LastError;
        socket.Blocking = false;
        try
        {
            socket.Connect(server);
            return SocketError.Success;
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.WouldBlock)
        {
            // Under way.
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode;
        }
        var handle = connected.DangerousGetHandle();
        if (Win32.WaitForAny(&handle, 1, deadline) == Win32.WAIT_TIMEOUT)
            return SocketError.WouldBlock;
        Win32.NetworkEvents events;
        return Win32.EnumerateEvents(socket.Handle, 0, &events) == 0 ? (SocketError)events.Errors[Win32.FD_CONNECT_BIT] : (SocketError)Win32.LastError;
    }

    private static IpcException ListenFailed(IpcAddress address, SocketException e) => e.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse or SocketError.AccessDenied => new IpcException(IpcStatus.NameInUse,
            $"cannot listen at {address}: another listener has this port, or the system keeps it for itself; close it or choose another, or 0"),
        SocketError.AddressNotAvailable => Win32.Failure(IpcStatus.BadAddress, $"{address} is no address of this machine", e.ErrorCode),
        _ => Win32.Failure(IpcStatus.System, $"cannot listen at {address}", e.ErrorCode),
    };

    private static IpcException ConnectFailed(IpcAddress address, SocketError error) => error switch
    {
        SocketError.ConnectionRefused => new IpcException(IpcStatus.NoServer, $"nobody listens at {address}: start the server first"),
        SocketError.WouldBlock => new IpcException(IpcStatus.TimedOut, $"the server at {address} did not answer within the time-out"),
        SocketError.TimedOut or SocketError.HostUnreachable or SocketError.NetworkUnreachable or SocketError.AddressNotAvailable =>
            Win32.Failure(IpcStatus.NoServer, $"{address} cannot be reached", (int)error),
        SocketError.AccessDenied => Win32.Failure(IpcStatus.NoPermission, $"may not connect to {address}", (int)error),
        _ => Win32.Failure(IpcStatus.System, $"cannot connect to {address}", (int)error),
    };
}
