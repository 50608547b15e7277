namespace Ipc.Queues;

/// <summary>A subscriber over a queue that it owns.</summary>
internal sealed class QueueSubscriber(MessageQueue queue) : ISubscriber
{
    // How long a cancellation may go unnoticed; each slice begins with a short spin, which must not add up while nothing comes.
    private const int SliceMilliseconds = 100;
    // Most messages fit: they are copied once more rather than asked for twice.
    private const int UsualMessage = 1024;

    public bool TryDequeue(CancellationToken cancellation, out ReadOnlyMemory<byte> message)
    {
        cancellation.ThrowIfCancellationRequested();
        return TryTake(0, out message);
    }

    public bool TryDequeue(Memory<byte> buffer, CancellationToken cancellation, out ReadOnlyMemory<byte> message)
    {
        cancellation.ThrowIfCancellationRequested();
        return TryTake(buffer, 0, out message);
    }

    public ReadOnlyMemory<byte> Dequeue(CancellationToken cancellation)
    {
        while (true)
        {
            cancellation.ThrowIfCancellationRequested();
            if (TryTake(SliceMilliseconds, out var message))
                return message;
        }
    }

    public ReadOnlyMemory<byte> Dequeue(Memory<byte> buffer, CancellationToken cancellation)
    {
        while (true)
        {
            cancellation.ThrowIfCancellationRequested();
            if (TryTake(buffer, SliceMilliseconds, out var message))
                return message;
        }
    }

    public void Dispose() => queue.Dispose();

    private bool TryTake(Memory<byte> buffer, int timeoutMilliseconds, out ReadOnlyMemory<byte> message)
    {
        var taken = queue.TryDequeue(buffer.Span, out var length, timeoutMilliseconds);
        message = taken ? buffer[..length] : default;
        return taken;
    }

    private bool TryTake(int timeoutMilliseconds, out ReadOnlyMemory<byte> message)
    {
        Span<byte> usual = stackalloc byte[UsualMessage];
        var status = queue.Take(usual, out var length, timeoutMilliseconds);
        if (status == Status.Ok)
        {
            message = usual[..length].ToArray();
            return true;
        }
        // Another subscriber may take that long message meanwhile, and the next one be longer still.
        while (status == Status.BufferTooSmall)
        {
            var buffer = new byte[length];
            status = queue.Take(buffer, out length, timeoutMilliseconds);
            if (status != Status.Ok)
                continue;
            message = buffer.AsMemory(0, length);
            return true;
        }
        message = default;
        return false;
    }
}
