using System.Diagnostics.CodeAnalysis;

namespace Ipc;

/// <summary>
/// A named queue in one direction: many writers, many readers, each message to one reader (transports of kind "queue").
/// </summary>
/// <remarks>
/// Threads: any number may use one queue at once; <see cref="Close"/> and <see cref="Dispose()"/> may come from any thread, at any time and more
/// than once, and interrupt all with <see cref="IpcStatus.Closed"/>. Time-outs are milliseconds; <see cref="Timeout.Infinite"/> waits
/// without end, 0 tries once. Failures are <see cref="IpcException"/>s. No method allocates per message.
/// </remarks>
[SuppressMessage("Naming", "CA1711", Justification = "It is one; the rule's collection it is not.")]
public abstract class IpcQueue : IDisposable
{
    // How long a cancellation may go unnoticed where the queue has no way to be woken for it.
    private const int SliceMilliseconds = 100;

    /// <summary>The largest message in bytes that this queue takes.</summary>
    public abstract int MaxMessageLength { get; }

    /// <summary>Copies the message in; waits while the queue is full. <see cref="IpcStatus.TimedOut"/>: nothing was put in.</summary>
    public void Enqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        if (!TryEnqueue(message, timeoutMilliseconds))
            throw new IpcException(IpcStatus.TimedOut, "the queue stayed full for the time-out; nothing was put in");
    }

    /// <summary>Takes the oldest message out and returns its length in bytes; waits while the queue is empty.
    /// <see cref="IpcStatus.BufferTooSmall"/>: the message stays for whoever comes next.</summary>
    public int Dequeue(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite) =>
        TryDequeue(buffer, out var length, timeoutMilliseconds)
            ? length
            : throw new IpcException(IpcStatus.TimedOut, "the queue stayed empty for the time-out");

    /// <summary>As <see cref="Enqueue"/>; false if the queue stayed full for the time-out.</summary>
    public abstract bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0);

    /// <summary>As <see cref="Dequeue"/>; false if the queue stayed empty for the time-out. On <see cref="IpcStatus.BufferTooSmall"/>
    /// the exception's error message names the length needed.</summary>
    public abstract bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0);

    /// <summary>As <see cref="TryDequeue"/>, with no exception for what is ordinary: <see cref="IpcStatus.Ok"/>, <see cref="IpcStatus.TimedOut"/>
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

    /// <summary>Interrupts everything on this handle; the queue itself goes on.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until all threads have left their calls on this handle, and releases it.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    protected abstract void Dispose(bool disposing);
}
