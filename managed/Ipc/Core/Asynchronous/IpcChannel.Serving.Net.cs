using System.Buffers;

namespace Ipc;

// Servers that answer several requests of one client at a time.
public abstract partial class IpcChannel
{
    /// <summary>Answers a request that was put off by <see cref="DeferRequest"/>. No thread waits for room. This counts as sending: one at a time.</summary>
    /// <param name="token">The token from <see cref="DeferRequest"/>.</param>
    /// <param name="reply">The reply; it must not change until the task completes.</param>
    /// <param name="cancellationToken">As for <see cref="SendAsync"/>. If no byte has been sent, the request is still to be answered.</param>
    /// <returns>A task that completes when the reply has been handed to the transport.</returns>
    /// <exception cref="IpcException">As for <see cref="ReplyDeferred(ulong, ReadOnlySpan{byte}, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask ReplyDeferredAsync(ulong token, ReadOnlyMemory<byte> reply, CancellationToken cancellationToken = default) =>
        BeginAnswer(token, FrameKind.Reply, reply, cancellationToken);

    /// <summary>Fails a request that was put off by <see cref="DeferRequest"/>: the client's call throws <see cref="IpcStatus.HandlerFailed"/> with this
    /// text.</summary>
    /// <param name="token">The token from <see cref="DeferRequest"/>.</param>
    /// <param name="text">The error message for the client.</param>
    /// <param name="cancellationToken">As for <see cref="ReplyDeferredAsync"/>.</param>
    /// <returns>A task that completes when the answer has been handed to the transport.</returns>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="IpcException">As for <see cref="FailDeferred(ulong, string, int)"/>.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask FailDeferredAsync(ulong token, string text, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(text);
        return Fail(token, text, cancellationToken);
    }

    private ValueTask BeginAnswer(ulong token, FrameKind kind, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
    {
        var operation = Take(ref _sending);
        if (operation is not null)
            operation.Tag = token;
        return BeginSending(operation, OperationKind.AnswerDeferred, kind, bytes, cancellationToken);
    }

    /// <summary>Answers calls, up to <paramref name="atOnce"/> of this client at a time, each on a thread of the pool, until the client closes.</summary>
    /// <remarks>Replies are sent in the order in which they become ready. While <paramref name="atOnce"/> requests are being answered, no further one is
    /// received.
    /// Over transports of kind "call" requests are answered one after another.</remarks>
    /// <param name="handler">Answers one request; called on several threads at once. What it throws fails the call at the client and ends nothing
    /// here.</param>
    /// <param name="atOnce">The most requests answered at a time, at least 1.</param>
    /// <param name="handlerFailed">Receives what the handler threw, after the client has been told, on several threads at once: for a log.</param>
    /// <param name="cancellationToken">Ends the wait for requests at once, and is passed to the handler.</param>
    /// <returns>A task that completes when the client has closed and no handler runs any more.</returns>
    /// <exception cref="ArgumentNullException">The handler is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="atOnce"/> is less than 1.</exception>
    /// <exception cref="IpcException">The channel failed, or was closed on this side (<see cref="IpcStatus.Closed"/>).</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public Task ServeAsync(AsyncRequestHandler handler, int atOnce, Action<Exception>? handlerFailed = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handler);
        ArgumentOutOfRangeException.ThrowIfLessThan(atOnce, 1);
        return HasCallsInFlight ? ServeManyAsync(handler, atOnce, handlerFailed, cancellationToken) : ServeAsync(handler, handlerFailed, cancellationToken);
    }

    private async Task ServeManyAsync(AsyncRequestHandler handler, int atOnce, Action<Exception>? handlerFailed, CancellationToken cancellationToken)
    {
        using var serving = new ManyAtOnce(this, handler, atOnce, handlerFailed, cancellationToken);
        await serving.RunAsync().ConfigureAwait(false);
    }

    private static byte[] Grow(byte[] buffer, int most) => new byte[(int)Math.Min(most, 4L * buffer.Length)];

    private sealed class ManyAtOnce(
        IpcChannel channel, AsyncRequestHandler handler, int atOnce, Action<Exception>? handlerFailed, CancellationToken cancellationToken) : IDisposable
    {
        private readonly SemaphoreSlim _places = new(atOnce);
        private readonly SemaphoreSlim _turnToSend = new(1);
        private readonly Stack<Place> _free = new();
        private Exception? _failure;

        public async Task RunAsync()
        {
            try
            {
                while (await ReceiveAsync().ConfigureAwait(false))
                {
                }
            }
            finally
            {
                // Handlers still use the channel.
                for (var i = 0; i < atOnce; i++)
                    await _places.WaitAsync(CancellationToken.None).ConfigureAwait(false);
            }
            if (_failure is { } failure)
                throw failure;
        }

        public void Dispose()
        {
            _places.Dispose();
            _turnToSend.Dispose();
        }

        // False: the client has all it wanted.
        private async ValueTask<bool> ReceiveAsync()
        {
            await _places.WaitAsync(cancellationToken).ConfigureAwait(false);
            Place place;
            lock (_free)
                place = _free.TryPop(out var free) ? free : new Place(this);
            var begun = false;
            try
            {
                while (true)
                {
                    try
                    {
                        place.Length = await channel.ReceiveRequestAsync(place.Request, cancellationToken).ConfigureAwait(false);
                        break;
                    }
                    catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && place.Request.Length < channel.MaxMessageLength)
                    {
                        place.Request = Grow(place.Request, channel.MaxMessageLength);
                    }
                }
                place.Token = channel.DeferRequest();
                ThreadPool.UnsafeQueueUserWorkItem(place, preferLocal: false);
                begun = true;
                return true;
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                return false;
            }
            finally
            {
                if (!begun)
                    Leave(place);
            }
        }

        private void Leave(Place place)
        {
            lock (_free)
                _free.Push(place);
            _places.Release();
        }

        private async Task AnswerAsync(Place place)
        {
            Exception? failure = null;
            try
            {
                await handler(place.Request.AsMemory(0, place.Length), place.Reply, cancellationToken).ConfigureAwait(false);
                if (place.Reply.WrittenCount > channel.MaxMessageLength)
                {
                    failure = new IpcException(IpcStatus.MessageTooLarge,
                        $"the reply has {place.Reply.WrittenCount} bytes, over this channel's limit of {channel.MaxMessageLength}: raise it with max= "
                            + "at both ends");
                }
            }
            // Whatever the handler throws belongs to the client that called it, not to this server.
            catch (Exception e)
            {
                failure = e;
            }
            try
            {
                await _turnToSend.WaitAsync(CancellationToken.None).ConfigureAwait(false);
                try
                {
                    if (failure is null)
                        await channel.ReplyDeferredAsync(place.Token, place.Reply.WrittenMemory, CancellationToken.None).ConfigureAwait(false);
                    else
                        await channel.FailDeferredAsync(place.Token, failure.Message, CancellationToken.None).ConfigureAwait(false);
                }
                finally
                {
                    _turnToSend.Release();
                }
                if (failure is not null)
                    handlerFailed?.Invoke(failure);
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                // Nobody waits for this reply; whoever receives is told the same.
            }
            // The first one ends serving, as what broke the channel does.
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref _failure, e, null);
                channel.Close();
            }
            finally
            {
                Leave(place);
            }
        }

        private sealed class Place(ManyAtOnce serving) : IThreadPoolWorkItem
        {
            public byte[] Request = new byte[FirstBuffer];
            public int Length;
            public ulong Token;
            public ArrayBufferWriter<byte> Reply { get; } = new(FirstBuffer);

            public void Execute()
            {
                Reply.ResetWrittenCount();
                _ = serving.AnswerAsync(this);
            }
        }
    }
}
