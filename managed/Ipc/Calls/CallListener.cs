namespace Ipc;

/// <summary>The clients of a transport of calls that wait to be accepted. A transport derives its listener from this and admits a
/// session for each new client on whatever thread it learns of it. Twin of native/src/calls/call_listener.hpp.</summary>
internal abstract class CallListener(string full) : IpcListener
{
    /// <summary>As many clients may wait, as for a socket.</summary>
    public const int Backlog = 4096;

    private readonly object _lock = new();
    private readonly Queue<CallSession> _waiting = new();
    private bool _closed;

    public sealed override string Address { get; } = full;

    /// <summary>A new client. <see cref="IpcStatus.Closed"/> once the listener is closed, <see cref="IpcStatus.NotAvailable"/> while too many
    /// wait: the client is to be told. Throws nothing.</summary>
    public IpcStatus Admit(CallSession session)
    {
        lock (_lock)
        {
            if (_closed)
                return IpcStatus.Closed;
            if (_waiting.Count >= Backlog)
                return IpcStatus.NotAvailable;
            _waiting.Enqueue(session);
            Monitor.Pulse(_lock);
            return IpcStatus.Ok;
        }
    }

    /// <summary>Called once, by Close, after which no session is admitted: removes the name. Channels that were accepted go on.</summary>
    protected abstract void StopListening();

    public sealed override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        lock (_lock)
        {
            while (!_closed && _waiting.Count == 0)
            {
                var left = deadline.LeftMilliseconds;
                if (left == 0)
                    throw new IpcException(IpcStatus.TimedOut, $"no client came to {Address} within the time-out");
                Monitor.Wait(_lock, left);
            }
            return _closed
                ? throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was closed here")
                : new CallServerChannel(_waiting.Dequeue());
        }
    }

    public sealed override void Close()
    {
        CallSession[] unaccepted;
        lock (_lock)
        {
            if (_closed)
                return;
            _closed = true;
            unaccepted = [.. _waiting];
            _waiting.Clear();
            Monitor.PulseAll(_lock);
        }
        foreach (var session in unaccepted)
            session.Close();
        StopListening();
    }

    protected sealed override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
    }
}
