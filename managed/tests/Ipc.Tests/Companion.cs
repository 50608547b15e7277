namespace Ipc.Tests;

/// <summary>A second thread that is kept from round to round of a stress: starting one takes longer than the round. Does one piece of work
/// after another; what that fails with is the other side's to look at.</summary>
internal sealed class Companion : IDisposable
{
    private readonly SemaphoreSlim _given = new(0), _done = new(0);
    private readonly Thread _thread;
    private Action? _work;
    private Exception? _failure;

    public Companion()
    {
        _thread = new Thread(() =>
        {
            while (true)
            {
                _given.Wait();
                if (_work is not { } work)
                    return;
                try
                {
                    work();
                    _failure = null;
                }
                catch (Exception e)
                {
                    _failure = e;
                }
                _done.Release();
            }
        })
        { IsBackground = true };
        _thread.Start();
    }

    /// <summary>Returns at once; one piece of work at a time.</summary>
    public void Begin(Action work)
    {
        _work = work;
        _given.Release();
    }

    /// <summary>Waits for the end of what was begun, and throws what that threw.</summary>
    public void End(int patienceMilliseconds)
    {
        if (EndIn(patienceMilliseconds) is { } failure)
            throw new InvalidOperationException($"the other thread failed: {failure.Message}", failure);
    }

    /// <summary>The status that what was begun failed with; <see cref="IpcStatus.Ok"/> if it did not.</summary>
    public IpcStatus EndWithStatus(int patienceMilliseconds) => EndIn(patienceMilliseconds) switch
    {
        null => IpcStatus.Ok,
        IpcException failure => failure.Status,
        var other => throw new InvalidOperationException($"the other thread failed: {other.Message}", other),
    };

    public void Dispose()
    {
        _work = null;
        _given.Release();
    }

    private Exception? EndIn(int patienceMilliseconds) =>
        _done.Wait(patienceMilliseconds) ? _failure : throw new TimeoutException("the other thread does not come to an end");
}
