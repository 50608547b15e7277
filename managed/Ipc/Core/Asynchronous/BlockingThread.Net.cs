namespace Ipc;

/// <summary>Threads for what blocks, because nothing tells when to try again. The pool has few threads and adds others slowly: two operations that
/// blocked them would delay everything else of the program, the timers that cancel those operations included. A thread is used again for some seconds
/// before it ends; all are background threads.</summary>
internal sealed class BlockingThread
{
    private const int IdleMilliseconds = 10_000;

    private static readonly Lock s_lock = new();
    private static readonly List<BlockingThread> s_idle = []; // the last one used is used first: it is the one whose stack is in the cache

    private readonly object _given = new(); // pulsed when there is work
    private IThreadPoolWorkItem? _work;

    private BlockingThread(IThreadPoolWorkItem work) => _work = work;

    /// <summary>Runs it at once, on a thread that it may block. Nothing may be thrown by it.</summary>
    public static void Run(IThreadPoolWorkItem work)
    {
        BlockingThread? idle = null;
        lock (s_lock)
        {
            if (s_idle.Count > 0)
            {
                idle = s_idle[^1];
                s_idle.RemoveAt(s_idle.Count - 1);
            }
        }
        if (idle is not null)
        {
            lock (idle._given)
            {
                idle._work = work;
                Monitor.Pulse(idle._given);
            }
            return;
        }
        try
        {
            new Thread(new BlockingThread(work).RunAll) { IsBackground = true, Name = "ipc blocking" }.UnsafeStart();
        }
        catch (OutOfMemoryException)
        {
            // The system refuses one more thread: late is better than never.
            ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);
        }
    }

    /// <summary>A task that runs the function on such a thread.</summary>
    public static Task<T> Run<T>(Func<T> function, CancellationToken token)
    {
        if (token.IsCancellationRequested)
            return Task.FromCanceled<T>(token);
        var work = new FunctionWork<T>(function);
        Run(work);
        return work.Task;
    }

    private void RunAll()
    {
        do
        {
            _work!.Execute();
            _work = null; // what it holds need not live as long as this thread
            lock (s_lock)
                s_idle.Add(this);
        }
        while (IsGivenMore());
    }

    private bool IsGivenMore()
    {
        if (HasWorkWithin(IdleMilliseconds))
            return true;
        lock (s_lock)
        {
            if (s_idle.Remove(this))
                return false;
        }
        // Taken this moment.
        return HasWorkWithin(Timeout.Infinite);
    }

    private bool HasWorkWithin(int milliseconds)
    {
        lock (_given)
        {
            while (_work is null)
            {
                if (!Monitor.Wait(_given, milliseconds))
                    return _work is not null;
            }
            return true;
        }
    }

    private sealed class FunctionWork<T>(Func<T> function) : TaskCompletionSource<T>, IThreadPoolWorkItem
    {
        void IThreadPoolWorkItem.Execute()
        {
            try
            {
                SetResult(function());
            }
            catch (OperationCanceledException e)
            {
                SetCanceled(e.CancellationToken);
            }
            catch (Exception e)
            {
                SetException(e);
            }
        }
    }
}
