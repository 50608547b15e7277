namespace Ipc.Wcf;

/// <summary>WCF's Begin and End around methods that block: on a thread of the pool, or at once where they never wait long.</summary>
internal static class Later
{
    /// <summary>Starts the work on another thread.</summary>
    public static IAsyncResult Begin<T>(Func<T> work, AsyncCallback? callback, object? state)
    {
        var completion = new TaskCompletionSource<T>(state);
        ThreadPool.UnsafeQueueUserWorkItem(_ => Run(work, completion, callback), null);
        return completion.Task;
    }

    /// <summary>Does the work before it returns.</summary>
    public static IAsyncResult Now(Action work, AsyncCallback? callback, object? state)
    {
        var completion = new TaskCompletionSource<bool>(state);
        Run(() =>
        {
            work();
            return true;
        }, completion, callback);
        return completion.Task;
    }

    /// <summary>The result, or what the work threw.</summary>
    public static T End<T>(IAsyncResult result) => ((Task<T>)result).GetAwaiter().GetResult();

    private static void Run<T>(Func<T> work, TaskCompletionSource<T> completion, AsyncCallback? callback)
    {
        try
        {
            completion.SetResult(work());
        }
        catch (Exception e)
        {
            completion.SetException(e);
        }
        callback?.Invoke(completion.Task);
    }
}
