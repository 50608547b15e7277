using System.Buffers;

namespace Ipc;

/// <summary>Options of an <see cref="IpcClient"/>.</summary>
public sealed class IpcClientOptions
{
    /// <summary>The implementation that connects: pure .NET by default, or the C library (<c>NativeIpc.Instance</c>).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Whether a call waits for a server that is not there, and whether a call after the end of a connection connects again. By default both.
    /// Otherwise the client has one connection, and the first call fails if nobody listens.</summary>
    public bool Reconnect { get; set; } = true;

    /// <summary>The pause after the first failed attempt to connect; 20 ms by default. It doubles with each attempt, and varies by a fifth so that clients
    /// do not all come at once.</summary>
    public TimeSpan FirstPause { get; set; } = TimeSpan.FromMilliseconds(20);

    /// <summary>The longest pause between two attempts; 2 s by default.</summary>
    public TimeSpan LongestPause { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Converts objects to bytes and back, for <see cref="IpcClient.CallAsync{TRequest, TReply}"/>.</summary>
    public IIpcSerializer? Serializer { get; set; }
}

/// <summary>Calls a server. It connects at the first call, and again after a connection has ended. For .NET 10.</summary>
/// <remarks>
/// <para>Any thread may use any member at any time. Calls are made one after another, in the order in which they came.</para>
/// <para>A call in progress when its connection ends fails, with <see cref="IpcStatus.PeerClosed"/> or <see cref="IpcStatus.Truncated"/>, and is never
/// repeated, because the server may have carried it out. The next call connects again. The late reply of a cancelled call is dropped.</para>
/// </remarks>
public sealed class IpcClient : IDisposable
{
    private const int FirstBuffer = 4096;

    private readonly IpcClientOptions _options;
    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly CancellationTokenSource _closing = new();
    private IpcChannel? _channel; // changed by whoever has the turn
    private bool _hadOne;
    private byte[] _reply = [];
    private readonly ArrayBufferWriter<byte> _request = new();

    /// <summary>Creates a client; it does not connect yet.</summary>
    /// <param name="address">The address at which the server listens.</param>
    /// <param name="options">The options; do not change them afterwards.</param>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException">The address is invalid, or the pauses are (<see cref="IpcStatus.InvalidArgument"/>).</exception>
    public IpcClient(string address, IpcClientOptions? options = null)
    {
        IpcAddress.Parse(address);
        _options = options ?? new IpcClientOptions();
        if (_options.FirstPause <= TimeSpan.Zero || _options.LongestPause < _options.FirstPause)
        {
            throw new IpcException(IpcStatus.InvalidArgument,
                $"pauses from {_options.FirstPause} to {_options.LongestPause}: give a first one above 0 and a longest that is no shorter");
        }
        Address = address;
    }

    /// <summary>The address of the server.</summary>
    public string Address { get; }

    /// <summary>Whether the client was connected when the last call ended. The server may have gone since.</summary>
    public bool IsConnected => Volatile.Read(ref _channel) is not null;

    /// <summary>Connects now rather than at the first call.</summary>
    /// <param name="cancellationToken">Ends the wait at once.</param>
    /// <returns>A task that completes when the client is connected.</returns>
    /// <exception cref="IpcException">As for <see cref="IIpc.Connect(string, int)"/>; with <see cref="IpcClientOptions.Reconnect"/> an absent server is
    /// waited for.</exception>
    /// <exception cref="ObjectDisposedException">The client was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask ConnectAsync(CancellationToken cancellationToken = default)
    {
        await TakeTurnAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            await ChannelAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Makes a call, and connects before it if necessary.</summary>
    /// <param name="request">The request; it must not change until the task completes.</param>
    /// <param name="reply">Receives the reply; it belongs to the client until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait for other calls, the connection or the reply at once.</param>
    /// <returns>The length of the reply in bytes.</returns>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.CallAsync"/>.</exception>
    /// <exception cref="ObjectDisposedException">The client was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<int> CallAsync(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken cancellationToken = default)
    {
        await TakeTurnAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await CallInTurnAsync(request, reply, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Makes a call with objects, which <see cref="IpcClientOptions.Serializer"/> converts to bytes and back.</summary>
    /// <param name="request">The request.</param>
    /// <param name="cancellationToken">Ends the wait for other calls, the connection or the reply at once.</param>
    /// <returns>The reply.</returns>
    /// <exception cref="InvalidOperationException">The options have no serializer.</exception>
    /// <exception cref="IpcException">As for <see cref="IpcChannel.CallAsync"/>.</exception>
    /// <exception cref="ObjectDisposedException">The client was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public async ValueTask<TReply> CallAsync<TRequest, TReply>(TRequest request, CancellationToken cancellationToken = default)
    {
        var serializer = _options.Serializer ??
            throw new InvalidOperationException($"calls with objects need a serializer: set {nameof(IpcClientOptions)}.{nameof(IpcClientOptions.Serializer)}");
        await TakeTurnAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            _request.ResetWrittenCount();
            serializer.Serialize(request, _request);
            if (_reply.Length == 0)
                _reply = new byte[FirstBuffer];
            int length;
            try
            {
                length = await CallInTurnAsync(_request.WrittenMemory, _reply, cancellationToken).ConfigureAwait(false);
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall)
            {
                length = TakeKeptReply();
            }
            return serializer.Deserialize<TReply>(_reply.AsSpan(0, length));
        }
        finally
        {
            _turn.Release();
        }
    }

    // It is here whole.
    private int TakeKeptReply()
    {
        while (true)
        {
            _reply = new byte[(int)Math.Min(_channel!.MaxMessageLength, 4L * _reply.Length)];
            try
            {
                return _channel.ReceiveReply(_reply);
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && _reply.Length < _channel.MaxMessageLength)
            {
                // Still larger.
            }
        }
    }

    private async ValueTask<int> CallInTurnAsync(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken cancellationToken)
    {
        var channel = await ChannelAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await channel.CallAsync(request, reply, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            if (e is not IpcException { Status: IpcStatus.HandlerFailed or IpcStatus.BufferTooSmall or IpcStatus.MessageTooLarge } && channel.IsBroken)
                Drop(channel);
            ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested && e is IpcException { Status: IpcStatus.Closed }, this);
            throw;
        }
    }

    private async Task TakeTurnAsync(CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested, this);
        await _turn.WaitAsync(cancellationToken).ConfigureAwait(false);
        var closing = _closing.IsCancellationRequested;
        if (closing)
            _turn.Release();
        ObjectDisposedException.ThrowIf(closing, this);
    }

    private void Drop(IpcChannel channel)
    {
        Volatile.Write(ref _channel, null);
        channel.Dispose();
    }

    // The turn is the caller's.
    private async ValueTask<IpcChannel> ChannelAsync(CancellationToken cancellationToken)
    {
        if (_channel is { } channel)
        {
            // A server that went while nobody called is no failure of the call that comes now.
            if (!_options.Reconnect || !channel.HasEnded())
                return channel;
            Drop(channel);
        }
        else if (_hadOne && !_options.Reconnect)
        {
            throw new IpcException(IpcStatus.PeerClosed, $"the connection to {Address} has ended, and this client was asked not to reconnect");
        }
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _closing.Token);
        try
        {
            return await ConnectOnceThereAsync(either.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            ObjectDisposedException.ThrowIf(_closing.IsCancellationRequested, this);
            // By the caller's token, which it may look for in the exception, not by the one made here.
            throw new OperationCanceledException(cancellationToken);
        }
    }

    private async ValueTask<IpcChannel> ConnectOnceThereAsync(CancellationToken either)
    {
        var pause = _options.FirstPause;
        while (true)
        {
            try
            {
                var channel = await _options.Implementation.ConnectAsync(Address, either).ConfigureAwait(false);
                (_hadOne, _channel) = (true, channel);
                var closing = _closing.IsCancellationRequested;
                if (closing)
                    Drop(channel);
                ObjectDisposedException.ThrowIf(closing, this);
                return channel;
            }
            catch (IpcException e) when (_options.Reconnect && e.Status is IpcStatus.NoServer or IpcStatus.PeerClosed or IpcStatus.TimedOut)
            {
                // Not there, or going, or not accepting.
            }
            await Task.Delay(pause * (0.8 + (0.4 * Random.Shared.NextDouble())), either).ConfigureAwait(false);
            pause = pause * 2 < _options.LongestPause ? pause * 2 : _options.LongestPause;
        }
    }

    /// <summary>Disconnects. Calls in progress and calls that wait fail with <see cref="ObjectDisposedException"/>.</summary>
    public void Dispose()
    {
        _closing.Cancel();
        Volatile.Read(ref _channel)?.Dispose();
    }
}
