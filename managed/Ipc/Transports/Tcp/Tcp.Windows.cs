using System.Diagnostics.CodeAnalysis;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`tcp` on Windows. Over loopback both ends check that the other is the same user's.</summary>
[SupportedOSPlatform("windows")]
internal sealed class WindowsTcpTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsWindows())
            TransportTable.Add("tcp", new WindowsTcpTransport());
    }

    public override IpcListener Listen(IpcAddress address)
    {
        var (place, port) = TcpPlace.Parse(address);
        var where = new IPEndPoint(place.Resolve()[0], port);
        TcpReach.Check(where.Address, address);
        var socket = WindowsTcpSocket.Listen(where, address);
        var chosen = (IPEndPoint)socket.LocalEndPoint!;
        return new WindowsTcpListener(port == 0 ? IpcAddress.Parse(address.WithName(place.WithPort(chosen.Port))) : address, socket);
    }

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) => TcpReach.ConnectToFirst(address, timeoutMilliseconds, ConnectTo);

    private static StreamChannel ConnectTo(IPEndPoint server, IpcAddress address, Deadline deadline)
    {
        var socket = WindowsTcpSocket.Connect(server, address, deadline);
        try
        {
            if (TcpReach.ChecksUsers(address))
                TcpUsers.CheckServer((IPEndPoint)socket.LocalEndPoint!, server, address, () => WindowsTcpSocket.HasEnded(socket));
            return new StreamChannel(new WindowsSocketStream(socket), address);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}

/// <summary>Accepts from any number of threads; closing interrupts them.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe partial class WindowsTcpListener : IpcListener
{
    private readonly IpcAddress _address;
    private readonly Socket _socket; // guarded by itself
    private readonly Win32Handle _came = Win32.CreateEvent();
    private readonly Win32Handle _closing = Win32.CreateEvent();
    private bool _closed; // guarded by _socket

    public WindowsTcpListener(IpcAddress address, Socket socket)
    {
        _address = address;
        _socket = socket;
        if (Win32.SelectEvents(socket.Handle, _came, Win32.FD_ACCEPT) != 0)
            throw Win32.Failure(IpcStatus.System, "cannot watch a socket", Win32.LastError);
    }

    public override string Address => _address.ToString();

    public override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        var events = stackalloc nint[] { _closing.DangerousGetHandle(), _came.DangerousGetHandle() };
        while (true)
        {
            if (TryAccept() is not { } client)
            {
                if (!Win32.WaitForSocket(events, 2, deadline))
                    throw new IpcException(IpcStatus.TimedOut, $"no client came to {Address} within the time-out");
                continue;
            }
            if (Welcome(client) is { } channel)
                return channel;
        }
    }

    private Socket? TryAccept()
    {
        lock (_socket)
        {
            if (_closed)
                throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was closed here");
            // First, so that whoever comes after the look sets it.
            _ = Win32.ResetEvent(_came);
            try
            {
                return _socket.Poll(0, SelectMode.SelectRead) ? _socket.Accept() : null;
            }
            catch (SocketException e) when (e.SocketErrorCode is SocketError.WouldBlock or SocketError.ConnectionReset)
            {
                return null; // gone again
            }
            catch (SocketException e)
            {
                throw Win32.Failure(IpcStatus.System, $"cannot accept a client at {Address}", e.ErrorCode);
            }
        }
    }

    private StreamChannel? Welcome(Socket client)
    {
        try
        {
            if (!TcpReach.ChecksUsers(_address)
                || TcpUsers.IsOwnClient(client.RemoteEndPoint as IPEndPoint, (IPEndPoint)client.LocalEndPoint!, () => WindowsTcpSocket.HasEnded(client)))
            {
                client.NoDelay = true;
                // Tells a client under Wine that its owner is no longer needed: TcpOwners.IsToBeAdmitted.
                client.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
                return new StreamChannel(new WindowsSocketStream(client), _address);
            }
        }
        catch (SocketException)
        {
            // Gone again before it could be looked at.
        }
        client.Dispose();
        return null;
    }

    public override void Close()
    {
        lock (_socket)
        {
            if (_closed)
                return;
            _closed = true;
            _ = Win32.SetEvent(_closing);
            // Clients that wait unaccepted are refused. The events stay: a thread may be about to wait for them.
            _socket.Dispose();
        }
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
    }
}
