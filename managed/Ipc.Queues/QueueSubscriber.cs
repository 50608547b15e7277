namespace Ipc.Queues;

/// <summary>A subscriber over a queue that it owns.</summary>
internal sealed class QueueSubscriber(IpcQueue queue) : ISubscriber
{
    // Most messages fit: they are copied once more rather than asked for twice.
    private const int UsualMessage = 1024;

    public bool TryDequeue(CancellationToken cancellation, out ReadOnlyMemory<byte> message)
    {
        cancellation.ThrowIfCancellationRequested();
        return TryTake(wait: false, cancellation, out message);
    }

    public bool TryDequeue(Memory<byte> buffer, CancellationToken cancellation, out ReadOnlyMemory<byte> message)
    {
        cancellation.ThrowIfCancellationRequested();
        var taken = queue.TryDequeue(buffer.Span, out var length);
        message = taken ? buffer[..length] : default;
        return taken;
    }

    public ReadOnlyMemory<byte> Dequeue(CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        // Most often there is a message, and nothing to be told of a cancellation.
        if (!TryTake(wait: false, cancellation, out var message) && !TryTake(wait: true, cancellation, out message))
            cancellation.ThrowIfCancellationRequested();
        return message;
    }

    public ReadOnlyMemory<byte> Dequeue(Memory<byte> buffer, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        return buffer[..queue.Dequeue(buffer.Span, cancellation)];
    }

    public async ValueTask<ReadOnlyMemory<byte>> DequeueAsync(CancellationToken cancellation = default)
    {
        cancellation.ThrowIfCancellationRequested();
        return TryTake(wait: false, cancellation, out var message)
            ? message
            : await BlockingThread.Run(() => Dequeue(cancellation), cancellation).ConfigureAwait(false);
    }

    public async ValueTask<ReadOnlyMemory<byte>> DequeueAsync(Memory<byte> buffer, CancellationToken cancellation = default) =>
        buffer[..await queue.DequeueAsync(buffer, cancellation).ConfigureAwait(false)];

    public void Dispose() => queue.Dispose();

    private IpcStatus Take(Span<byte> buffer, out int length, bool wait, CancellationToken cancellation) =>
        wait ? queue.Take(buffer, out length, cancellation) : queue.Take(buffer, out length, 0);

    private bool TryTake(bool wait, CancellationToken cancellation, out ReadOnlyMemory<byte> message)
    {
        Span<byte> usual = stackalloc byte[UsualMessage];
        var status = Take(usual, out var length, wait, cancellation);
        if (status == IpcStatus.Ok)
        {
            message = usual[..length].ToArray();
            return true;
        }
        // Another subscriber may take that long message meanwhile, and the next one be longer still.
        while (status == IpcStatus.BufferTooSmall)
        {
            var buffer = new byte[length];
            status = Take(buffer, out length, wait, cancellation);
            if (status != IpcStatus.Ok)
                continue;
            message = buffer.AsMemory(0, length);
            return true;
        }
        message = default;
        return false;
    }
}
