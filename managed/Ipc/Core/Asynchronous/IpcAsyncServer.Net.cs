using System.Diagnostics.CodeAnalysis;

namespace Ipc;

/// <summary>Serves every client of an address with one asynchronous handler. A client that does not call holds no thread (docs/dotnet.md lists the
/// transports over which it does).</summary>
/// <remarks>
/// <para>The handler runs for several clients at once. What it throws fails the call at the client, is reported to
/// <see cref="IpcAsyncServerOptions.Error"/>, and ends nothing.</para>
/// <para>Clients beyond <see cref="IpcAsyncServerOptions.MaxClients"/> wait in the system's queue. Unlike <see cref="IpcServer"/>, it drops no client that
/// says nothing. Any thread may use any member.</para>
/// </remarks>
[SuppressMessage("Usage", "CA2213", Justification = "Sources without timers, and semaphores without handles, have nothing to give back.")]
public sealed class IpcAsyncServer : IAsyncDisposable
{
    private const int PauseMilliseconds = 100; // after a failure to accept, when the system is short of something

    // For handlers that heed their tokens to tell their clients so before these are cut off.
    private static readonly TimeSpan s_lastWord = TimeSpan.FromMilliseconds(100);

    // The client whose request the code that runs now answers.
    private static readonly AsyncLocal<Client?> s_served = new();

    private readonly IpcListener _listener;
    private readonly AsyncRequestHandler _handler;
    private readonly IAsyncServerEvents _events;
    private readonly int _callsAtOnce;
    private readonly SemaphoreSlim _room;
    private readonly CancellationTokenSource _stopping = new(); // neither clients nor requests are received any more
    private readonly Task _accepting;

    private readonly Lock _lock = new(); // guards what follows
    private readonly HashSet<Client> _clients = [];

    /// <summary>Listens at an address and starts to serve.</summary>
    /// <param name="address">The address, for example <c>unix://prices</c>.</param>
    /// <param name="handler">Answers one request; called for several clients at once. Its token is cancelled when its client is cut off.</param>
    /// <param name="options">How to serve; read now and not again.</param>
    /// <exception cref="ArgumentNullException">The address or the handler is null.</exception>
    /// <exception cref="IpcException">As for <see cref="IIpc.Listen"/>; <see cref="IpcStatus.InvalidArgument"/> for fewer than one client or call at
    /// once.</exception>
    public IpcAsyncServer(string address, AsyncRequestHandler handler, IpcAsyncServerOptions? options = null)
        : this(address, handler, options ?? new(), new ErrorsOnly(options?.Error))
    {
    }

    /// <summary>Starts to serve the clients of a listener, of either implementation.</summary>
    /// <param name="listener">The listener; the server disposes it.</param>
    /// <param name="handler">Answers one request; called for several clients at once. Its token is cancelled when its client is cut off.</param>
    /// <param name="options">How to serve; read now and not again.</param>
    /// <exception cref="ArgumentNullException">The listener or the handler is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/> for fewer than one client or call at once.</exception>
    public IpcAsyncServer(IpcListener listener, AsyncRequestHandler handler, IpcAsyncServerOptions? options = null)
        : this(() => listener ?? throw new ArgumentNullException(nameof(listener)), handler, options ?? new(), new ErrorsOnly(options?.Error))
    {
    }

    internal IpcAsyncServer(string address, AsyncRequestHandler handler, IpcAsyncServerOptions options, IAsyncServerEvents events)
        : this(() => (options.Implementation ?? ManagedIpc.Instance).Listen(address), handler, options, events)
    {
    }

    // Listens when all else is known to be right, so that what is refused leaves no name taken.
    private IpcAsyncServer(Func<IpcListener> listen, AsyncRequestHandler handler, IpcAsyncServerOptions options, IAsyncServerEvents events)
    {
        ArgumentNullException.ThrowIfNull(handler);
        if (options.MaxClients < 1)
            throw IpcServer.NoClients(options.MaxClients);
        if (options.CallsAtOnce < 1)
        {
            throw new IpcException(IpcStatus.InvalidArgument,
                $"a server that answers {options.CallsAtOnce} calls of a client at once could answer none: give CallsAtOnce a number from 1");
        }
        (_handler, _events, _callsAtOnce) = (handler, events, options.CallsAtOnce);
        _room = new SemaphoreSlim(options.MaxClients);
        _listener = listen();
        _accepting = Task.Run(AcceptClientsAsync);
    }

    /// <summary>The address at which clients connect: the one given, completed by what the system chose, such as the port for
    /// <c>tcp://127.0.0.1:0</c>.</summary>
    public string Address => _listener.Address;

    /// <summary>The number of clients connected at this moment.</summary>
    public int Clients
    {
        get
        {
            lock (_lock)
                return _clients.Count;
        }
    }

    /// <summary>Stops listening, disconnects idle clients, and lets the requests in progress be answered before it disconnects their clients, too.</summary>
    /// <remarks>A handler may call this; its own request is not waited for, nor those whose handlers do the same at the time.</remarks>
    /// <param name="timeout">How long requests in progress may take; <see cref="Timeout.InfiniteTimeSpan"/> waits for all of them. Clients whose requests take
    /// longer are cut off: their handlers' tokens are cancelled, then their connections end.</param>
    /// <param name="cancellationToken">Ends the wait, as if the time were over.</param>
    /// <returns><see langword="true"/> if every request in progress was answered, <see langword="false"/> if any client was cut off, which without any time
    /// may be an idle one.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/> for a negative time-out.</exception>
    public async Task<bool> StopAsync(TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        // A task's wait ends after 24 days, an int's milliseconds, as all time-outs do.
        var patience = TimeSpan.FromMilliseconds(TimeSpans.Milliseconds(timeout));
        await StopReceivingAsync().ConfigureAwait(false);
        var (own, awaited) = BeginToStop();
        try
        {
            // Each client is served until the reply to its request has gone, which may be long after the handler has made it.
            await Task.WhenAll(awaited.Select(client => client.Serving)).WaitAsync(patience, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return !await CutOffAsync(awaited).ConfigureAwait(false);
        }
        finally
        {
            EndToStop(own);
        }
    }

    /// <summary>Stops listening and cuts off every client at once. Waits for nothing: handlers see their tokens cancelled, and end later.</summary>
    public void Close()
    {
        _stopping.Cancel();
        _listener.Dispose();
        Client[] clients;
        lock (_lock)
            clients = [.. _clients];
        foreach (var client in clients)
        {
            _ = client.CancelAsync();
            client.Channel.Close();
        }
    }

    /// <summary>Stops without giving any time, then waits for handlers that are still running, which heed their tokens or end by themselves, and releases
    /// everything.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopReceivingAsync().ConfigureAwait(false);
        var (own, awaited) = BeginToStop();
        await CutOffAsync(awaited).ConfigureAwait(false);
        await Task.WhenAll(awaited.Select(client => client.Serving)).ConfigureAwait(false);
        EndToStop(own);
        _listener.Dispose();
    }

    private async Task StopReceivingAsync()
    {
        await _stopping.CancelAsync().ConfigureAwait(false);
        _listener.Close();
        await _accepting.ConfigureAwait(false);
    }

    // Whether there was any to cut off.
    private static async Task<bool> CutOffAsync(Client[] clients)
    {
        Client[] left = [.. clients.Where(client => !client.Serving.IsCompleted)];
        // What a handler does by its token may take long, or fail.
        await Task.WhenAll(left.Select(client => client.CancelAsync())).WaitAsync(s_lastWord).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        foreach (var client in left)
            client.Channel.Close();
        return left.Length > 0;
    }

    // The client whose handler this is, if it is one of this server's, and those to wait for: two handlers that stop the server would wait for each other
    // for ever.
    private (Client? Own, Client[] Awaited) BeginToStop()
    {
        lock (_lock)
        {
            var own = s_served.Value is { } served && _clients.Contains(served) ? served : null;
            if (own is not null)
                own.Stopping++;
            return (own, [.. _clients.Where(client => client != own && (own is null || client.Stopping == 0))]);
        }
    }

    private void EndToStop(Client? own)
    {
        if (own is null)
            return;
        lock (_lock)
            own.Stopping--;
    }

    private async Task AcceptClientsAsync()
    {
        while (true)
        {
            try
            {
                await _room.WaitAsync(_stopping.Token).ConfigureAwait(false);
                var client = new Client(await _listener.AcceptAsync(_stopping.Token).ConfigureAwait(false));
                lock (_lock)
                {
                    _clients.Add(client);
                    client.Serving = Task.Run(() => ServeAsync(client));
                }
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (IpcException e) when (e.Status == IpcStatus.Closed)
            {
                return;
            }
            // Neither a client nor a shortage of the system ends a server.
            catch (Exception e)
            {
                _room.Release();
                Tell(() => _events.AcceptFailed(e));
                await Task.Delay(PauseMilliseconds, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task ServeAsync(Client client)
    {
        s_served.Value = client;
        Tell(_events.ClientConnected);
        try
        {
            // The token of ServeAsync only ends the wait for requests.
            var (channel, answer, stop) = (client.Channel, client.Answer(_handler), _stopping.Token);
            void Failed(Exception e) => TellFailure(client, e);
            await (_callsAtOnce == 1 ? channel.ServeAsync(answer, Failed, stop) : channel.ServeAsync(answer, _callsAtOnce, Failed, stop)).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
        }
        catch (IpcException e) when (e.Status == IpcStatus.Closed && _stopping.IsCancellationRequested)
        {
            // The same.
        }
        // It is only this client's session that ends, whatever happened to it.
        catch (Exception e)
        {
            Tell(() => _events.ChannelFailed(e));
        }
        lock (_lock)
            _clients.Remove(client);
        client.Dispose();
        _room.Release();
        Tell(_events.ClientLeft);
    }

    private void TellFailure(Client client, Exception exception) =>
        Tell(() => _events.HandlerFailed(exception, wasCancelled: exception is OperationCanceledException && client.IsCutOff));

    private static void Tell(Action tell)
    {
        try
        {
            tell();
        }
        // Nobody is left to tell, and no failure of a log ends a server.
        catch (Exception)
        {
        }
    }

    private sealed class Client(IpcChannel channel) : IDisposable
    {
        private readonly CancellationTokenSource _cutOff = new();

        public IpcChannel Channel => channel;
        public Task Serving { get; set; } = Task.CompletedTask;
        public bool IsCutOff => _cutOff.IsCancellationRequested;

        /// <summary>How many times its handlers are inside <see cref="StopAsync"/> or <see cref="DisposeAsync"/>; guarded by the server's lock.</summary>
        public int Stopping { get; set; }

        public AsyncRequestHandler Answer(AsyncRequestHandler handler) => (request, reply, _) =>
        {
            // Handlers that run beside each other are begun on threads of the pool, which know nothing of it.
            s_served.Value = this;
            return handler(request, reply, _cutOff.Token);
        };

        public Task CancelAsync() => _cutOff.CancelAsync();

        public void Dispose() => channel.Dispose();
    }

    private sealed class ErrorsOnly(Action<IpcServerError>? error) : IAsyncServerEvents
    {
        public void ClientConnected()
        {
        }

        public void ClientLeft()
        {
        }

        public void AcceptFailed(Exception exception) => error?.Invoke(new IpcServerError(IpcServerErrorSource.Accept, exception));

        public void ChannelFailed(Exception exception) => error?.Invoke(new IpcServerError(IpcServerErrorSource.Channel, exception));

        public void HandlerFailed(Exception exception, bool wasCancelled) => error?.Invoke(new IpcServerError(IpcServerErrorSource.Handler, exception));
    }
}

/// <summary>What happens at an <see cref="IpcAsyncServer"/>, for the logs and counts of a host. Called by several threads at once; what it throws is
/// ignored.</summary>
internal interface IAsyncServerEvents
{
    void ClientConnected();
    void ClientLeft();
    void AcceptFailed(Exception exception);
    void ChannelFailed(Exception exception);

    /// <param name="exception">What it threw.</param>
    /// <param name="wasCancelled">Whether it heeded its token because its client was cut off, and has done nothing wrong.</param>
    void HandlerFailed(Exception exception, bool wasCancelled);
}
