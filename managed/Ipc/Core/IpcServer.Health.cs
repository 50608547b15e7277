namespace Ipc;

public sealed partial class IpcServer
{
    private readonly DateTimeOffset _startedAt = DateTimeOffset.UtcNow;

    // Guarded by the gate: clients so far, and the calls of those that have left.
    private long _accepted, _servedBefore, _failedBefore;

    /// <summary>Looks at the server: who is connected, since when, how many calls were served, and how long those in progress have taken so far.</summary>
    /// <remarks>Any thread may call it at any time, also after the server has stopped. It takes the server's lock for as long as it takes to list the
    /// clients; serving does not wait for it. Counters of clients that are being served change while they are read, so two of them may belong to moments a
    /// call apart.</remarks>
    /// <returns>A snapshot, which does not change.</returns>
    public IpcServerHealth GetHealth()
    {
        lock (_gate)
        {
            var clients = new IpcServerClientHealth[_clients.Count];
            var (served, failed, longest) = (_servedBefore, _failedBefore, TimeSpan.Zero);
            var at = 0;
            foreach (var client in _clients)
            {
                var health = client.GetHealth();
                clients[at++] = health;
                served += health.CallsServed;
                failed += health.CallsFailed;
                if (health.CallInProgress > longest)
                    longest = health.CallInProgress.Value;
            }
            return new IpcServerHealth
            {
                TakenAt = DateTimeOffset.UtcNow,
                StartedAt = _startedAt,
                IsListening = !_stopping,
                MaxClients = _maxClients,
                ClientsAccepted = _accepted,
                CallsServed = served,
                CallsFailed = failed,
                LongestCallInProgress = longest,
                Clients = clients,
            };
        }
    }
}

/// <summary>An <see cref="IpcServer"/> at one moment; from <see cref="IpcServer.GetHealth"/>.</summary>
public sealed class IpcServerHealth
{
    internal IpcServerHealth()
    {
    }

    /// <summary>When the snapshot was taken, in UTC.</summary>
    public DateTimeOffset TakenAt { get; internal set; }

    /// <summary>When the server started, in UTC.</summary>
    public DateTimeOffset StartedAt { get; internal set; }

    /// <summary>Whether the server accepts clients: <see langword="false"/> once it was asked to stop.</summary>
    public bool IsListening { get; internal set; }

    /// <summary>The most clients served at once (<see cref="IpcServerOptions.MaxClients"/>). When <see cref="Clients"/> has as many, new ones wait.</summary>
    public int MaxClients { get; internal set; }

    /// <summary>The number of clients accepted since the server started, including those that have left.</summary>
    public long ClientsAccepted { get; internal set; }

    /// <summary>The number of calls answered since the server started, including those of clients that have left and those that failed.</summary>
    public long CallsServed { get; internal set; }

    /// <summary>The number of calls whose handler threw.</summary>
    public long CallsFailed { get; internal set; }

    /// <summary>How far the server is behind: the age of the oldest request that a handler is working on; zero if none is.</summary>
    public TimeSpan LongestCallInProgress { get; internal set; }

    /// <summary>The clients connected at that moment, in the order in which they came.</summary>
    public IReadOnlyList<IpcServerClientHealth> Clients { get; internal set; } = [];
}

/// <summary>One client of an <see cref="IpcServer"/> at one moment.</summary>
public sealed class IpcServerClientHealth
{
    internal IpcServerClientHealth()
    {
    }

    /// <summary>The client's number: the first client of the server is 1.</summary>
    public long Number { get; internal set; }

    /// <summary>The id of the client's process, as the system knows it; <see langword="null"/> where it does not tell: over <c>tcp</c>, <c>fifo</c> and on
    /// Windows, and through the C library over <c>shm</c> and <c>shm-event</c>. A process can have ended, and its id been given to another, while its
    /// connection is still open.</summary>
    public int? ProcessId { get; internal set; }

    /// <summary>When the client was accepted, in UTC.</summary>
    public DateTimeOffset ConnectedAt { get; internal set; }

    /// <summary>The number of the client's calls that were answered, including those that failed.</summary>
    public long CallsServed { get; internal set; }

    /// <summary>The number of the client's calls whose handler threw.</summary>
    public long CallsFailed { get; internal set; }

    /// <summary>How long the handler has been working on the client's current request, to within some 15 ms; <see langword="null"/> while the client waits
    /// for nothing.</summary>
    /// <remarks>A server answers one request of a client at a time. Requests that a client has sent ahead
    /// (<see cref="IpcChannel.Submit(ReadOnlySpan{byte}, ulong, int)"/>,
    /// several <c>CallAsync</c>) lie in the channel and are not counted.</remarks>
    public TimeSpan? CallInProgress { get; internal set; }
}
