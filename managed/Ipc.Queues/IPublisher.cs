namespace Ipc.Queues;

/// <summary>Puts messages into a queue. Any number of threads may use one; Dispose may come at any time and ends
/// calls under way with <see cref="IpcStatus.Closed"/>.</summary>
public interface IPublisher : IDisposable
{
    /// <summary>The largest message in bytes that the queue takes.</summary>
    int MaxMessageLength { get; }

    /// <summary>Copies the message in and returns at once; false if the queue is full. Allocates nothing.</summary>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>: over <see cref="MaxMessageLength"/>.</exception>
    bool TryEnqueue(ReadOnlySpan<byte> message);

    /// <summary>Copies the message in, waiting while the queue is full.</summary>
    /// <exception cref="OperationCanceledException">Cancelled; nothing was put in.</exception>
    void Enqueue(ReadOnlySpan<byte> message, CancellationToken cancellation = default);
}
