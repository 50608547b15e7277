using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Unix stream sockets with names of the own user: connecting, checking who is there, removing dead names.
/// What listens is <see cref="LocalListener"/>.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class LocalSocket
{

    [StructLayout(LayoutKind.Sequential)]
    public struct Credentials
    {
        public int Process;
        public uint User;
        public uint Group;
    }

    /// <summary>Connects to a server of this user. Nobody there is <see cref="IpcStatus.NoServer"/> at once, and removes a dead
    /// name; the deadline matters only while the server's queue of clients is full.</summary>
    public static Descriptor Connect(LocalName name, Deadline deadline)
    {
        using var address = new SocketAddress(name);
        CheckOwner(name, deadline);
        var socket = Libc.Socket(Libc.AF_UNIX, Libc.SOCK_STREAM, name.Address);
        try
        {
            // 1 ms for a deadline that is over: the system's 0 would wait without end.
            SetTimeout(socket, Libc.SO_SNDTIMEO, deadline.Forever ? Timeout.Infinite : Math.Max(deadline.LeftMilliseconds, 1));
            while (Connect(socket, address.Bytes) != 0)
            {
                if (Libc.LastError != Libc.EINTR)
                    throw ConnectFailed(name, Libc.LastError, deadline);
            }
            SetTimeout(socket, Libc.SO_SNDTIMEO, Timeout.Infinite);
            CheckPeerUser(name, socket);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Refuses a peer that belongs to another user.</summary>
    public static void CheckPeerUser(LocalName name, Descriptor socket)
    {
        var peer = PeerOf(socket);
        if (peer.User != Libc.EffectiveUser())
            throw new IpcException(IpcStatus.NoPermission,
                $"the peer at {name.Address} belongs to user {peer.User}, not to this one: run both as the same user");
    }

    /// <summary>The process and user that connected, or that listened.</summary>
    public static Credentials PeerOf(Descriptor socket)
    {
        Credentials peer;
        var length = (uint)sizeof(Credentials);
        return Libc.GetSocketOption(socket, Libc.SOL_SOCKET, Libc.SO_PEERCRED, &peer, &length) == 0
            ? peer
            : throw Libc.Failure(IpcStatus.System, "cannot ask who the peer is");
    }

    /// <summary>The process that connected, or that listened; 0 of what is no Unix socket.</summary>
    public static int ProcessOf(Descriptor descriptor)
    {
        Credentials peer;
        var length = (uint)sizeof(Credentials);
        return Libc.GetSocketOption(descriptor, Libc.SOL_SOCKET, Libc.SO_PEERCRED, &peer, &length) == 0 ? peer.Process : 0;
    }

    /// <summary>For a client whose connection has ended: removes its server's name if the server is dead, or found dying.
    /// Never throws, nor outlasts the deadline by more than some milliseconds.</summary>
    public static void ForgetDeadServer(LocalName name, Descriptor socket, Deadline deadline)
    {
        try
        {
            var server = PeerOf(socket).Process;
            // It closes its descriptors one by one, perhaps a connection before its listener. Looked at before the name is
            // tried: once it is gone, whoever still has the name bound is another server.
            var left = LocalNames.MillisecondsToForget(deadline);
            var patience = new Deadline(left);
            while (IsOwnSocket(name.Path))
            {
                var closing = server > 0 && LocalNames.IsClosingDescriptors(server);
                using (var names = LocalNames.Lock(left))
                {
                    if (RemoveIfDeadLocked(name) || !closing || patience.Expired)
                        return;
                }
                Thread.Sleep(1);
            }
        }
        catch (Exception e) when (e is IpcException or ObjectDisposedException)
        {
            // The name is left to whoever meets it next.
        }
    }

    /// <summary>Removes the name, under the lock, if it is a socket of this user that no process has bound any more. True if it is gone.</summary>
    public static bool RemoveIfDeadLocked(LocalName name)
    {
        if (!IsOwnSocket(name.Path))
            return false;
        using var address = new SocketAddress(name);
        if (!IsRefused(name, address))
            return false;
        Thread.Sleep(10);
        return IsRefused(name, address) && Libc.Unlink(name.Path) == 0;
    }

    /// <summary>Sets one of a socket's two time-outs; negative is none.</summary>
    public static void SetTimeout(Descriptor socket, int which, int milliseconds)
    {
        var time = milliseconds < 0 ? default : new Libc.TimeValue { Seconds = milliseconds / 1000, Fraction = milliseconds % 1000 * 1000L };
        _ = Libc.SetSocketOption(socket, Libc.SOL_SOCKET, which, &time, (uint)sizeof(Libc.TimeValue));
    }

    /// <summary>Whether the other end of a connection has closed or reset it and sent nothing before. Does not wait.</summary>
    public static bool HasLeft(Descriptor socket)
    {
        byte first;
        var count = Libc.Receive(socket, &first, 1, Libc.MSG_PEEK | Libc.MSG_DONTWAIT);
        return count == 0 || (count < 0 && Libc.LastError is not (Libc.EAGAIN or Libc.EINTR));
    }

    /// <summary>Whether the other end has closed or reset the connection, or its process has died, whatever it sent before; of any stream socket. No peer
    /// of ours says that it sends no more before its end.</summary>
    public static bool PeerHasEnded(Descriptor socket) =>
        (Libc.Poll(socket, Libc.POLLRDHUP, 0) & (Libc.POLLHUP | Libc.POLLRDHUP | Libc.POLLERR)) != 0;

    /// <summary>Whether the other end has sent something that waits to be read.</summary>
    public static bool HasSpoken(Descriptor socket)
    {
        byte first;
        return Libc.Receive(socket, &first, 1, Libc.MSG_PEEK | Libc.MSG_DONTWAIT) > 0;
    }

    /// <summary>Ends both directions, unless the socket is gone already.</summary>
    public static void ShutDown(Descriptor socket)
    {
        try
        {
            _ = Libc.Shutdown(socket, Libc.SHUT_RDWR);
        }
        catch (ObjectDisposedException)
        {
            // Closed by another thread meanwhile, which ends both directions as well.
        }
    }

    public static int Connect(Descriptor socket, ReadOnlySpan<byte> address)
    {
        fixed (byte* p = address)
            return Libc.Connect(socket, p, (uint)address.Length);
    }

    // A datagram socket asks, because the system refuses it before it looks at the type if nobody has bound the name, and
    // for its type if somebody has: unlike a stream socket it never becomes a client that the server would have to accept.
    private static bool IsRefused(LocalName name, SocketAddress address)
    {
        using var probe = Libc.Socket(Libc.AF_UNIX, Libc.SOCK_DGRAM, $"finding out whether another listener has the name of {name.Address}");
        return Connect(probe, address.Bytes) != 0 && Libc.LastError == Libc.ECONNREFUSED;
    }

    private static bool IsOwnSocket(string path) =>
        Libc.GetStatus(path, out var status) && status.Kind == Libc.S_IFSOCK && status.User == Libc.EffectiveUser();

    // What stands at the path must be a socket of this user before we connect: connecting would follow a link.
    private static void CheckOwner(LocalName name, Deadline deadline)
    {
        if (!Libc.GetStatus(name.Path, out var status))
            throw ConnectFailed(name, Libc.LastError, deadline);
        if (status.Kind == Libc.S_IFLNK || status.User != Libc.EffectiveUser())
            throw new IpcException(IpcStatus.NoPermission,
                $"{name.Path}, where {name.Address} leads, is not a socket of this user: choose another name");
        if (status.Kind != Libc.S_IFSOCK)
            throw new IpcException(IpcStatus.NoServer,
                $"{name.Path}, where {name.Address} leads, is not a socket: start the server, or choose another name");
    }

    private static IpcException ConnectFailed(LocalName name, int error, Deadline deadline)
    {
        if (error == Libc.ECONNREFUSED)
            LocalNames.IfLocked(deadline, () => RemoveIfDeadLocked(name));
        return error switch
        {
            Libc.ECONNREFUSED or Libc.ENOENT or Libc.ENOTDIR =>
                new IpcException(IpcStatus.NoServer, $"nobody listens at {name.Address}: start the server first"),
            Libc.EAGAIN =>
                new IpcException(IpcStatus.TimedOut, $"the server at {name.Address} is there but accepts no client within the time-out"),
            Libc.EPROTOTYPE => new IpcException(IpcStatus.NotOurProtocol,
                $"{name.Path}, where {name.Address} leads, is not a stream socket: check the address"),
            Libc.EACCES or Libc.EPERM => Libc.Failure(IpcStatus.NoPermission, $"may not connect to {name.Address}", error),
            _ => Libc.Failure(IpcStatus.System, $"cannot connect to {name.Address}", error),
        };
    }
}
