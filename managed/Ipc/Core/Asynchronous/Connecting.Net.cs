namespace Ipc;

public partial interface IIpc
{
    /// <summary>As <see cref="Connect(string, int)"/>, on a thread of the pool, which is free again when the server has accepted.</summary>
    /// <param name="address">Where the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once; a connection that comes about nevertheless is closed.</param>
    /// <exception cref="IpcException">As <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/> comes at once when nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) => Connecting.Begin(Connect, address, cancellationToken);
}

public sealed partial class ManagedIpc
{
    /// <summary>As <see cref="Connect(string, int)"/>, on a thread of the pool, which is free again when the server has accepted.</summary>
    /// <param name="address">Where the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once; a connection that comes about nevertheless is closed.</param>
    /// <exception cref="IpcException">As <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/> comes at once when nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) =>
        Connecting.Begin(Connect, address, cancellationToken);
}

/// <summary>Connecting on a thread of the pool.</summary>
internal static class Connecting
{
    // A server that is there and does not accept is asked again so often, so that a cancelled attempt ends.
    private const int SliceMilliseconds = 500;

    public static async ValueTask<IpcChannel> Begin(Func<string, int, IpcChannel> connect, string address, CancellationToken cancellationToken)
    {
        var connecting = Task.Run(ConnectInSlices, cancellationToken);
        try
        {
            return await connecting.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            _ = connecting.ContinueWith(static task => task.Result.Dispose(), CancellationToken.None,
                TaskContinuationOptions.OnlyOnRanToCompletion | TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            throw;
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
