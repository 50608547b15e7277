namespace Ipc.Queues;

/// <summary>A publisher over a queue that it owns.</summary>
internal sealed class QueuePublisher(MessageQueue queue) : IPublisher
{
    // How long a cancellation may go unnoticed; each slice begins with a short spin, which must not add up while nothing comes.
    private const int SliceMilliseconds = 100;

    public int Limit => queue.Limit;

    public bool TryEnqueue(ReadOnlySpan<byte> message) => queue.TryEnqueue(message);

    public void Enqueue(ReadOnlySpan<byte> message, CancellationToken cancellation = default)
    {
        do
        {
            cancellation.ThrowIfCancellationRequested();
        }
        while (!queue.TryEnqueue(message, SliceMilliseconds));
    }

    public void Dispose() => queue.Dispose();
}
