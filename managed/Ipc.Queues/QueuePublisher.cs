namespace Ipc.Queues;

/// <summary>A publisher over a queue that it owns.</summary>
internal sealed class QueuePublisher(IpcQueue queue) : IPublisher
{
    public int MaxMessageLength => queue.MaxMessageLength;

    public bool TryEnqueue(ReadOnlySpan<byte> message) => queue.TryEnqueue(message);

    public void Enqueue(ReadOnlySpan<byte> message, CancellationToken cancellation = default)
    {
        cancellation.ThrowIfCancellationRequested();
        // Most often there is room, and nothing to be told of a cancellation.
        if (!queue.TryEnqueue(message) && !queue.TryEnqueue(message, cancellation))
            cancellation.ThrowIfCancellationRequested();
    }

    public ValueTask EnqueueAsync(ReadOnlyMemory<byte> message, CancellationToken cancellation = default) => queue.EnqueueAsync(message, cancellation);

    public void Dispose() => queue.Dispose();
}
