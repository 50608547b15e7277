using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Accepts connections on a listening stream socket and makes channels of them; owns the socket, which does not block.</summary>
[SupportedOSPlatform("linux")]
internal abstract partial class SocketListener(string address, Descriptor socket) : IpcListener
{
    private readonly ManualResetEventSlim _closing = new();
    private int _closed;

    /// <summary>Not a shortage that passes.</summary>
    private sealed class LastingFailure(IpcException failure) : Exception(failure.Message, failure);

    public sealed override string Address { get; } = address;

    /// <summary>The listening socket, for a thread that polls other descriptors as well: readable when a client waits, hung up
    /// once the listener is closed.</summary>
    public Descriptor Socket => socket;

    /// <summary>A channel for a connection, which it then owns; null (the connection closed) for one that is not welcome.</summary>
    protected abstract IpcChannel? Welcome(Descriptor connection);

    /// <summary>Called once, while the socket still listens: takes the name away, if there is one.</summary>
    protected abstract void RemoveName();

    public sealed override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        var patience = new AcceptPatience(deadline);
        var backoff = new AcceptBackoff();
        IpcException? notServed = null; // why the latest client that came could not be served
        while (true)
        {
            var isOver = false;
            try
            {
                var nobodyWaits = !TryAcceptOne(out var channel);
                if (channel is not null)
                    return channel;
                isOver = nobodyWaits ? deadline.Expired : patience.IsOver;
                // Closing shuts the socket down, which ends this wait too.
                if (nobodyWaits && !isOver)
                    Libc.Poll(socket, Libc.POLLIN, deadline.LeftMilliseconds);
            }
            // The system is short of something. The next look says so if the listener is closed meanwhile.
            catch (IpcException e) when (e.Status == IpcStatus.System && Volatile.Read(ref _closed) == 0)
            {
                notServed = e;
                if (!backoff.Wait(_closing, deadline))
                    throw;
            }
            catch (LastingFailure e)
            {
                throw e.InnerException!;
            }
            catch (ObjectDisposedException)
            {
                // Closed by another thread between two system calls; the next look says so.
            }
            if (isOver)
                throw NobodyCame(notServed);
        }
    }

    private IpcException NobodyCame(IpcException? notServed) => notServed is null
        ? new(IpcStatus.TimedOut, $"no client came to {Address} within the time-out")
        : new(IpcStatus.System, $"a client came to {Address}, but could not be served: {notServed.Message}");

    // False: nobody waits to be accepted. True without a channel: look again.
    private bool TryAcceptOne(out IpcChannel? channel)
    {
        channel = null;
        if (Volatile.Read(ref _closed) != 0)
            throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was closed here");
        // A client for whom there would be a descriptor but none for the memory it is to get waits in the queue, too.
        var room = Libc.Duplicate(socket);
        var connection = room is null ? null : Libc.Accept(socket);
        var error = connection is null ? Libc.LastError : 0;
        room?.Dispose();
        if (connection is not null)
        {
            channel = WelcomeUnlessGone(connection);
            return true;
        }
        if (error == Libc.EAGAIN)
            return false;
        if (Libc.IsShortage(error))
            throw Libc.Failure(IpcStatus.System, $"cannot accept a client at {Address}", error);
        return Volatile.Read(ref _closed) != 0 || IsOfOneConnection(error)
            ? true
            : throw new LastingFailure(Libc.Failure(IpcStatus.System, $"cannot accept a client at {Address}", error));
    }

    // The connection was at fault, or somebody else took it; the list is accept(2)'s.
    private static bool IsOfOneConnection(int error) =>
        error is Libc.EINTR or Libc.ECONNABORTED or Libc.EPERM or Libc.EPROTO or Libc.ENETDOWN or Libc.ENOPROTOOPT or Libc.EHOSTDOWN or Libc.ENONET
            or Libc.EHOSTUNREACH or Libc.EOPNOTSUPP or Libc.ENETUNREACH;

    // Who has left again without a word reaches nobody.
    private IpcChannel? WelcomeUnlessGone(Descriptor connection)
    {
        try
        {
            if (!LocalSocket.HasLeft(connection))
                return Welcome(connection);
        }
        catch (IpcException e) when (e.Status is IpcStatus.PeerClosed or IpcStatus.NotOurProtocol or IpcStatus.NoPermission)
        {
            // The client is at fault, not the listener.
        }
        catch
        {
            connection.Dispose();
            throw;
        }
        connection.Dispose();
        return null;
    }

    /// <summary>Asynchronous accepts find out that the listener is closed.</summary>
    partial void EndArrivals();

    public sealed override void Close()
    {
        if (Interlocked.Exchange(ref _closed, 1) != 0)
            return;
        _closing.Set();
        RemoveName();
        EndArrivals();
        LocalSocket.ShutDown(socket);
        // Clients that wait unaccepted are refused once the last thread has left its system call.
        socket.Dispose();
    }

    /// <summary>Of a listener that nobody disposed the name goes, too. The socket still listens here: its handle is finalized after this.</summary>
    ~SocketListener() => Dispose(false);

    protected sealed override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
        else if (Interlocked.Exchange(ref _closed, 1) == 0)
            RemoveName();
    }
}
