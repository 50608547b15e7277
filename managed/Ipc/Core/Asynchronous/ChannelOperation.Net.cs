using System.Diagnostics;
using System.Threading.Tasks.Sources;

namespace Ipc;

/// <summary>What is done asynchronously.</summary>
internal enum OperationKind { Send, Receive, Call, ReceiveRequest, Answer, Submit, Complete, AnswerDeferred }

/// <summary>Is told of the end of an operation that nobody awaits.</summary>
internal interface IOperationOwner
{
    /// <summary>The operation is over and can be taken again. On whatever thread finished it.</summary>
    void Ended(OperationKind kind, Exception? failure);

    /// <summary>Of a Complete: hands out what has come. True: no call is in flight any more.</summary>
    bool HandOut(int timeoutMilliseconds);

    /// <summary>Of a Submit that could not go on: true if it need not any more, because nothing of it is out and its caller has given it up.</summary>
    bool GivesUp(ChannelOperation operation);
}

/// <summary>One operation of a channel that may have to wait: a channel has one to send and one to receive and uses them again and again, so that
/// waiting allocates nothing. It tries; if that would block, it waits for its <see cref="Readiness"/> without a thread and tries again on a thread of
/// the pool; where there is none, on a <see cref="BlockingThread"/>.</summary>
internal sealed class ChannelOperation(IpcChannel channel) : IValueTaskSource<int>, IValueTaskSource, IThreadPoolWorkItem
{
    /// <summary>Of transports with nothing to wait for and no way to interrupt: how long a thread blocks before it looks at the token.</summary>
    private const int SliceMilliseconds = 20;

    /// <summary>Of those that can be interrupted: as long as may be. Not without end, because a time-out is then a failure of the channel.</summary>
    private const int LongestSliceMilliseconds = int.MaxValue;

    // Idle: to be had. Signalled: running, and something has come that the last attempt may not have seen. Blocking: a thread of its own does it.
    private const int Idle = 0, Running = 1, Signalled = 2, Waiting = 3, Blocking = 4;

    private int _state;
    private readonly Lock _blockingLock = new(); // guards the state while it is Blocking, and the next
    private bool _interrupts; // the channel is told to interrupt whoever receives
    private volatile bool _cancelled;
    private CancellationToken _token;
    private CancellationTokenRegistration _registration;
    private Readiness? _armed;
    private ManualResetValueTaskSourceCore<int> _core;

    public IpcChannel Channel => channel;

    // What is done; for the channel, while it tries.
    public OperationKind Kind;
    public ReadOnlyMemory<byte> Outgoing;
    public Memory<byte> Incoming;
    /// <summary>Of an answer.</summary>
    public FrameKind AnswerKind;
    /// <summary>Something has been done that an attempt must not do again.</summary>
    public bool Begun;
    /// <summary>Of what goes out, header included where there is one: bytes gone.</summary>
    public int BytesOut;
    /// <summary>All of it is out.</summary>
    public bool IsOut;
    /// <summary>A length in bytes.</summary>
    public int Result;
    /// <summary>Of a Submit, the call's tag; of an AnswerDeferred, the request's token.</summary>
    public ulong Tag;
    /// <summary>Of a Submit that has begun: the call's number and its place among those in flight.</summary>
    public (uint Id, int At) Place;
    /// <summary>Who is told of the end; null: a task is awaited.</summary>
    public IOperationOwner? Owner;

    /// <summary>Whether the next attempt sends.</summary>
    public bool Sends =>
        Kind is OperationKind.Send or OperationKind.Answer or OperationKind.Submit or OperationKind.AnswerDeferred || (Kind == OperationKind.Call && !IsOut);

    /// <summary>Whether nothing is under way, as far as can be seen here.</summary>
    public bool IsIdle => Volatile.Read(ref _state) == Idle;

    /// <summary>Begins. False: the operation before it is still under way.</summary>
    public bool TryTake() => Interlocked.CompareExchange(ref _state, Running, Idle) == Idle;

    /// <summary>What is to be done, before TryFinish.</summary>
    public void Set(OperationKind kind, FrameKind answerKind, ReadOnlyMemory<byte> outgoing, Memory<byte> incoming)
    {
        (Kind, AnswerKind, Outgoing, Incoming) = (kind, answerKind, outgoing, incoming);
        (Begun, BytesOut, IsOut, Result, Owner) = (false, 0, false, 0, null);
    }

    /// <summary>Does it. True: done, at once, with <see cref="Result"/>. False: the task of <see cref="Version"/> is to be awaited.
    /// Throws what failed at once.</summary>
    public bool TryFinish(CancellationToken token)
    {
        Readiness? readiness;
        var done = false;
        try
        {
            token.ThrowIfCancellationRequested();
            readiness = channel.ReadinessOf(Sends);
            readiness?.BeginAttempt();
            done = channel.Attempt(this, 0) || (readiness is null && channel.SpinTicks is > 0 and var ticks && Spin(ticks, token));
            if (done)
                return true;
        }
        catch
        {
            done = true;
            throw;
        }
        finally
        {
            if (done)
                Free();
        }
        (_token, _cancelled) = (token, false);
        Version = _core.Version;
        if (readiness is null)
            Volatile.Write(ref _state, Blocking);
        _registration = token.UnsafeRegister(static operation => ((ChannelOperation)operation!).Cancel(), this);
        if (readiness is null)
            BlockingThread.Run(this);
        else
            GoOn(attempt: false);
        return false;
    }

    // Whose channel waits by spinning has a processor for that: handing over to a thread that blocks takes ten times as long as most answers. A
    // cancellation is left to what comes after, which knows how much of the operation is done.
    private bool Spin(long ticks, CancellationToken token)
    {
        for (var begin = Stopwatch.GetTimestamp(); !token.IsCancellationRequested && Stopwatch.GetTimestamp() - begin < ticks; SharedMemoryWait.Relax())
        {
            if (channel.Attempt(this, 0))
                return true;
        }
        return false;
    }

    /// <summary>Of the task to be awaited, for the thread that began, right after TryFinish.</summary>
    public short Version { get; private set; }

    /// <summary>Something has happened: the operation tries again. Any thread, any time.</summary>
    public void Wake()
    {
        while (true)
        {
            switch (Volatile.Read(ref _state))
            {
                case Waiting when Interlocked.CompareExchange(ref _state, Running, Waiting) == Waiting:
                    ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                    return;
                case Running when Interlocked.CompareExchange(ref _state, Signalled, Running) == Running:
                case Idle or Signalled:
                case Blocking when TryInterrupt():
                    return;
            }
        }
    }

    // What sends is not interrupted; what calls receives in the end.
    private bool TryInterrupt()
    {
        lock (_blockingLock)
        {
            if (_state != Blocking)
                return false;
            if (!Sends || Kind == OperationKind.Call)
                _interrupts = channel.InterruptReceiving(on: true);
            return true;
        }
    }

    // The operation goes on, or it has ended and the state is another one. Whatever interrupts it from now on does so anew.
    private void EndInterrupt(int state)
    {
        lock (_blockingLock)
        {
            if (_interrupts)
                channel.InterruptReceiving(on: false);
            _interrupts = false;
            Volatile.Write(ref _state, state);
        }
    }

    // Whether a wait for what comes need not end by itself.
    private bool CanBeInterrupted()
    {
        if (Sends)
            return false;
        lock (_blockingLock)
            return channel.InterruptReceiving(_interrupts);
    }

    private void Cancel()
    {
        _cancelled = true;
        Wake();
    }

    void IThreadPoolWorkItem.Execute()
    {
        if (Volatile.Read(ref _state) == Blocking)
            Block();
        else
            GoOn(attempt: true);
    }

    // Tries, or waits; nobody else does, for the state is Running. Touches nothing of this object once it waits or has completed.
    private void GoOn(bool attempt)
    {
        var armed = false;
        while (true)
        {
            if (attempt && TryCompleteNow())
                return;
            attempt = true;
            if (_cancelled)
            {
                CompleteCancelled();
                return;
            }
            if (channel.ReadinessOf(Sends) is not { } readiness)
            {
                // Sending has something to wait for and receiving has not. This may be the caller's thread, or one of the pool's.
                Volatile.Write(ref _state, Blocking);
                BlockingThread.Run(this);
                return;
            }
            if (!armed || _armed != readiness)
            {
                if (_armed != readiness)
                    _armed?.Disarm(this);
                (_armed, armed) = (readiness, true);
                try
                {
                    if (readiness.Arm(this))
                        continue;
                }
                // The system lacks what waiting takes: a thread, say.
                catch (IpcException e)
                {
                    Complete(e);
                    return;
                }
            }
            if (Interlocked.CompareExchange(ref _state, Waiting, Running) == Running)
                return;
            Volatile.Write(ref _state, Running);
            armed = false;
        }
    }

    private bool TryCompleteNow()
    {
        try
        {
            channel.ReadinessOf(Sends)?.BeginAttempt();
            if (!channel.Attempt(this, 0) && !IsGivenUp())
                return false;
        }
        catch (Exception e)
        {
            Complete(e);
            return true;
        }
        Complete(null);
        return true;
    }

    /// <summary>Whether the call whose request this sends was cancelled before anything of it was sent.</summary>
    private bool IsGivenUp() => Kind == OperationKind.Submit && Owner!.GivesUp(this);

    private void Block()
    {
        Exception? failure = null;
        var isDone = false;
        try
        {
            var longest = CanBeInterrupted() ? LongestSliceMilliseconds : SliceMilliseconds;
            while (!_cancelled && !isDone)
            {
                isDone = channel.Attempt(this, longest) || IsGivenUp();
                EndInterrupt(Blocking);
            }
        }
        // A call that blocked without end, and was interrupted.
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && Kind == OperationKind.Call && _cancelled)
        {
        }
        catch (Exception e)
        {
            (failure, isDone) = (e, true);
        }
        EndInterrupt(Running);
        if (isDone)
            Complete(failure);
        else
            CompleteCancelled();
    }

    private void CompleteCancelled()
    {
        channel.Cancelled(this);
        Complete(new OperationCanceledException(_token));
    }

    private void Complete(Exception? failure)
    {
        _armed?.Disarm(this);
        _armed = null;
        _registration.Dispose();
        _registration = default;
        (_token, Outgoing, Incoming) = (default, default, default);
        if (Owner is { } owner)
        {
            var kind = Kind;
            Volatile.Write(ref _state, Idle);
            owner.Ended(kind, failure);
        }
        else if (failure is null)
            _core.SetResult(Result);
        else
            _core.SetException(failure);
    }

    /// <summary>Taken, and not used.</summary>
    public void GiveBack() => Volatile.Write(ref _state, Idle);

    private void Free()
    {
        (Outgoing, Incoming) = (default, default);
        Volatile.Write(ref _state, Idle);
    }

    private int TakeResult(short token)
    {
        // Throws for a task that was awaited before, which must not touch the operation that came after it.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
            throw new InvalidOperationException("this operation is not over: await it");
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            Volatile.Write(ref _state, Idle);
        }
    }

    int IValueTaskSource<int>.GetResult(short token) => TakeResult(token);
    void IValueTaskSource.GetResult(short token) => TakeResult(token);
    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _core.GetStatus(token);
    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
