namespace Ipc;

/// <summary>The sending end of a broadcast: every message goes to all subscribers (transports of kind "broadcast"). A broadcast has one publisher.</summary>
/// <remarks>One thread at a time may publish. <see cref="Close"/> and <see cref="Dispose()"/> may be called from any thread, at any time and more than
/// once. Publishing allocates nothing.</remarks>
public abstract partial class Publisher : IDisposable
{
    /// <summary>The longest message, in bytes.</summary>
    public abstract int MaxMessageLength { get; }

    /// <summary>The number of subscribers at this moment.</summary>
    public abstract int Subscribers { get; }

    /// <summary>Publishes a message. Only subscribers that asked to be waited for are waited for; all others lose messages if they are too slow.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait for such subscribers, in milliseconds.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>; <see cref="IpcStatus.TimedOut"/>, after which nothing was published;
    /// <see cref="IpcStatus.Closed"/>.</exception>
    public abstract void Publish(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Ends the broadcast. Subscribers still receive what was published, and then the end.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until the thread that publishes has left, and releases everything.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    /// <param name="disposing">Whether <see cref="Dispose()"/> was called, rather than a finalizer.</param>
    protected abstract void Dispose(bool disposing);
}

/// <summary>A receiving end of a broadcast. Each subscriber reads at its own pace.</summary>
/// <remarks>One thread at a time may receive. <see cref="Close"/> and <see cref="Dispose()"/> may be called from any thread, at any time and more than
/// once. Receiving allocates nothing.</remarks>
public abstract partial class Subscriber : IDisposable
{
    /// <summary>Waits for the next message and copies it into a buffer.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="lost">The number of messages that this subscriber lost just before this one because it was too slow; always 0 if it asked to be waited
    /// for.</param>
    /// <param name="timeoutMilliseconds">The longest wait for a message, in milliseconds.</param>
    /// <returns>The length of the message in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>, after which the message stays; <see cref="IpcStatus.TimedOut"/>;
    /// <see cref="IpcStatus.PeerClosed"/> when the publisher has ended and everything it published has been received;
    /// <see cref="IpcStatus.Closed"/>.</exception>
    public abstract int Receive(Span<byte> buffer, out long lost, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Receives the next message if one arrives within the time-out; nothing is thrown if none does.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="length">The length of the message in bytes; 0 if there was none.</param>
    /// <param name="lost">As for <see cref="Receive(Span{byte}, out long, int)"/>.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if a message was received, <see langword="false"/> if the time-out expired.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, out long, int)"/>, except the time-out.</exception>
    public virtual bool TryReceive(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds = 0)
    {
        try
        {
            length = Receive(buffer, out lost, timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            (length, lost) = (0, 0);
            return false;
        }
    }

    /// <summary>Leaves the broadcast; a blocked <see cref="Receive(Span{byte}, out long, int)"/> fails with <see cref="IpcStatus.Closed"/>.</summary>
    public abstract void Close();

    /// <summary>Closes, waits until the thread that receives has left, and releases everything.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    /// <param name="disposing">Whether <see cref="Dispose()"/> was called, rather than a finalizer.</param>
    protected abstract void Dispose(bool disposing);
}
