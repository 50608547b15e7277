namespace Ipc;

/// <summary>One client of an <see cref="IpcServer"/>, its thread, and how far its session is.</summary>
internal sealed class IpcServerClient
{
    // Fresh: has never called. Last: has a request in progress, after which its connection ends.
    private const int Fresh = 0, Idle = 1, Busy = 2, Last = 3, Closed = 4;

    private int _state;

    public IpcServerClient(IpcChannel channel)
    {
        Channel = channel;
        Node = new LinkedListNode<IpcServerClient>(this);
    }

    public IpcChannel Channel { get; }
    public LinkedListNode<IpcServerClient> Node { get; }
    public Thread? Thread { get; set; }

    public bool IsFresh => Volatile.Read(ref _state) == Fresh;
    public bool IsAnswering => Volatile.Read(ref _state) == Last;
    public bool IsServedHere => Thread == Thread.CurrentThread;

    /// <summary>A request has come; false if it came too late to be begun.</summary>
    public bool Begin() =>
        Interlocked.CompareExchange(ref _state, Busy, Idle) == Idle || Interlocked.CompareExchange(ref _state, Busy, Fresh) == Fresh;

    /// <summary>It has been answered; false if it was the last.</summary>
    public bool End() => Interlocked.CompareExchange(ref _state, Idle, Busy) == Busy;

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

    /// <summary>Ends the connection if it has never been used.</summary>
    public bool MakeRoom()
    {
        if (Interlocked.CompareExchange(ref _state, Closed, Fresh) != Fresh)
            return false;
        Close();
        return true;
    }

    /// <summary>Its thread has done with it.</summary>
    public void Leave() => Volatile.Write(ref _state, Closed);

    public void Close() => Channel.Close();
}
