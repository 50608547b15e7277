namespace Ipc;

internal abstract partial class SocketListener
{
    private readonly Lock _arrivalsLock = new();
    private Arrivals? _arrivals;
    private long _arrivalsId;

    /// <summary>Tells everybody who waits for clients that there may be one.</summary>
    private sealed class Arrivals : IReadyTarget
    {
        private TaskCompletionSource _next = New();

        private static TaskCompletionSource New() => new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>To be read before the look whose failure it follows.</summary>
        public Task Next => Volatile.Read(ref _next).Task;

        public void Ready(uint events) => Interlocked.Exchange(ref _next, New()).TrySetResult();
    }

    public sealed override async ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default)
    {
        var pause = 10;
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var failed = false;
            try
            {
                var next = BeginArrivals().Next;
                if (TryAcceptOne(out var channel))
                {
                    if (channel is not null)
                        return channel;
                    continue;
                }
                await next.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            // The system is short of something, which no event tells the end of.
            catch (IpcException e) when (e.Status == IpcStatus.System && Volatile.Read(ref _closed) == 0)
            {
                failed = true;
            }
            catch (LastingFailure e)
            {
                throw e.InnerException!;
            }
            catch (ObjectDisposedException)
            {
                // Closed by another thread between two system calls; the next look says so.
            }
            if (!failed)
                continue;
            await Task.Delay(pause, cancellationToken).ConfigureAwait(false);
            pause = Math.Min(2 * pause, 1000);
        }
    }

    private Arrivals BeginArrivals()
    {
        lock (_arrivalsLock)
        {
            if (_arrivals is null && Volatile.Read(ref _closed) == 0)
            {
                var arrivals = new Arrivals();
                _arrivalsId = EpollThread.Add(socket, Libc.EPOLLIN, arrivals);
                _arrivals = arrivals;
            }
            return _arrivals ?? new Arrivals();
        }
    }

    partial void EndArrivals()
    {
        lock (_arrivalsLock)
        {
            if (_arrivals is null)
                return;
            EpollThread.Remove(_arrivalsId, socket);
            _arrivals.Ready(0);
        }
    }
}
