using System.Buffers;

namespace Ipc;

/// <summary>How an <see cref="IpcClient"/> connects.</summary>
public sealed class IpcClientOptions
{
    /// <summary>What connects: pure .NET unless said otherwise, or the C library (<c>NativeIpc.Instance</c>).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Whether a call waits for a server that is not there, trying again and again, and whether one that comes after the connection's end
    /// connects
    /// anew. If not, the first call's connection is the only one.</summary>
    public bool Reconnect { get; set; } = true;

    /// <summary>The pause after the first attempt in vain; it doubles each time, give or take a fifth so that clients do not come all at once.</summary>
    public TimeSpan FirstPause { get; set; } = TimeSpan.FromMilliseconds(20);

    /// <summary>The longest pause between two attempts.</summary>
    public TimeSpan LongestPause { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>Turns objects into bytes and back, for <see cref="IpcClient.CallAsync{TRequest, TReply}"/>.</summary>
    public IIpcSerializer? Serializer { get; set; }
}

/// <summary>Calls a server, and connects when that is necessary: at the first call, and again after a connection has ended. All members may be used
/// from any
/// threads at once; calls go one after another, in the order in which they came. For .NET 10.</summary>
/// <remarks>A call under way when its connection ends fails, with <see cref="IpcStatus.PeerClosed"/> or <see cref="IpcStatus.Truncated"/>, and is
/// never repeated:
/// the server may have done what it asks. The next call connects anew. A call that is cancelled leaves its late reply to be dropped.</remarks>
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

    /// <summary>Connects to nobody yet.</summary>
    /// <param name="address">The server's.</param>
    /// <param name="options">Left alone from now on.</param>
    /// <exception cref="IpcException">The address is none.</exception>
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

    /// <summary>The server's.</summary>
    public string Address { get; }

    /// <summary>Whether there is a connection, as far as the last call saw.</summary>
    public bool IsConnected => Volatile.Read(ref _channel) is not null;

    /// <summary>Connects now rather than at the first call.</summary>
    /// <param name="cancellationToken">Ends the wait at once.</param>
    /// <exception cref="IpcException">As <see cref="IIpc.Connect(string, int)"/>; no <see cref="IpcStatus.NoServer"/> if reconnecting is asked for.</exception>
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

    /// <summary>One call, connecting before it if necessary.</summary>
    /// <param name="request">Must not change until the task is over.</param>
    /// <param name="reply">Where the reply goes; the client's until the task is over.</param>
    /// <param name="cancellationToken">Ends the wait for the turn, the connection or the reply at once.</param>
    /// <returns>The reply's length in bytes.</returns>
    /// <exception cref="IpcException">As <see cref="IpcChannel.CallAsync"/>.</exception>
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

    /// <summary>One call with objects, which <see cref="IpcClientOptions.Serializer"/> turns into bytes and back.</summary>
    /// <param name="request">The request.</param>
    /// <param name="cancellationToken">Ends the wait for the turn, the connection or the reply at once.</param>
    /// <returns>The reply.</returns>
    /// <exception cref="InvalidOperationException">The options name no serializer.</exception>
    /// <exception cref="IpcException">As <see cref="IpcChannel.CallAsync"/>.</exception>
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
        var pause = _options.FirstPause;
        while (true)
        {
            try
            {
                channel = await _options.Implementation.ConnectAsync(Address, either.Token).ConfigureAwait(false);
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
            catch (OperationCanceledException) when (_closing.IsCancellationRequested)
            {
                throw new ObjectDisposedException(nameof(IpcClient));
            }
            try
            {
                await Task.Delay(pause * (0.8 + (0.4 * Random.Shared.NextDouble())), either.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (_closing.IsCancellationRequested)
            {
                throw new ObjectDisposedException(nameof(IpcClient));
            }
            pause = pause * 2 < _options.LongestPause ? pause * 2 : _options.LongestPause;
        }
    }

    /// <summary>Ends the connection and every call under way or waiting, with <see cref="ObjectDisposedException"/>.</summary>
    public void Dispose()
    {
        _closing.Cancel();
        Volatile.Read(ref _channel)?.Dispose();
    }
}
