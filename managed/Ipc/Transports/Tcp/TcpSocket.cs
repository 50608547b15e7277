using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>TCP sockets: listening, connecting within a deadline, and where their two ends are.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class TcpSocket
{
    private const int Backlog = 4096;
    private const int LongestAddress = 128;
    private const int Address4Bytes = 16, Address6Bytes = 28; // sockaddr_in, sockaddr_in6

    public static Descriptor Listen(IPEndPoint where, IpcAddress address)
    {
        var socket = Make(where, Libc.SOCK_NONBLOCK, address);
        try
        {
            // Else a port would stay taken for a minute after its last connection.
            SetOption(socket, Libc.SOL_SOCKET, Libc.SO_REUSEADDR, 1);
            if (where.AddressFamily == AddressFamily.InterNetworkV6)
                SetOption(socket, Libc.IPPROTO_IPV6, Libc.IPV6_V6ONLY, 1);
            var raw = Raw(where);
            fixed (byte* p = raw)
            {
                if (Libc.Bind(socket, p, (uint)raw.Length) != 0 || Libc.Listen(socket, Backlog) != 0)
                    throw ListenFailed(address, Libc.LastError);
            }
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    public static Descriptor Connect(IPEndPoint server, IpcAddress address, Deadline deadline)
    {
        var socket = Make(server, Libc.SOCK_NONBLOCK, address);
        try
        {
            var error = StartConnect(socket, server);
            while (error == Libc.EINPROGRESS)
            {
                if (Libc.Poll(socket, Libc.POLLOUT, deadline.LeftMilliseconds) != 0)
                    error = PendingError(socket);
                else if (deadline.Expired)
                    throw new IpcException(IpcStatus.TimedOut, $"the server at {address} did not answer within the time-out");
            }
            if (error != 0)
                throw ConnectFailed(address, error);
            // With nobody at a port of the system's own range, a socket there can meet itself.
            if (LocalEndPoint(socket).Equals(server))
                throw ConnectFailed(address, Libc.ECONNREFUSED);
            if (Libc.FileControl(socket, Libc.F_SETFL, 0) != 0)
                throw Libc.Failure(IpcStatus.System, $"cannot make the socket of {address} wait");
            Prepare(socket);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Sets what a connection is to have.</summary>
    public static void Prepare(Descriptor socket)
    {
        // A frame is complete when it is sent: nothing is gained by waiting for more.
        SetOption(socket, Libc.IPPROTO_TCP, Libc.TCP_NODELAY, 1);
        // Tells a client that its owner is no longer needed: CheckedClientStream.
        SetOption(socket, Libc.SOL_SOCKET, Libc.SO_KEEPALIVE, 1);
        // Another machine that vanished without a word is given up after some 25 s, busy or idle. This one cannot vanish, and the last of these options would
        // also end connections whose reader has taken nothing for so long: a process that is stopped, in a debugger for example.
        if (RemoteEndPoint(socket) is not { } peer || IPAddress.IsLoopback(peer.Address) || peer.Address.Equals(LocalEndPoint(socket).Address))
            return;
        SetOption(socket, Libc.IPPROTO_TCP, Libc.TCP_KEEPIDLE, 10);
        SetOption(socket, Libc.IPPROTO_TCP, Libc.TCP_KEEPINTVL, 5);
        SetOption(socket, Libc.IPPROTO_TCP, Libc.TCP_KEEPCNT, 3);
        SetOption(socket, Libc.IPPROTO_TCP, Libc.TCP_USER_TIMEOUT, 25_000);
    }

    public static IPEndPoint LocalEndPoint(Descriptor socket)
    {
        var raw = stackalloc byte[LongestAddress];
        var length = (uint)LongestAddress;
        return Libc.GetSocketName(socket, raw, &length) == 0 ? EndPointOf(raw) : throw Libc.Failure(IpcStatus.System, "cannot ask where a socket is");
    }

    /// <summary>Null when the peer is gone already.</summary>
    public static IPEndPoint? RemoteEndPoint(Descriptor socket)
    {
        var raw = stackalloc byte[LongestAddress];
        var length = (uint)LongestAddress;
        return Libc.GetPeerName(socket, raw, &length) == 0 ? EndPointOf(raw) : null;
    }

    private static Descriptor Make(IPEndPoint where, int flags, IpcAddress address) =>
        Libc.Socket(SystemFamily(where), Libc.SOCK_STREAM | flags, address.ToString());

    private static int SystemFamily(IPEndPoint where) => where.AddressFamily == AddressFamily.InterNetwork ? Libc.AF_INET : Libc.AF_INET6;

    // struct sockaddr_in: family, port, address, 8 bytes unused. struct sockaddr_in6: family, port, flow, address, scope.
    // Port and address are in network order, the family and the scope in the machine's.
    private static byte[] Raw(IPEndPoint where)
    {
        var inet6 = SystemFamily(where) == Libc.AF_INET6;
        var raw = new byte[inet6 ? Address6Bytes : Address4Bytes];
        BinaryPrimitives.WriteUInt16LittleEndian(raw, (ushort)SystemFamily(where));
        BinaryPrimitives.WriteUInt16BigEndian(raw.AsSpan(2), (ushort)where.Port);
        where.Address.GetAddressBytes().CopyTo(raw, inet6 ? 8 : 4);
        if (inet6)
            BinaryPrimitives.WriteUInt32LittleEndian(raw.AsSpan(24), (uint)where.Address.ScopeId);
        return raw;
    }

    private static IPEndPoint EndPointOf(byte* raw)
    {
        var bytes = new ReadOnlySpan<byte>(raw, LongestAddress);
        var port = BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]);
        return BinaryPrimitives.ReadUInt16LittleEndian(bytes) == Libc.AF_INET
            ? new IPEndPoint(new IPAddress(bytes.Slice(4, 4).ToArray()), port)
            : new IPEndPoint(new IPAddress(bytes.Slice(8, 16).ToArray(), BinaryPrimitives.ReadUInt32LittleEndian(bytes[24..])), port);
    }

    private static int StartConnect(Descriptor socket, IPEndPoint server)
    {
        var raw = Raw(server);
        // A signal does not stop the attempt either: it goes on as one in progress.
        return LocalSocket.Connect(socket, raw) == 0 ? 0 : Libc.LastError == Libc.EINTR ? Libc.EINPROGRESS : Libc.LastError;
    }

    private static int PendingError(Descriptor socket)
    {
        int error;
        var length = (uint)sizeof(int);
        return Libc.GetSocketOption(socket, Libc.SOL_SOCKET, Libc.SO_ERROR, &error, &length) == 0 ? error : Libc.LastError;
    }

    private static void SetOption(Descriptor socket, int level, int option, int value) =>
        _ = Libc.SetSocketOption(socket, level, option, &value, sizeof(int));

    private static IpcException ListenFailed(IpcAddress address, int error) => error switch
    {
        Libc.EADDRINUSE => new IpcException(IpcStatus.NameInUse,
            $"cannot listen at {address}: another listener has this port; close it or choose another, or 0"),
        Libc.EACCES or Libc.EPERM => Libc.Failure(IpcStatus.NoPermission, $"may not listen at {address}: choose a port above 1023", error),
        Libc.EADDRNOTAVAIL => Libc.Failure(IpcStatus.BadAddress, $"{address} is no address of this machine", error),
        _ => Libc.Failure(IpcStatus.System, $"cannot listen at {address}", error),
    };

    private static IpcException ConnectFailed(IpcAddress address, int error) => error switch
    {
        Libc.ECONNREFUSED => new IpcException(IpcStatus.NoServer, $"nobody listens at {address}: start the server first"),
        Libc.ETIMEDOUT or Libc.EHOSTUNREACH or Libc.ENETUNREACH or Libc.EADDRNOTAVAIL =>
            Libc.Failure(IpcStatus.NoServer, $"{address} cannot be reached", error),
        Libc.EACCES or Libc.EPERM => Libc.Failure(IpcStatus.NoPermission, $"may not connect to {address}", error),
        _ => Libc.Failure(IpcStatus.System, $"cannot connect to {address}", error),
    };
}
