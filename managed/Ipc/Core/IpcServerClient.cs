namespace Ipc;

/// <summary>One client of an <see cref="IpcServer"/>, its thread, and how far its session is.</summary>
internal sealed class IpcServerClient
{
    // Fresh: has never called. Last: has a request in progress, after which its connection ends.
    private const int Fresh = 0, Idle = 1, Busy = 2, Last = 3, Closed = 4;

    // A client that has just connected is often not running: on a busy machine its first call comes some milliseconds later, and a flood of silent clients
    // can fill the server meanwhile. At this time such a flood still passes through at MaxClients every 50 ms.
    private const int MillisecondsToCall = 50;

    private int _state;

    // Written by whoever serves this client, and read by whoever looks.
    private long _served, _failed;
    private int _begun; // when the request in progress came, by the system's coarse clock of milliseconds

    private readonly int _connected = Environment.TickCount; // by the same clock
    private readonly DateTimeOffset _connectedAt = DateTimeOffset.UtcNow;
    private readonly int _process;

    public IpcServerClient(IpcChannel channel)
    {
        Channel = channel;
        _process = channel.PeerProcess();
        Node = new LinkedListNode<IpcServerClient>(this);
    }

    public IpcChannel Channel { get; }
    public LinkedListNode<IpcServerClient> Node { get; }
    public Thread? Thread { get; set; }
    public long Number { get; set; }

    /// <summary>How many times its handler is inside <see cref="IpcServer.Stop(int)"/> or <see cref="IpcServer.Dispose"/>; guarded by the server's
    /// lock.</summary>
    public int Stopping { get; set; }

    public bool IsFresh => Volatile.Read(ref _state) == Fresh;
    public bool IsAnswering => Volatile.Read(ref _state) == Last;
    public bool IsServedHere => Thread == Thread.CurrentThread;

    /// <summary>A request has come; false if it came too late to be begun.</summary>
    public bool Begin()
    {
        Volatile.Write(ref _begun, Environment.TickCount);
        return MayBegin();
    }

    private bool MayBegin() =>
        Interlocked.CompareExchange(ref _state, Busy, Idle) == Idle || Interlocked.CompareExchange(ref _state, Busy, Fresh) == Fresh;

    /// <summary>It has been answered; false if it was the last.</summary>
    public bool End()
    {
        Volatile.Write(ref _served, _served + 1);
        return Interlocked.CompareExchange(ref _state, Idle, Busy) == Busy;
    }

    /// <summary>Its handler threw.</summary>
    public void Failed() => Volatile.Write(ref _failed, _failed + 1);

    public IpcServerClientHealth GetHealth()
    {
        var begun = Volatile.Read(ref _begun);
        return new IpcServerClientHealth
        {
            Number = Number,
            ProcessId = _process > 0 ? _process : null,
            ConnectedAt = _connectedAt,
            CallsServed = Volatile.Read(ref _served),
            CallsFailed = Volatile.Read(ref _failed),
            // The clock starts again every 50 days, which the difference does not notice.
            CallInProgress = Volatile.Read(ref _state) is Busy or Last ? TimeSpan.FromMilliseconds(unchecked((uint)(Environment.TickCount - begun))) : null,
        };
    }

    /// <summary>Ends the connection now if no request is in progress, else after it.</summary>
    public void Finish()
    {
        while (true)
        {
            var state = Volatile.Read(ref _state);
            if (state is Last or Closed)
                return;
            var next = state == Busy ? Last : Closed;
            if (Interlocked.CompareExchange(ref _state, next, state) != state)
                continue;
            if (next == Closed)
                Close();
            return;
        }
    }

    /// <summary>How long it still has for its first call; 0 when it may be dropped for another.</summary>
    public int DroppableInMilliseconds => Math.Max(0, MillisecondsToCall - unchecked(Environment.TickCount - _connected));

    /// <summary>Ends the connection if it has never been used and has had its time to be.</summary>
    public bool MakeRoom()
    {
        if (DroppableInMilliseconds > 0 || Interlocked.CompareExchange(ref _state, Closed, Fresh) != Fresh)
            return false;
        Close();
        return true;
    }

    /// <summary>Its thread has done with it.</summary>
    public void Leave() => Volatile.Write(ref _state, Closed);

    public void Close() => Channel.Close();
}
