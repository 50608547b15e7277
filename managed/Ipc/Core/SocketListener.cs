using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Accepts connections on a listening stream socket and makes channels of them; owns the socket, which does not block.</summary>
[SupportedOSPlatform("linux")]
internal abstract class SocketListener(string address, Descriptor socket) : Listener
{
    private int _closed;

    public sealed override string Address { get; } = address;

    /// <summary>The listening socket, for a thread that polls other descriptors as well: readable when a client waits, hung up
    /// once the listener is closed.</summary>
    public Descriptor Socket => socket;

    /// <summary>A channel for a connection, which it then owns; null (the connection closed) for one that is not welcome.</summary>
    protected abstract Channel? Welcome(Descriptor connection);

    /// <summary>Called once, while the socket still listens: takes the name away, if there is one.</summary>
    protected abstract void RemoveName();

    public sealed override Channel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Channel.Forever)
            throw new IpcException(Status.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Forever (-1)");
        var deadline = new Deadline(timeoutMilliseconds);
        while (true)
        {
            try
            {
                if (AcceptOne(deadline) is { } channel)
                    return channel;
            }
            catch (ObjectDisposedException)
            {
                // Closed by another thread between two system calls; the next look says so.
            }
        }
    }

    private Channel? AcceptOne(Deadline deadline)
    {
        if (Volatile.Read(ref _closed) != 0)
            throw new IpcException(Status.Closed, $"the listener at {Address} was closed here");
        var connection = Libc.Accept(socket);
        if (connection is not null)
            return Welcome(connection);
        switch (Libc.LastError)
        {
            case Libc.EAGAIN when deadline.Expired:
                throw new IpcException(Status.TimedOut, $"no client came to {Address} within the time-out");
            case Libc.EAGAIN:
                // Closing shuts the socket down, which ends this wait too.
                Libc.Poll(socket, Libc.POLLIN, deadline.LeftMilliseconds);
                return null;
            case Libc.EINTR or Libc.ECONNABORTED:
                return null;
            default:
                return Volatile.Read(ref _closed) != 0 ? null : throw Libc.Failure(Status.System, $"cannot accept a client at {Address}");
        }
    }

    public sealed override void Close()
    {
        if (Interlocked.Exchange(ref _closed, 1) != 0)
            return;
        RemoveName();
        LocalSocket.ShutDown(socket);
        // Clients that wait unaccepted are refused once the last thread has left its system call.
        socket.Dispose();
    }

    protected sealed override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
    }
}
