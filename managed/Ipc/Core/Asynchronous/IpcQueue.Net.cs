using System.Runtime.CompilerServices;

namespace Ipc;

public abstract partial class IpcQueue
{
    private const int FirstBuffer = 4096;

    /// <summary>Puts a message in; waits, without blocking the caller, while the queue is full.</summary>
    /// <remarks>A thread of the library's waits for room; none if there is some at once.</remarks>
    /// <param name="message">The message; it must stay as it is until the task has completed.</param>
    /// <param name="cancellationToken">Ends the wait at once, or within 100 ms over the C library. Nothing was put in then.</param>
    /// <returns>A task that completes when the message is in the queue.</returns>
    /// <exception cref="IpcException">As for <see cref="Enqueue(ReadOnlySpan{byte}, int)"/>, except the time-out.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask EnqueueAsync(ReadOnlyMemory<byte> message, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!TryEnqueue(message.Span))
            await BlockingThread.Run(() => EnqueueOrCancel(message, cancellationToken), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Takes the next message out; waits, without blocking the caller, while the queue is empty.</summary>
    /// <remarks>A thread of the library's waits for a message; none if there is one at once.</remarks>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="cancellationToken">Ends the wait at once, or within 100 ms over the C library. Nothing was taken then.</param>
    /// <returns>The length of the message in bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="Dequeue(Span{byte}, int)"/>, except the time-out.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<int> DequeueAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return TryDequeue(buffer.Span, out var length)
            ? length
            : await BlockingThread.Run(() => Dequeue(buffer.Span, cancellationToken), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Takes messages out, one after another and without an end. Each is valid until the next one is asked for.</summary>
    /// <remarks>A thread of the library's waits while the queue is empty.</remarks>
    /// <param name="cancellationToken">Ends the wait at once, or within 100 ms over the C library; no message is lost.</param>
    /// <returns>The messages.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.Closed"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<ReadOnlyMemory<byte>> DequeueAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var buffer = new byte[FirstBuffer];
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var room = buffer;
            var status = Take(room, out var length, 0);
            if (status == IpcStatus.TimedOut)
                (status, length) = await BlockingThread.Run(() => TakeOrCancel(room, cancellationToken), cancellationToken).ConfigureAwait(false);
            if (status == IpcStatus.Ok)
                yield return buffer.AsMemory(0, length);
            else
                buffer = new byte[length];
        }
    }

    private bool EnqueueOrCancel(ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        TryEnqueue(message.Span, cancellationToken) ? true : throw new OperationCanceledException(cancellationToken);

    // Ok, or BufferTooSmall and then how much room to come back with.
    private (IpcStatus Status, int Length) TakeOrCancel(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        var status = Take(buffer.Span, out var length, cancellationToken);
        return status == IpcStatus.TimedOut ? throw new OperationCanceledException(cancellationToken) : (status, length);
    }
}
