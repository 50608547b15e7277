using System.Diagnostics.CodeAnalysis;

namespace Ipc;

/// <summary>
/// A named queue with any number of writers and readers; each message goes to one reader (transports of kind "queue").
/// </summary>
/// <remarks>
/// <para>Any number of threads may use a queue at once. <see cref="Close"/> and <see cref="Dispose()"/> may be called from any thread, at any time and more
/// than once; they interrupt blocked operations, which then fail with <see cref="IpcStatus.Closed"/>.</para>
/// <para>Time-outs are milliseconds, or a <see cref="TimeSpan"/>; <see cref="Timeout.Infinite"/> waits indefinitely, 0 does not wait. Nothing is allocated
/// per message.</para>
/// <para>There is no way to look at the next message without taking it: another reader could take it at the same moment.</para>
/// </remarks>
[SuppressMessage("Naming", "CA1711", Justification = "It is a queue, though not a collection.")]
public abstract partial class IpcQueue : IDisposable
{
    // How long a cancellation may go unnoticed where the queue has no way to be woken for it.
    private const int SliceMilliseconds = 100;

    /// <summary>The longest message, in bytes, that this queue takes.</summary>
    public abstract int MaxMessageLength { get; }

    /// <summary>Puts a message in; waits while the queue is full.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>, after which nothing was put in; <see cref="IpcStatus.MessageTooLarge"/>;
    /// <see cref="IpcStatus.Closed"/>.</exception>
    public void Enqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        if (!TryEnqueue(message, timeoutMilliseconds))
            throw new IpcException(IpcStatus.TimedOut, "the queue stayed full for the time-out; nothing was put in");
    }

    /// <summary>Takes the next message out; waits while the queue is empty.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="timeoutMilliseconds">The longest wait for a message, in milliseconds.</param>
    /// <returns>The length of the message in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>: the message stays in the queue for whoever comes next, and the error message
    /// names its length. <see cref="IpcStatus.TimedOut"/>, <see cref="IpcStatus.Closed"/>.</exception>
    public int Dequeue(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite) =>
        TryDequeue(buffer, out var length, timeoutMilliseconds)
            ? length
            : throw new IpcException(IpcStatus.TimedOut, "the queue stayed empty for the time-out");

    /// <summary>Puts a message in if there is room within the time-out; nothing is thrown if there is none.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if the message was put in, <see langword="false"/> if the queue stayed full.</returns>
    /// <exception cref="IpcException">As for <see cref="Enqueue(ReadOnlySpan{byte}, int)"/>, except the time-out.</exception>
    public abstract bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0);

    /// <summary>Takes the next message out if there is one within the time-out; nothing is thrown if there is none.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="length">The length of the message in bytes; 0 if there was none.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if a message was taken, <see langword="false"/> if the queue stayed empty.</returns>
    /// <exception cref="IpcException">As for <see cref="Dequeue(Span{byte}, int)"/>, except the time-out.</exception>
    public abstract bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0);

    /// <summary>As <see cref="TryDequeue(Span{byte}, out int, int)"/>, with no exception for what is ordinary: <see cref="IpcStatus.Ok"/>,
    /// <see cref="IpcStatus.TimedOut"/>
    /// or <see cref="IpcStatus.BufferTooSmall"/>, and then the length says how much room to come back with.</summary>
    internal virtual IpcStatus Take(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        try
        {
            return TryDequeue(buffer, out length, timeoutMilliseconds) ? IpcStatus.Ok : IpcStatus.TimedOut;
        }
        catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall)
        {
            length = MaxMessageLength;
            return IpcStatus.BufferTooSmall;
        }
    }

    /// <summary>As <see cref="Take(Span{byte}, out int, int)"/>, waiting until it is cancelled: <see cref="IpcStatus.TimedOut"/> then.</summary>
    internal virtual IpcStatus Take(Span<byte> buffer, out int length, CancellationToken cancellation)
    {
        IpcStatus status;
        while ((status = Take(buffer, out length, SliceMilliseconds)) == IpcStatus.TimedOut && !cancellation.IsCancellationRequested)
        {
        }
        return status;
    }

    /// <summary>As <see cref="TryEnqueue(ReadOnlySpan{byte}, int)"/>, waiting until it is cancelled: false then.</summary>
    internal virtual bool TryEnqueue(ReadOnlySpan<byte> message, CancellationToken cancellation)
    {
        while (!TryEnqueue(message, SliceMilliseconds))
        {
            if (cancellation.IsCancellationRequested)
                return false;
        }
        return true;
    }

    /// <summary>Takes the next message out; waits until it is cancelled, and then throws <see cref="OperationCanceledException"/>.</summary>
    internal int Dequeue(Span<byte> buffer, CancellationToken cancellation)
    {
        int length;
        // That the buffer is too small for the message is said by this attempt; by then another reader may have taken that message.
        while (!TryDequeue(buffer, out length))
        {
            var status = Take(buffer, out length, cancellation);
            if (status == IpcStatus.Ok)
                break;
            if (status == IpcStatus.TimedOut)
                throw new OperationCanceledException(cancellation);
        }
        return length;
    }

    /// <summary>Interrupts every operation on this handle. The queue itself, and its messages, remain.</summary>
    public abstract void Close();

    /// <summary>Closes this handle, waits until all threads have left their operations on it, and releases it.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    /// <param name="disposing">Whether <see cref="Dispose()"/> was called, rather than a finalizer.</param>
    protected abstract void Dispose(bool disposing);
}
