using System.Threading.Tasks.Sources;

namespace Ipc;

/// <summary>Where an asynchronous call is.</summary>
internal enum CallState { Queued, Sending, InFlight, Receiving, Over }

/// <summary>One asynchronous call of a channel; used again for later ones, so that waiting allocates nothing. All but the task itself is guarded by the lock of
/// <see cref="CallsUnderWay"/>.</summary>
internal sealed class PendingCall(CallsUnderWay calls) : IValueTaskSource<int>
{
    private ManualResetValueTaskSourceCore<int> _core;
    private CancellationTokenRegistration _registration;
    private CancellationToken _token;

    /// <summary>The next in the queue, or among those that can be used again.</summary>
    public PendingCall? Next;
    public CallState State;
    public int Tag;
    public bool IsCancelled;
    public ReadOnlyMemory<byte> Request;
    public Memory<byte> Reply;

    public void Set(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token) =>
        (Request, Reply, _token, State, IsCancelled, Next) = (request, reply, token, CallState.Queued, false, null);

    public ValueTask<int> Task => new(this, _core.Version);

    /// <summary>Before anybody can complete it.</summary>
    public void WatchToken()
    {
        if (_token.CanBeCanceled)
            _registration = _token.UnsafeRegister(static call => ((PendingCall)call!).Cancel(), this);
    }

    private void Cancel() => calls.Cancel(this);

    /// <summary>Ends the task. Not under the lock: the callback of the token may wait for it.</summary>
    /// <param name="length">Of the reply.</param>
    /// <param name="failure">Null: it succeeded.</param>
    /// <param name="inline">What awaits goes on right here.</param>
    public void Complete(int length, Exception? failure, bool inline)
    {
        _registration.Dispose();
        _registration = default;
        (Request, Reply) = (default, default);
        _core.RunContinuationsAsynchronously = !inline;
        if (failure is null)
            _core.SetResult(length);
        else
            _core.SetException(failure);
    }

    public OperationCanceledException Cancelled() => new(_token);

    public void CompleteCancelled() => Complete(0, Cancelled(), inline: false);

    int IValueTaskSource<int>.GetResult(short token)
    {
        // Throws for a task that was awaited before, which must not touch the call that came after it.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending)
            throw new InvalidOperationException("this call is not over: await it");
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            calls.TakeBack(this);
        }
    }

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
