using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A listening Unix socket and its name in the file system: <c>pipe</c>, <c>unix</c> and the handover of shared memory.
/// Clients of other users are dropped.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class LocalListener : SocketListener
{
    private const int Backlog = 4096;
    private const uint OwnerReadsAndWrites = 0b110_000_000;

    private readonly LocalName _name;
    private readonly FileIdentity _identity;
    private readonly Func<Descriptor, IpcChannel?> _welcome;

    private LocalListener(LocalName name, Descriptor socket, FileIdentity identity, Func<Descriptor, IpcChannel?> welcome) : base(name.Address, socket)
    {
        _name = name;
        _identity = identity;
        _welcome = welcome;
    }

    /// <summary>Takes the name, after removing a dead one of this user. <paramref name="welcome"/> makes a channel of a
    /// connection, which it then owns, or null when the client is gone again.</summary>
    public static LocalListener Open(LocalName name, Func<Descriptor, IpcChannel?> welcome)
    {
        using var address = new SocketAddress(name);
        var socket = Libc.Socket(Libc.AF_UNIX, Libc.SOCK_STREAM | Libc.SOCK_NONBLOCK, name.Address);
        try
        {
            // The file gets the mode of the socket it is made from: nobody sees it with a wider one.
            if (Libc.ChangeMode(socket, OwnerReadsAndWrites) != 0)
                throw Libc.Failure(IpcStatus.System, $"cannot protect the socket of {name.Address}");
            return new LocalListener(name, socket, TakeName(name, socket, address), welcome);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static FileIdentity TakeName(LocalName name, Descriptor socket, SocketAddress address)
    {
        using var names = LocalNames.Lock();
        var error = Bind(socket, address);
        if (error == Libc.EADDRINUSE)
        {
            if (!LocalSocket.RemoveIfDeadLocked(name))
                throw NameIsTaken(name);
            error = Bind(socket, address);
        }
        if (error != 0)
            throw Libc.Failure(error is Libc.EACCES or Libc.EPERM or Libc.EROFS ? IpcStatus.NoPermission : IpcStatus.System,
                $"cannot listen at {name.Address} ({name.Path})", error);
        if (Libc.GetStatus(name.Path, out var status) && Libc.Listen(socket, Backlog) == 0)
            return status.Identity;
        error = Libc.LastError;
        _ = Libc.Unlink(name.Path);
        throw Libc.Failure(IpcStatus.System, $"cannot listen at {name.Address} ({name.Path})", error);
    }

    private static int Bind(Descriptor socket, SocketAddress address)
    {
        fixed (byte* p = address.Bytes)
            return Libc.Bind(socket, p, (uint)address.Bytes.Length) == 0 ? 0 : Libc.LastError;
    }

    private static IpcException NameIsTaken(LocalName name)
    {
        var there = Libc.GetStatus(name.Path, out var status);
        if (there && status.User != Libc.EffectiveUser())
            return new IpcException(IpcStatus.NoPermission,
                $"cannot listen at {name.Address}: {name.Path} belongs to user {status.User}; choose another name");
        if (there && status.Kind != Libc.S_IFSOCK)
            return new IpcException(IpcStatus.NameInUse,
                $"cannot listen at {name.Address}: {name.Path} is not a socket; remove it or choose another name");
        return new IpcException(IpcStatus.NameInUse,
            $"cannot listen at {name.Address}: another listener has this name; close it or choose another name");
    }

    /// <summary>The next client of this user if one waits, without a channel of it; null if none does.</summary>
    public Descriptor? TryAcceptConnection()
    {
        while (Libc.Accept(Socket) is { } connection)
        {
            if (IsOfThisUser(connection))
                return connection;
            connection.Dispose();
        }
        return null;
    }

    protected override IpcChannel? Welcome(Descriptor connection)
    {
        if (IsOfThisUser(connection))
            return _welcome(connection);
        connection.Dispose();
        return null;
    }

    private static bool IsOfThisUser(Descriptor connection) => LocalSocket.PeerOf(connection).User == Libc.EffectiveUser();

    protected override void RemoveName() => LocalNames.Remove(_name.Path, _identity);
}
