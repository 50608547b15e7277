namespace Ipc;

public abstract partial class IpcListener
{
    private const int SliceMilliseconds = 50;

    /// <summary>Waits for the next client. Any number of accepts may be in progress.</summary>
    /// <remarks>In pure .NET no thread waits for clients of <c>unix</c>, <c>pipe</c>, <c>tcp</c>, <c>shm</c> and <c>shm-event</c>; otherwise a thread for each
    /// wait.</remarks>
    /// <param name="cancellationToken">Ends the wait at once, or within 50 ms where a thread waits. No client is lost.</param>
    /// <returns>The connection to the client, which the caller disposes.</returns>
    /// <exception cref="IpcException">As for <see cref="Accept(int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public virtual ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default)
    {
        return cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<IpcChannel>(cancellationToken)
            : new ValueTask<IpcChannel>(BlockingThread.Run(AcceptInSlices, cancellationToken));

        IpcChannel AcceptInSlices()
        {
            while (true)
            {
                try
                {
                    return Accept(SliceMilliseconds);
                }
                catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
                {
                    cancellationToken.ThrowIfCancellationRequested();
                }
            }
        }
    }
}
