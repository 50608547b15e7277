namespace Ipc;

public partial interface IIpc
{
    /// <summary>Connects to a server, on a thread of the library's that waits until the server has accepted.</summary>
    /// <param name="address">The address at which the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once. A connection that is established all the same is closed.</param>
    /// <returns>The connection, which the caller disposes.</returns>
    /// <exception cref="IpcException">As for <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/>, at once, if nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) => Connecting.Begin(Connect, address, cancellationToken);
}

public sealed partial class ManagedIpc
{
    /// <summary>Connects to a server, on a thread of the library's that waits until the server has accepted.</summary>
    /// <param name="address">The address at which the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once. A connection that is established all the same is closed.</param>
    /// <returns>The connection, which the caller disposes.</returns>
    /// <exception cref="IpcException">As for <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/>, at once, if nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) =>
        Connecting.Begin(Connect, address, cancellationToken);
}

/// <summary>Connecting on a thread that it may block.</summary>
internal static class Connecting
{
    // A server that is there and does not accept is asked again so often, so that a cancelled attempt ends.
    private const int SliceMilliseconds = 500;

    public static async ValueTask<IpcChannel> Begin(Func<string, int, IpcChannel> connect, string address, CancellationToken cancellationToken)
    {
        var connecting = BlockingThread.Run(ConnectInSlices, cancellationToken);
        try
        {
            return await connecting.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            _ = connecting.ContinueWith(End, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            throw;
        }

        // Looked at, so that it does not go to whoever logs what nobody has looked at (TaskScheduler.UnobservedTaskException).
        static void End(Task<IpcChannel> abandoned)
        {
            if (abandoned.Exception is null && !abandoned.IsCanceled)
                abandoned.Result.Dispose();
        }

        IpcChannel ConnectInSlices()
        {
            while (true)
            {
                try
                {
                    return connect(address, SliceMilliseconds);
                }
                catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                }
            }
        }
    }
}
