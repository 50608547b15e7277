namespace Ipc.Queues;

/// <summary>Puts messages into a queue.</summary>
/// <remarks>Any number of threads may use a publisher at once. It may be disposed at any time; calls in progress then fail with
/// <see cref="IpcStatus.Closed"/>.</remarks>
public interface IPublisher : IDisposable
{
    /// <summary>The longest message, in bytes, that the queue takes.</summary>
    int MaxMessageLength { get; }

    /// <summary>Puts a message in if there is room. Does not wait, and allocates nothing.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <returns><see langword="true"/> if the message was put in, <see langword="false"/> if the queue is full.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>: longer than <see cref="MaxMessageLength"/>. <see cref="IpcStatus.Closed"/>:
    /// this publisher was disposed.</exception>
    bool TryEnqueue(ReadOnlySpan<byte> message);

    /// <summary>Puts a message in; waits while the queue is full.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <exception cref="IpcException">As for <see cref="TryEnqueue"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was put in.</exception>
    void Enqueue(ReadOnlySpan<byte> message, CancellationToken cancellation = default);

    /// <summary>Puts a message in; waits, without blocking the caller, while the queue is full.</summary>
    /// <param name="message">The message; it must stay as it is until the task has completed.</param>
    /// <param name="cancellation">Ends the wait.</param>
    /// <returns>A task that completes when the message is in the queue.</returns>
    /// <exception cref="IpcException">As for <see cref="TryEnqueue"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was put in.</exception>
    ValueTask EnqueueAsync(ReadOnlyMemory<byte> message, CancellationToken cancellation = default);
}
