namespace Ipc;

/// <summary>
/// A connection to one peer that carries whole messages in both directions, in order.
/// </summary>
/// <remarks>
/// <para><b>Messages or calls.</b> At any time a channel carries either plain messages (<see cref="Send(ReadOnlySpan{byte}, int)"/>,
/// <see cref="Receive(Span{byte}, int)"/>) or calls (<see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/> at the client,
/// <see cref="Serve"/> at the server), not both. Over transports of kind "call" only the client can send or call:
/// <see cref="Send(ReadOnlySpan{byte}, int)"/> returns when the server has received the message, and a server that sends or a client that receives gets
/// <see cref="IpcStatus.WrongState"/>.</para>
/// <para><b>Threads.</b> One thread may send while another receives. <see cref="Close"/> and <see cref="Dispose()"/> may be called from any thread, at
/// any time and more than once; they interrupt blocked operations, which then fail with <see cref="IpcStatus.Closed"/>.</para>
/// <para><b>Time-outs</b> are milliseconds, or a <see cref="TimeSpan"/>. <see cref="Timeout.Infinite"/> waits indefinitely; 0 does not wait.</para>
/// <para><b>Errors</b> are <see cref="IpcException"/>s. A broken channel throws the exception that broke it again. A time-out, a closed channel and a
/// wrong argument are told apart by <see cref="IpcException.Status"/>; <see cref="Exception.InnerException"/> is a <see cref="TimeoutException"/> after a
/// time-out and an <see cref="ObjectDisposedException"/> after <see cref="Close"/> or <see cref="Dispose()"/>.</para>
/// <para><b>Memory.</b> Sending and receiving allocate nothing. A span that the channel hands out is valid until the matching
/// <see cref="Commit(int, int)"/>, <see cref="Cancel"/>, <see cref="Release"/> or reply, and never after <see cref="Dispose()"/>.</para>
/// </remarks>
public abstract partial class IpcChannel : IDisposable
{
    /// <summary>The longest message, in bytes, that this channel sends or accepts (address option <c>max=</c>).</summary>
    public abstract int MaxMessageLength { get; }

    // ---- messages

    /// <summary>Sends a message.</summary>
    /// <param name="message">The message; it is copied before the method returns.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds. A time-out in the middle of a message breaks the channel, because
    /// the peer could not tell where the next message begins.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>, <see cref="IpcStatus.TimedOut"/>, <see cref="IpcStatus.PeerClosed"/>,
    /// <see cref="IpcStatus.Closed"/>, or <see cref="IpcStatus.WrongState"/> while room is reserved.</exception>
    public abstract void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Waits for the next message and copies it into a buffer.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="timeoutMilliseconds">The longest wait for a message, in milliseconds.</param>
    /// <returns>The length of the message in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BufferTooSmall"/>: the message stays in the channel; receive it into a larger buffer, or use
    /// <see cref="Peek(int)"/>. <see cref="IpcStatus.TimedOut"/>; <see cref="IpcStatus.PeerClosed"/> when the peer has closed and everything it sent has
    /// been received; <see cref="IpcStatus.Truncated"/> when it ended in the middle of a message; <see cref="IpcStatus.Closed"/>.</exception>
    public abstract int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Receives the next message if one arrives within the time-out; nothing is thrown if none does.</summary>
    /// <param name="buffer">Receives the message.</param>
    /// <param name="length">The length of the message in bytes; 0 if there was none.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if a message was received, <see langword="false"/> if the time-out expired.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>, except the time-out.</exception>
    public virtual bool TryReceive(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        try
        {
            length = Receive(buffer, timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            length = 0;
            return false;
        }
    }

    // ---- messages in place

    /// <summary>Reserves room for one message, in the transport's own memory where it has any, to be filled in and sent by
    /// <see cref="Commit(int, int)"/>.</summary>
    /// <remarks>Until <see cref="Commit(int, int)"/> or <see cref="Cancel"/>, every other way to send fails with <see cref="IpcStatus.WrongState"/>. Calling
    /// this method again gives the previous room back, whether or not it succeeds.</remarks>
    /// <param name="length">The room in bytes; the message may be shorter.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <returns>The room, exactly <paramref name="length"/> bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>, <see cref="IpcStatus.TimedOut"/>, <see cref="IpcStatus.PeerClosed"/>,
    /// <see cref="IpcStatus.Closed"/>.</exception>
    public abstract Span<byte> Reserve(int length, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Sends the first bytes of the reserved room as a message.</summary>
    /// <param name="length">The length of the message in bytes.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>: nothing was sent and the room is still reserved, unless the channel is broken.
    /// After any other failure of the channel, including <see cref="IpcStatus.Closed"/>, the room is gone. <see cref="IpcStatus.WrongState"/> without
    /// reserved room.</exception>
    public abstract void Commit(int length, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Gives the room of <see cref="Reserve(int, int)"/> or <see cref="ReserveReply(int, int)"/> back without sending anything.</summary>
    /// <exception cref="IpcException"><see cref="IpcStatus.WrongState"/> if no room is reserved.</exception>
    public abstract void Cancel();

    /// <summary>Waits for the next message and returns it in place, without copying it where the transport can. Call <see cref="Release"/> when you have
    /// read it.</summary>
    /// <remarks>The peer of a transport in shared memory can still change these bytes: copy what you check before you rely on it.</remarks>
    /// <param name="timeoutMilliseconds">The longest wait for a message, in milliseconds.</param>
    /// <returns>The message, valid until <see cref="Release"/>.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>.</exception>
    public abstract ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Returns the next message in place if one arrives within the time-out; nothing is thrown if none does.</summary>
    /// <param name="message">The message, valid until <see cref="Release"/>; empty if there was none.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if there is a message, which <see cref="Release"/> must then give back; <see langword="false"/> if the time-out
    /// expired.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>, except the time-out.</exception>
    public virtual bool TryPeek(out ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        try
        {
            message = Peek(timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            message = default;
            return false;
        }
    }

    /// <summary>Gives back the message of <see cref="Peek(int)"/> or the reply of <see cref="CallInPlace(ReadOnlySpan{byte}, int)"/>. Never waits.</summary>
    /// <exception cref="IpcException"><see cref="IpcStatus.WrongState"/> if there is nothing to give back.</exception>
    public abstract void Release();

    // ---- batches

    /// <summary>Sends several messages at once, with one wake-up of the peer where the transport can.</summary>
    /// <param name="messages">The messages, one directly after the other.</param>
    /// <param name="lengths">The length of each message in bytes, in order.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, in milliseconds.</param>
    /// <returns>How many messages were sent: fewer than asked for only if the time-out expired, after which the channel is still usable.</returns>
    /// <exception cref="IpcException">As for <see cref="Send(ReadOnlySpan{byte}, int)"/>, except the time-out;
    /// <see cref="IpcStatus.InvalidArgument"/> if the lengths do not add up to the messages.</exception>
    public abstract int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Waits for a message, then receives it and those that have already arrived, as long as the next one fits whole.</summary>
    /// <param name="buffer">Receives the messages, one directly after the other.</param>
    /// <param name="lengths">Receives the length of each message in bytes; its own length is the most messages received.</param>
    /// <param name="timeoutMilliseconds">The longest wait for the first message, in milliseconds.</param>
    /// <returns>How many messages were received, at least 1.</returns>
    /// <exception cref="IpcException">As for <see cref="Receive(Span{byte}, int)"/>; <see cref="IpcStatus.BufferTooSmall"/> if not even the first message
    /// fits, which then stays in the channel.</exception>
    public abstract int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>The peer's process, where the system tells; otherwise 0. Before anything else uses the channel.</summary>
    internal virtual int PeerProcess() => 0;

    // ---- the end

    /// <summary>Ends the connection and interrupts every blocked operation on it. The peer receives what was sent, and then the end.</summary>
    public abstract void Close();

    /// <summary>Closes the channel, waits until every other thread has left its operation on it (a handler its request), and releases everything. Later
    /// operations fail with <see cref="IpcStatus.Closed"/>.</summary>
    /// <remarks>Called by the handler of <see cref="Serve"/>, it does not wait; <see cref="Serve"/> then releases everything when it returns.</remarks>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    /// <param name="disposing">Whether <see cref="Dispose()"/> was called, rather than a finalizer.</param>
    protected abstract void Dispose(bool disposing);
}
