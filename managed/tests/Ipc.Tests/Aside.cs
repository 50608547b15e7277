using System.Runtime.ExceptionServices;

namespace Ipc.Tests;

/// <summary>Work on a thread of its own, because calls on channels block; Join hands its result, or its failure, over.</summary>
internal sealed class Aside<T>
{
    private readonly Thread _thread;
    private readonly ThreadLook _look = new();
    private T? _result;
    private Exception? _failure;

    public Aside(Func<T> work)
    {
        _thread = new Thread(() =>
        {
            try
            {
                _look.IsMine();
                _result = work();
            }
            catch (Exception e)
            {
                _failure = e;
            }
        })
        { IsBackground = true };
        _thread.Start();
    }

    public bool IsCompleted => !_thread.IsAlive;

    /// <summary>Returns once the thread has gone to sleep in the work's call, or spins there: what comes after it meets a thread that
    /// really waits.</summary>
    public void UntilItWaits()
    {
        Pair.Until(() => IsCompleted || _look.Waits());
        Assert.False(IsCompleted, "the work is done where it should wait");
    }

    public T Join()
    {
        Assert.True(_thread.Join(3 * Pair.Patience), "the other thread does not come to an end");
        if (_failure is not null)
            ExceptionDispatchInfo.Throw(_failure);
        return _result!;
    }
}

internal static class Aside
{
    public static Aside<T> Run<T>(Func<T> work) => new(work);

    public static Aside<bool> Run(Action work) => new(() =>
    {
        work();
        return true;
    });
}
