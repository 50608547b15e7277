namespace Ipc;

public abstract partial class IpcListener
{
    private const int SliceMilliseconds = 50;

    /// <summary>As <see cref="Accept(int)"/>; several may be under way. No thread waits for clients of <c>unix</c>, <c>pipe</c>, <c>tcp</c> and
    /// <c>shm</c> on Linux with the
    /// pure .NET library; elsewhere one of the pool does.</summary>
    /// <param name="cancellationToken">Ends the wait at once; within 50 ms where a thread waits. No client is lost.</param>
    /// <exception cref="IpcException">As <see cref="Accept(int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public virtual ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default)
    {
        return cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<IpcChannel>(cancellationToken)
            : new ValueTask<IpcChannel>(Task.Run(AcceptInSlices, cancellationToken));

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
