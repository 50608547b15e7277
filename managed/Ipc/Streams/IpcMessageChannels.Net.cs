using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Threading.Channels;

namespace Ipc;

/// <summary>The messages of a channel as a <see cref="ChannelReader{T}"/> and a <see cref="ChannelWriter{T}"/>, for code over
/// System.Threading.Channels. For .NET 10.</summary>
/// <remarks>Nothing else may receive (a reader) or send (a writer) on the channel meanwhile. Any number of threads may use a reader or a writer. Messages
/// are plain messages: the peer, in whatever language, sends and receives them as such.</remarks>
public static class IpcMessageChannels
{
    /// <summary>Reads messages as byte arrays.</summary>
    /// <param name="channel">The channel; it stays its owner's.</param>
    /// <returns>A reader that completes when the peer closes. If the channel fails or is closed on this side, <see cref="ChannelReader{T}.Completion"/>
    /// fails, and so do waits, with the <see cref="IpcException"/>.</returns>
    public static ChannelReader<byte[]> AsChannelReader(this IpcChannel channel)
    {
        ArgumentNullException.ThrowIfNull(channel);
        return new MessageReader<byte[]>(channel, static bytes => bytes.ToArray());
    }

    /// <summary>Reads messages as objects.</summary>
    /// <param name="channel">The channel; it stays its owner's.</param>
    /// <param name="serializer">Makes an object of a message. What it throws for a message is thrown by the read that takes this message; the next read goes
    /// on with the next message.</param>
    /// <returns>As for <see cref="AsChannelReader(IpcChannel)"/>.</returns>
    public static ChannelReader<T> AsChannelReader<T>(this IpcChannel channel, IIpcSerializer serializer)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(serializer);
        return new MessageReader<T>(channel, serializer.Deserialize<T>);
    }

    /// <summary>Writes byte arrays as messages.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="leaveOpen">Whether the channel stays open when the writer is completed. By default it is closed then, once everything written has been
    /// sent, so that the peer receives it and then the end; that ends receiving on this side as well.</param>
    /// <returns>A writer of one place: <see cref="ChannelWriter{T}.TryWrite"/> takes a message and returns <see langword="false"/> while the one before is
    /// still being sent. <see cref="ChannelWriter{T}.WriteAsync"/> returns when the message has been sent; cancelling it in the middle of a message breaks
    /// the channel, as it does for <see cref="IpcChannel.SendAsync"/>.</returns>
    public static ChannelWriter<byte[]> AsChannelWriter(this IpcChannel channel, bool leaveOpen = false)
    {
        ArgumentNullException.ThrowIfNull(channel);
        return new MessageWriter<byte[]>(channel, static (value, buffer) => buffer.Write(value), leaveOpen);
    }

    /// <summary>Writes objects as messages.</summary>
    /// <param name="channel">The channel.</param>
    /// <param name="serializer">Makes a message of an object. What it throws is thrown by the write; nothing is sent then.</param>
    /// <param name="leaveOpen">As for <see cref="AsChannelWriter(IpcChannel, bool)"/>.</param>
    /// <returns>As for <see cref="AsChannelWriter(IpcChannel, bool)"/>.</returns>
    public static ChannelWriter<T> AsChannelWriter<T>(this IpcChannel channel, IIpcSerializer serializer, bool leaveOpen = false)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(serializer);
        return new MessageWriter<T>(channel, serializer.Serialize, leaveOpen);
    }

    private delegate T Reading<out T>(ReadOnlySpan<byte> message);

    /// <summary>Who waits for something to change is told of every change, and looks again. Nothing is handed to one of them: a turn that is handed to
    /// who only wanted to know keeps everybody else from taking it, and several that loop over waiting and trying would do so for ever.</summary>
    private sealed class Changes
    {
        private TaskCompletionSource? _next;

        /// <summary>Completes with the next Tell. To be asked for before looking whether to wait.</summary>
        public Task Next()
        {
            if (Volatile.Read(ref _next) is { } next)
                return next.Task;
            next = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return (Interlocked.CompareExchange(ref _next, next, null) ?? next).Task;
        }

        public void Tell() => Interlocked.Exchange(ref _next, null)?.SetResult();
    }

    /// <summary>Keeps the message that was waited for until somebody reads it. One of those who wait receives; the others wait for that.</summary>
    private sealed class MessageReader<T>(IpcChannel channel, Reading<T> read) : ChannelReader<T>
    {
        private const int FirstBuffer = 4096;

        private readonly TaskCompletionSource _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly Lock _lock = new(); // guards what follows; the buffer while nobody receives
        private readonly Changes _received = new();
        private bool _receiving; // the buffer is theirs
        private byte[] _buffer = new byte[Math.Min(FirstBuffer, channel.MaxMessageLength)];
        private int _length = -1; // of the message in the buffer; -1: none

        public override Task Completion => _completion.Task;
        public override bool CanPeek => true;

        public override bool TryRead(out T item) => TryLook(take: true, out item);
        public override bool TryPeek(out T item) => TryLook(take: false, out item);

        // False while somebody receives, too: the message is there once that has ended.
        private bool TryLook(bool take, out T item)
        {
            lock (_lock)
            {
                item = default!;
                if (_receiving || (_length < 0 && !TryReceive()))
                    return false;
                var message = _buffer.AsSpan(0, _length);
                if (take)
                    _length = -1;
                item = read(message);
                return true;
            }
        }

        private bool TryReceive()
        {
            while (!_completion.Task.IsCompleted)
            {
                try
                {
                    if (!channel.TryReceive(_buffer, out var length))
                        return false;
                    _length = length;
                    return true;
                }
                catch (IpcException e)
                {
                    Handle(e);
                }
            }
            return false;
        }

        public override async ValueTask<bool> WaitToReadAsync(CancellationToken cancellationToken = default)
        {
            cancellationToken.ThrowIfCancellationRequested();
            while (true)
            {
                Task? received = null;
                lock (_lock)
                {
                    if (_length >= 0)
                        return true;
                    if (_receiving)
                        received = _received.Next();
                    else if (!_completion.Task.IsCompleted)
                        _receiving = true;
                    else
                        received = _completion.Task;
                }
                if (received is null)
                    await ReceiveAsync(cancellationToken).ConfigureAwait(false);
                else
                    await received.WaitAsync(cancellationToken).ConfigureAwait(false);
                if (received == _completion.Task)
                    return false;
            }
        }

        // However it ends: another one of those who wait goes on.
        private async ValueTask ReceiveAsync(CancellationToken cancellationToken)
        {
            var length = -1;
            try
            {
                length = await channel.ReceiveAsync(_buffer, cancellationToken).ConfigureAwait(false);
            }
            catch (IpcException e)
            {
                Handle(e);
            }
            finally
            {
                lock (_lock)
                    (_length, _receiving) = (length, false);
                _received.Tell();
            }
        }

        // The message is larger than the buffer, or there will be no more.
        private void Handle(IpcException failure)
        {
            if (failure.Status == IpcStatus.BufferTooSmall && _buffer.Length < channel.MaxMessageLength)
                _buffer = new byte[(int)Math.Min(channel.MaxMessageLength, 4L * _buffer.Length)];
            else if (failure.Status == IpcStatus.PeerClosed)
                _completion.TrySetResult();
            else
                _completion.TrySetException(failure);
        }
    }

    /// <summary>Has the turn while a message is being sent.</summary>
    [SuppressMessage("Reliability", "CA1001", Justification = "A semaphore whose wait handle nobody asks for has nothing to dispose.")]
    private sealed class MessageWriter<T>(IpcChannel channel, Action<T, IBufferWriter<byte>> write, bool leaveOpen) : ChannelWriter<T>
    {
        private readonly SemaphoreSlim _turn = new(1); // guards the buffer; writes go in the order in which they were begun
        private readonly Changes _freed = new();
        private readonly ArrayBufferWriter<byte> _message = new();
        private Exception? _end; // why nothing more is written

        public override bool TryWrite(T item)
        {
            if (Volatile.Read(ref _end) is not null || !_turn.Wait(0))
                return false;
            var sending = false;
            try
            {
                // As a task, since the channel wants to know that the end of the send was seen.
                var send = BeginSending(item, CancellationToken.None).AsTask();
                sending = !send.IsCompletedSuccessfully;
                if (sending)
                    _ = FinishAsync(send);
                return true;
            }
            finally
            {
                if (!sending)
                    Release();
            }
        }

        private void Release()
        {
            _turn.Release();
            _freed.Tell();
        }

        private ValueTask BeginSending(T item, CancellationToken cancellationToken)
        {
            _message.ResetWrittenCount();
            write(item, _message);
            return channel.SendAsync(_message.WrittenMemory, cancellationToken);
        }

        private async Task FinishAsync(Task send)
        {
            try
            {
                await send.ConfigureAwait(false);
            }
            // Whoever writes next is told.
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref _end, e, null);
            }
            finally
            {
                Release();
            }
        }

        public override async ValueTask<bool> WaitToWriteAsync(CancellationToken cancellationToken = default)
        {
            cancellationToken.ThrowIfCancellationRequested();
            Task? freed = null;
            while (true)
            {
                switch (Volatile.Read(ref _end))
                {
                    case null when _turn.CurrentCount > 0:
                        return true;
                    case null when freed is null:
                        freed = _freed.Next();
                        break;
                    case null:
                        await freed.WaitAsync(cancellationToken).ConfigureAwait(false);
                        freed = null;
                        break;
                    case ChannelClosedException { InnerException: null }:
                        return false;
                    case var end:
                        throw end;
                }
            }
        }

        public override async ValueTask WriteAsync(T item, CancellationToken cancellationToken = default)
        {
            await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
            try
            {
                if (Volatile.Read(ref _end) is { } end)
                    throw end;
                await BeginSending(item, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                Release();
            }
        }

        public override bool TryComplete(Exception? error = null)
        {
            if (Interlocked.CompareExchange(ref _end, error is null ? new ChannelClosedException() : new ChannelClosedException(error), null) is not null)
                return false;
            _freed.Tell();
            if (!leaveOpen)
                _ = CloseAsync();
            return true;
        }

        // After what is being sent.
        private async Task CloseAsync()
        {
            await _turn.WaitAsync().ConfigureAwait(false);
            channel.Close();
            Release();
        }
    }
}
