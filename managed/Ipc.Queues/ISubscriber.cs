namespace Ipc.Queues;

/// <summary>Takes messages out of a queue; each message goes to one subscriber. Any number of threads may use one; Dispose may
/// come at any time and ends calls under way with <see cref="IpcStatus.Closed"/>.</summary>
/// <remarks>The calls with a buffer of the caller's allocate nothing and return its beginning; a message that does not fit stays in the queue,
/// and the call fails with <see cref="IpcStatus.BufferTooSmall"/>. The others return an array of their own.</remarks>
public interface ISubscriber : IDisposable
{
    /// <summary>Takes the oldest message; false if there is none.</summary>
    bool TryDequeue(CancellationToken cancellation, out ReadOnlyMemory<byte> message);

    /// <summary>The same into the caller's buffer.</summary>
    bool TryDequeue(Memory<byte> buffer, CancellationToken cancellation, out ReadOnlyMemory<byte> message);

    /// <summary>Takes the oldest message, waiting while there is none.</summary>
    /// <exception cref="OperationCanceledException">Cancelled; nothing was taken.</exception>
    ReadOnlyMemory<byte> Dequeue(CancellationToken cancellation);

    /// <summary>The same into the caller's buffer.</summary>
    ReadOnlyMemory<byte> Dequeue(Memory<byte> buffer, CancellationToken cancellation);
}
