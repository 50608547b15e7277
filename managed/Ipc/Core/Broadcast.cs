namespace Ipc;

/// <summary>The one writer of a broadcast: each message goes to all subscribers (transports of kind "broadcast").</summary>
/// <remarks>Threads: one at a time; <see cref="Close"/> and <see cref="Dispose()"/> from any, at any time and more than once. Failures are <see cref="IpcException"/>s. Nothing is allocated per message.</remarks>
public abstract class Publisher : IDisposable
{
    /// <summary>The largest message in bytes.</summary>
    public abstract int MaxMessageLength { get; }

    /// <summary>How many subscribers are there now.</summary>
    public abstract int Subscribers { get; }

    /// <summary>Copies the message to where all subscribers read it; waits only for those that asked to be waited for.</summary>
    public abstract void Publish(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Ends the broadcast: subscribers read what was published, then the end.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until the thread inside has left, and releases.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    protected abstract void Dispose(bool disposing);
}

/// <summary>One reader of a broadcast, at its own pace.</summary>
/// <remarks>Threads: one at a time; <see cref="Close"/> and <see cref="Dispose()"/> from any, at any time and more than once. Failures are <see cref="IpcException"/>s. Nothing is allocated per message.</remarks>
public abstract class Subscriber : IDisposable
{
    /// <summary>Copies the next message and returns its length in bytes. <see cref="IpcStatus.PeerClosed"/> once the publisher has
    /// ended and all it published has been read.</summary>
    /// <param name="buffer">Where to; too small a one leaves the message in place (<see cref="IpcStatus.BufferTooSmall"/>).</param>
    /// <param name="lost">How many messages were dropped for this reader just before this one; 0 if it is waited for.</param>
    /// <param name="timeoutMilliseconds">Milliseconds, <see cref="Timeout.Infinite"/> or 0.</param>
    public abstract int Receive(Span<byte> buffer, out long lost, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Leaves, and interrupts a blocked Receive with <see cref="IpcStatus.Closed"/>.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until the thread inside has left, and releases.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    protected abstract void Dispose(bool disposing);
}
