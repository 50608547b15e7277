namespace Ipc.Queues;

/// <summary>Takes messages out of a queue. Each message goes to one subscriber.</summary>
/// <remarks>
/// <para>Any number of threads may use a subscriber at once. It may be disposed at any time; calls in progress then fail with
/// <see cref="IpcStatus.Closed"/>.</para>
/// <para>Methods with a buffer copy the message into it, return that part of it and allocate nothing. The others return an array of their own.</para>
/// </remarks>
public interface ISubscriber : IDisposable
{
    /// <summary>Takes the next message if there is one; does not wait.</summary>
    /// <param name="cancellation">Checked before a message is taken.</param>
    /// <param name="message">The message.</param>
    /// <returns><see langword="true"/> if a message was taken, <see langword="false"/> if the queue is empty.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.Closed"/>: this subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    bool TryDequeue(CancellationToken cancellation, out ReadOnlyMemory<byte> message);

    /// <summary>Takes the next message into a buffer if there is one; does not wait.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="cancellation">Checked before a message is taken.</param>
    /// <param name="message">The part of the buffer that holds the message.</param>
    /// <returns><see langword="true"/> if a message was taken, <see langword="false"/> if the queue is empty.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>: the message stays in the queue. <see cref="IpcStatus.Closed"/>: this
    /// subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    bool TryDequeue(Memory<byte> buffer, CancellationToken cancellation, out ReadOnlyMemory<byte> message);

    /// <summary>Takes the next message; waits while the queue is empty.</summary>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>The message.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.Closed"/>: this subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was taken.</exception>
    ReadOnlyMemory<byte> Dequeue(CancellationToken cancellation);

    /// <summary>Takes the next message into a buffer; waits while the queue is empty.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>The part of the buffer that holds the message.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>: the message stays in the queue. <see cref="IpcStatus.Closed"/>: this
    /// subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was taken.</exception>
    ReadOnlyMemory<byte> Dequeue(Memory<byte> buffer, CancellationToken cancellation);

    /// <summary>Takes the next message; waits, without blocking the caller, while the queue is empty.</summary>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>The message.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.Closed"/>: this subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was taken.</exception>
    ValueTask<ReadOnlyMemory<byte>> DequeueAsync(CancellationToken cancellation = default);

    /// <summary>Takes the next message into a buffer; waits, without blocking the caller, while the queue is empty.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>The part of the buffer that holds the message.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>: the message stays in the queue. <see cref="IpcStatus.Closed"/>: this
    /// subscriber was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was taken.</exception>
    ValueTask<ReadOnlyMemory<byte>> DequeueAsync(Memory<byte> buffer, CancellationToken cancellation = default);
}
