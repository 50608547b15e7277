using System.Buffers;

namespace Ipc;

/// <summary>Messages in several pieces, and buffers that grow, for code over <see cref="ReadOnlySequence{T}"/> and <see cref="IBufferWriter{T}"/>. For
/// .NET 10.</summary>
public static class IpcBuffers
{
    /// <summary>Sends a message that lies in several pieces. Each piece is copied once, directly into the transport's memory where it has any.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="message">The message, at most 2 GB.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, and then for sending, in milliseconds each.</param>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.Reserve(int, int)"/> and <see cref="IpcChannel.Commit(int, int)"/>; nothing was
    /// sent.</exception>
    public static void Send(this IpcChannel channel, in ReadOnlySequence<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(channel);
        var length = LengthOf(channel, message);
        message.CopyTo(channel.Reserve(length, timeoutMilliseconds));
        Finish(channel, length, timeoutMilliseconds, static (channel, length, timeout) => channel.Commit(length, timeout));
    }

    /// <summary>Answers the request received last with a reply that lies in several pieces.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="reply">The reply, at most 2 GB.</param>
    /// <param name="timeoutMilliseconds">The longest wait for room, and then for sending, in milliseconds each.</param>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.ReserveReply(int, int)"/> and <see cref="IpcChannel.CommitReply(int, int)"/>.</exception>
    public static void Reply(this IpcChannel channel, in ReadOnlySequence<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(channel);
        var length = LengthOf(channel, reply);
        reply.CopyTo(channel.ReserveReply(length, timeoutMilliseconds));
        Finish(channel, length, timeoutMilliseconds, static (channel, length, timeout) => channel.CommitReply(length, timeout));
    }

    /// <summary>Sends a message that lies in several pieces; if there are more than one, it is copied first. No thread waits for room.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="message">The message; it must not change until the task completes.</param>
    /// <param name="cancellationToken">As for <see cref="IpcChannel.SendAsync"/>.</param>
    /// <returns>A task that completes when the message has been handed to the transport.</returns>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.SendAsync"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask SendAsync(this IpcChannel channel, ReadOnlySequence<byte> message, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(channel);
        return message.IsSingleSegment ? channel.SendAsync(message.First, cancellationToken) : SendCopyAsync(channel, message, cancellationToken);
    }

    /// <summary>Waits for the next message and appends it to a buffer, however long it is.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="buffer">Takes the message.</param>
    /// <param name="timeoutMilliseconds">The longest wait for a message, in milliseconds.</param>
    /// <returns>The length of the message in bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.Peek(int)"/>.</exception>
    public static int Receive(this IpcChannel channel, IBufferWriter<byte> buffer, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(buffer);
        return Append(channel, channel.Peek(timeoutMilliseconds), buffer);
    }

    /// <summary>Sends a request, waits for its reply and appends it to a buffer, however long it is.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="request">The request.</param>
    /// <param name="reply">Takes the reply.</param>
    /// <param name="timeoutMilliseconds">The longest that the whole call may take, in milliseconds.</param>
    /// <returns>The length of the reply in bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.CallInPlace(ReadOnlySpan{byte}, int)"/>.</exception>
    public static int Call(this IpcChannel channel, ReadOnlySpan<byte> request, IBufferWriter<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(reply);
        return Append(channel, channel.CallInPlace(request, timeoutMilliseconds), reply);
    }

#pragma warning disable CS1573 // The other parameters are documented where the comments are inherited from.

    /// <inheritdoc cref="Send(IpcChannel, in ReadOnlySequence{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely.</param>
    public static void Send(this IpcChannel channel, in ReadOnlySequence<byte> message, TimeSpan timeout) =>
        Send(channel, message, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Reply(IpcChannel, in ReadOnlySequence{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely.</param>
    public static void Reply(this IpcChannel channel, in ReadOnlySequence<byte> reply, TimeSpan timeout) =>
        Reply(channel, reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Receive(IpcChannel, IBufferWriter{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely.</param>
    public static int Receive(this IpcChannel channel, IBufferWriter<byte> buffer, TimeSpan timeout) =>
        Receive(channel, buffer, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Call(IpcChannel, ReadOnlySpan{byte}, IBufferWriter{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely.</param>
    public static int Call(this IpcChannel channel, ReadOnlySpan<byte> request, IBufferWriter<byte> reply, TimeSpan timeout) =>
        Call(channel, request, reply, TimeSpans.Milliseconds(timeout));

#pragma warning restore CS1573

    private static int Append(IpcChannel channel, ReadOnlySpan<byte> message, IBufferWriter<byte> buffer)
    {
        try
        {
            buffer.Write(message);
            return message.Length;
        }
        finally
        {
            channel.Release();
        }
    }

    private static async ValueTask SendCopyAsync(IpcChannel channel, ReadOnlySequence<byte> message, CancellationToken cancellationToken)
    {
        var length = LengthOf(channel, message);
        var copy = ArrayPool<byte>.Shared.Rent(length);
        message.CopyTo(copy);
        await channel.SendAsync(copy.AsMemory(0, length), cancellationToken).ConfigureAwait(false);
        // After a failure somebody may still look at it: then it is the collector's.
        ArrayPool<byte>.Shared.Return(copy);
    }

    // Room that could not be sent in time is given back, so that the channel is as it was.
    private static void Finish(IpcChannel channel, int length, int timeoutMilliseconds, Action<IpcChannel, int, int> commit)
    {
        try
        {
            commit(channel, length, timeoutMilliseconds);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !channel.IsBroken)
        {
            channel.Cancel();
            throw;
        }
    }

    private static int LengthOf(IpcChannel channel, in ReadOnlySequence<byte> message) => message.Length <= channel.MaxMessageLength
        ? (int)message.Length
        : throw new IpcException(IpcStatus.MessageTooLarge,
            $"the message has {message.Length} bytes, over this channel's limit of {channel.MaxMessageLength}: raise it with max= at both ends");
}
