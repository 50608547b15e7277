using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>A message of a broadcast; from <see cref="Subscriber.ReceiveAsync"/> and <see cref="Subscriber.ReceiveAllAsync"/>.</summary>
public readonly struct BroadcastMessage
{
    internal BroadcastMessage(ReadOnlyMemory<byte> bytes, long lost) => (Bytes, Lost) = (bytes, lost);

    /// <summary>The message, in the receiver's buffer.</summary>
    public ReadOnlyMemory<byte> Bytes { get; }

    /// <summary>The number of messages that the subscriber lost just before this one because it was too slow; always 0 if it asked to be waited for.</summary>
    public long Lost { get; }
}

public abstract partial class Publisher
{
    /// <summary>Publishes a message; waits, without blocking the caller, for the subscribers that asked to be waited for.</summary>
    /// <remarks>A thread of the library's waits for them; none if there is room at once. One operation at a time, blocking ones included.</remarks>
    /// <param name="message">The message; it must stay as it is until the task has completed.</param>
    /// <param name="cancellationToken">Ends the wait within 50 ms. Nothing was published then.</param>
    /// <returns>A task that completes when the message is published.</returns>
    /// <exception cref="IpcException">As for <see cref="Publish(ReadOnlySpan{byte}, int)"/>, except the time-out.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask PublishAsync(ReadOnlyMemory<byte> message, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!PublishWithin(message, 0))
            await BlockingThread.Run(() => PublishInSlices(message, cancellationToken), cancellationToken).ConfigureAwait(false);
    }

    private bool PublishInSlices(ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        while (!PublishWithin(message, Subscriber.SliceMilliseconds))
            cancellationToken.ThrowIfCancellationRequested();
        return true;
    }

    private bool PublishWithin(ReadOnlyMemory<byte> message, int timeoutMilliseconds)
    {
        try
        {
            Publish(message.Span, timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            return false;
        }
    }
}

public abstract partial class Subscriber
{
    // How long a cancellation may go unnoticed: nothing wakes a thread for it.
    internal const int SliceMilliseconds = 50;

    private const int FirstBuffer = 4096;

    /// <summary>Receives the next message; waits for it without blocking the caller.</summary>
    /// <remarks>A thread of the library's waits for it; none if there is one at once. One operation at a time, blocking ones included.</remarks>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="cancellationToken">Ends the wait within 50 ms; no message is lost by it.</param>
    /// <returns>The part of the buffer that holds the message, and how many were lost before it.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, out long, int)"/>, except the time-out.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<BroadcastMessage> ReceiveAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return TryReceive(buffer.Span, out var length, out var lost)
            ? new BroadcastMessage(buffer[..length], lost)
            : await BlockingThread.Run(() => ReceiveInSlices(buffer, cancellationToken), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Receives messages until the publisher ends. Each is valid until the next one is asked for.</summary>
    /// <param name="cancellationToken">Ends the wait within 50 ms; no message is lost by it.</param>
    /// <returns>The messages, which end when the publisher has ended.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, out long, int)"/>, except the time-out and
    /// <see cref="IpcStatus.PeerClosed"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async IAsyncEnumerable<BroadcastMessage> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var buffer = new byte[FirstBuffer];
        while (true)
        {
            BroadcastMessage message;
            try
            {
                message = await ReceiveAsync(buffer, cancellationToken).ConfigureAwait(false);
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && buffer.Length < Array.MaxLength)
            {
                buffer = new byte[(int)Math.Min(2L * buffer.Length, Array.MaxLength)];
                continue;
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                yield break;
            }
            yield return message;
        }
    }

    private BroadcastMessage ReceiveInSlices(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        int length;
        long lost;
        while (!TryReceive(buffer.Span, out length, out lost, SliceMilliseconds))
            cancellationToken.ThrowIfCancellationRequested();
        return new BroadcastMessage(buffer[..length], lost);
    }
}
