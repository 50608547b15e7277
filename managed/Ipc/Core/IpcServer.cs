namespace Ipc;

/// <summary>Serves every client of an address with one handler, each client on a thread of its own.</summary>
/// <remarks>
/// <para>The handler runs on several threads at once. What it throws fails the call at the client, is reported to <see cref="IpcServerOptions.Error"/>, and
/// ends nothing. Not so what <see cref="ReplyWriter.Reserve"/> throws because its client has gone or was cut off: that ends this client's session, as it
/// would have ended without the handler.</para>
/// <para>Neither a client nor a shortage of the system ends a server: it waits, drops clients that have never called, and goes on. Any thread may use any
/// member.</para>
/// </remarks>
public sealed partial class IpcServer : IDisposable
{
    // Short enough that a server without descriptors left finds out and drops silent clients; shorter while that lasts.
    private const int CalmMilliseconds = 1000, ShortMilliseconds = 20;
    private const int ShortestPause = 10, LongestPause = 1000;

    private readonly IpcListener _listener;
    private readonly RequestHandler _handler;
    private readonly Action<IpcServerError>? _error;
    private readonly int _maxClients;
    private readonly Thread _acceptor;

    private readonly object _gate = new(); // guards what follows; pulsed when it changes
    private readonly LinkedList<IpcServerClient> _clients = new(); // the oldest first
    private bool _stopping;

    /// <summary>Listens at an address and starts to serve.</summary>
    /// <param name="address">The address, for example <c>shm://prices</c>.</param>
    /// <param name="handler">Answers one request; called on several threads at once.</param>
    /// <param name="options">How to serve; read now and not again.</param>
    /// <exception cref="ArgumentNullException">The address or the handler is null.</exception>
    /// <exception cref="IpcException">As for <see cref="IIpc.Listen"/>; <see cref="IpcStatus.InvalidArgument"/> for fewer than one client.</exception>
    public IpcServer(string address, RequestHandler handler, IpcServerOptions? options = null)
        : this(() => (options?.Implementation ?? ManagedIpc.Instance).Listen(address), handler, options)
    {
    }

    /// <summary>Starts to serve the clients of a listener, of either implementation.</summary>
    /// <param name="listener">The listener; the server disposes it.</param>
    /// <param name="handler">Answers one request; called on several threads at once.</param>
    /// <param name="options">How to serve; read now and not again.</param>
    /// <exception cref="ArgumentNullException">The listener or the handler is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/> for fewer than one client.</exception>
    public IpcServer(IpcListener listener, RequestHandler handler, IpcServerOptions? options = null)
        : this(() => listener ?? throw new ArgumentNullException(nameof(listener)), handler, options)
    {
    }

    // Listens when all else is known to be right, so that what is refused leaves no name taken.
    private IpcServer(Func<IpcListener> listen, RequestHandler handler, IpcServerOptions? options)
    {
        ArgumentNullException.ThrowIfNull(handler);
        options ??= new IpcServerOptions();
        if (options.MaxClients < 1)
            throw NoClients(options.MaxClients);
        (_listener, _handler, _error, _maxClients) = (listen(), handler, options.Error, options.MaxClients);
        _acceptor = new Thread(AcceptClients) { IsBackground = true, Name = "ipc server" };
        try
        {
            LibraryThread.Start(_acceptor, $"that accepts the clients of {Address}", withContext: true);
        }
        catch
        {
            _listener.Dispose();
            throw;
        }
    }

    internal static IpcException NoClients(int most) =>
        new(IpcStatus.InvalidArgument, $"a server of at most {most} clients could serve none: give MaxClients a number from 1");

    /// <summary>The address at which clients connect: the one given, completed by what the system chose, such as the port for
    /// <c>tcp://127.0.0.1:0</c>.</summary>
    public string Address => _listener.Address;

    /// <summary>The number of clients connected at this moment; <see cref="GetHealth"/> says more about them.</summary>
    public int Clients
    {
        get
        {
            lock (_gate)
                return _clients.Count;
        }
    }

    /// <summary>Stops listening, disconnects idle clients, and lets the requests in progress be answered before it disconnects their clients, too.</summary>
    /// <remarks>A handler may call this; its own request is not waited for, nor those whose handlers do the same at the time.</remarks>
    /// <param name="timeoutMilliseconds">How long requests in progress may take, in milliseconds; <see cref="Timeout.Infinite"/> waits for all of them.
    /// Clients whose requests take longer are cut off.</param>
    /// <returns><see langword="true"/> if every request in progress was answered, <see langword="false"/> if any client was cut off.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/> for a negative time-out.</exception>
    public bool Stop(int timeoutMilliseconds = Timeout.Infinite)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        _listener.Close();
        lock (_gate)
        {
            _stopping = true;
            foreach (var client in _clients)
                client.Finish();
            var own = BeginToStop();
            while (_clients.Any(client => IsAwaited(client, own)) && !deadline.Expired)
                Monitor.Wait(_gate, deadline.LeftMilliseconds);
            EndToStop(own);
            var allAnswered = true;
            foreach (var client in _clients.Where(client => IsAwaited(client, own)))
            {
                allAnswered &= !client.IsAnswering;
                client.Close();
            }
            return allAnswered;
        }
    }

    // The client whose handler this thread is in, if it is in one. Call this and the following with the lock held.
    private IpcServerClient? BeginToStop()
    {
        var own = _clients.FirstOrDefault(client => client.IsServedHere);
        if (own is not null)
            own.Stopping++;
        Monitor.PulseAll(_gate);
        return own;
    }

    private static void EndToStop(IpcServerClient? own)
    {
        if (own is not null)
            own.Stopping--;
    }

    // Two handlers that stop the server would wait for each other for ever.
    private static bool IsAwaited(IpcServerClient client, IpcServerClient? own) => client != own && (own is null || client.Stopping == 0);

    /// <summary>Stops with a time-out of 0, then waits for handlers that are still running, which nothing interrupts, and releases everything.</summary>
    public void Dispose()
    {
        Stop(0);
        if (Thread.CurrentThread != _acceptor)
            _acceptor.Join();
        lock (_gate)
        {
            var own = BeginToStop();
            while (_clients.Any(client => IsAwaited(client, own)))
                Monitor.Wait(_gate);
            EndToStop(own);
        }
        _listener.Dispose();
    }

    private void AcceptClients()
    {
        var slice = CalmMilliseconds;
        var pause = ShortestPause;
        while (WaitForRoom())
        {
            try
            {
                ServeApart(_listener.Accept(slice));
                pause = ShortestPause;
            }
            catch (IpcException e) when (e.Status == IpcStatus.Closed)
            {
                return;
            }
            catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
            {
                slice = CalmMilliseconds;
            }
            catch (Exception e)
            {
                slice = ShortMilliseconds;
                Tell(IpcServerErrorSource.Accept, e);
                Recover(pause);
                pause = Math.Min(2 * pause, LongestPause);
            }
        }
    }

    // Waits while as many clients as may be are all in use; false once the server stops.
    private bool WaitForRoom()
    {
        lock (_gate)
        {
            while (!_stopping && _clients.Count >= _maxClients && !_clients.Any(client => client.IsFresh))
                Monitor.Wait(_gate);
            return !_stopping;
        }
    }

    // Gives the client a thread. When the system has none that is a failure, and the client finds its connection ended.
    private void ServeApart(IpcChannel channel)
    {
        var dropped = false;
        var client = new IpcServerClient(channel);
        try
        {
            lock (_gate)
            {
                // One of those in use, or the one dropped, will go.
                while (!_stopping && _clients.Count >= _maxClients)
                {
                    dropped = dropped || MakeRoom();
                    var fresh = dropped ? null : _clients.FirstOrDefault(oldest => oldest.IsFresh);
                    Monitor.Wait(_gate, fresh?.DroppableInMilliseconds ?? Timeout.Infinite);
                }
                if (_stopping)
                {
                    channel.Dispose();
                    return;
                }
                client.Thread = new Thread(() => Serve(client)) { IsBackground = true, Name = "ipc server's client" };
                client.Number = ++_accepted;
                _clients.AddLast(client.Node);
                LibraryThread.Start(client.Thread, $"for a client of {Address}", withContext: true);
            }
        }
        catch
        {
            Forget(client);
            channel.Dispose();
            throw;
        }
        if (dropped)
        {
            Tell(IpcServerErrorSource.Accept, new IpcException(IpcStatus.NotAvailable,
                $"all {_maxClients} clients that {Address} serves at once were connected: the one silent for longest was dropped for a new one"));
        }
    }

    // The oldest client that has never called goes, if it has had its time to. Call with the lock held.
    private bool MakeRoom() => _clients.Any(client => client.MakeRoom());

    // After a failure to accept: the system is short of something. Half of the clients that never called give theirs back.
    private void Recover(int pause)
    {
        lock (_gate)
        {
            for (var i = (_clients.Count(client => client.IsFresh) + 1) / 2; i > 0; i--)
                MakeRoom();
            if (!_stopping)
                Monitor.Wait(_gate, pause);
        }
    }

    private void Serve(IpcServerClient client)
    {
        try
        {
            var answerOne = client.Channel.AnswerOneBy((request, reply) => Handle(client, request, reply));
            do
                answerOne();
            while (client.End());
        }
        catch (IpcException e) when (e.Status is IpcStatus.PeerClosed or IpcStatus.Closed)
        {
            // The client has all it wanted, or the server stops.
        }
        // It is only this client's session that ends, whatever happened to it.
        catch (Exception e)
        {
            Tell(IpcServerErrorSource.Channel, e);
        }
        Forget(client);
        client.Channel.Dispose();
        lock (_gate)
            Monitor.PulseAll(_gate);
    }

    private void Handle(IpcServerClient client, ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        // Too late to be begun: the client learns that the channel has been closed.
        if (!client.Begin())
            throw reply.EndChannelWith(new IpcException(IpcStatus.Closed, $"the server at {Address} has stopped"));
        try
        {
            _handler(request, reply);
        }
        // A client that has gone, or was cut off, is not the handler's fault.
        catch (Exception e) when (!reply.IsEndOfChannel(e))
        {
            client.Failed();
            Tell(IpcServerErrorSource.Handler, e);
            throw;
        }
    }

    private void Forget(IpcServerClient client)
    {
        lock (_gate)
        {
            client.Leave();
            if (client.Node.List is null)
                return;
            _clients.Remove(client.Node);
            var last = client.GetHealth();
            _servedBefore += last.CallsServed;
            _failedBefore += last.CallsFailed;
        }
    }

    private void Tell(IpcServerErrorSource source, Exception exception)
    {
        try
        {
            _error?.Invoke(new IpcServerError(source, exception));
        }
        // Nobody is left to tell.
        catch (Exception)
        {
        }
    }
}
