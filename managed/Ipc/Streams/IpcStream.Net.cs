namespace Ipc;

/// <summary>A channel as a two-way stream of bytes, for code over streams: HTTP, gRPC, serializers. For .NET 10.</summary>
/// <remarks>
/// <para>What is written is sent at once, as messages whose boundaries mean nothing. Reading returns their bytes in order, and 0 when the peer has closed.
/// The peer, in whatever language, sends and receives plain messages.</para>
/// <para>One read and one write may be in progress at a time; nothing else may use the channel meanwhile. <see cref="Stream.Dispose()"/> may be called from
/// any thread at any time, and ends both. Errors are <see cref="IpcException"/>s, which are <see cref="IOException"/>s.</para>
/// </remarks>
public sealed class IpcStream : Stream
{
    /// <summary>The longest message a stream sends: long enough that its cost is that of its bytes, short enough that the reader keeps no large
    /// buffer.</summary>
    private const int LongestPiece = 32 * 1024;

    private readonly IpcChannel _channel;
    private readonly bool _leaveOpen;
    private readonly int _piece;
    private byte[] _kept = []; // where a message goes that may be longer than the reader's buffer
    private ReadOnlyMemory<byte> _rest; // of _kept: come and not yet read
    private volatile bool _disposed;

    /// <summary>Creates a stream over a connected channel.</summary>
    /// <param name="channel">The channel; the stream disposes it unless told otherwise.</param>
    /// <param name="leaveOpen">Whether the channel stays connected when the stream is disposed.</param>
    /// <exception cref="ArgumentNullException">The channel is null.</exception>
    public IpcStream(IpcChannel channel, bool leaveOpen = false)
    {
        ArgumentNullException.ThrowIfNull(channel);
        _channel = channel;
        _leaveOpen = leaveOpen;
        _piece = Math.Min(LongestPiece, channel.MaxMessageLength);
    }

    /// <summary>The channel that carries the bytes.</summary>
    public IpcChannel Channel => _channel;

    /// <inheritdoc/>
    public override bool CanRead => !_disposed;
    /// <inheritdoc/>
    public override bool CanWrite => !_disposed;
    /// <inheritdoc/>
    public override bool CanSeek => false;
    /// <summary>A stream of a channel has no length.</summary>
    /// <exception cref="NotSupportedException">Always.</exception>
    public override long Length => throw new NotSupportedException();
    /// <summary>A stream of a channel has no position.</summary>
    /// <exception cref="NotSupportedException">Always.</exception>
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
    /// <summary>A stream of a channel cannot be sought in.</summary>
    /// <exception cref="NotSupportedException">Always.</exception>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
    /// <summary>A stream of a channel has no length.</summary>
    /// <exception cref="NotSupportedException">Always.</exception>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <summary>Does nothing: what is written goes out at once.</summary>
    public override void Flush()
    {
    }

    /// <summary>Does nothing: what is written goes out at once.</summary>
    /// <inheritdoc/>
    public override Task FlushAsync(CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled(cancellationToken) : Task.CompletedTask;

    // ---- reading

    /// <inheritdoc/>
    /// <exception cref="IpcException">The channel failed.</exception>
    public override int Read(Span<byte> buffer)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (TakeRest(buffer, out var taken))
            return taken;
        while (true)
        {
            try
            {
                if (_kept.Length <= buffer.Length)
                {
                    if (_channel.Receive(buffer) is > 0 and var length)
                        return length;
                    continue;
                }
                _rest = _kept.AsMemory(0, _channel.Receive(_kept));
                if (TakeRest(buffer, out taken))
                    return taken;
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && _kept.Length < _channel.MaxMessageLength)
            {
                _kept = Larger();
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                return 0;
            }
        }
    }

    /// <inheritdoc/>
    /// <exception cref="IpcException">The channel failed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; no byte is lost.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return TakeRest(buffer.Span, out var taken) ? new ValueTask<int>(taken) : ReceiveAsync(buffer, cancellationToken);
    }

    private async ValueTask<int> ReceiveAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                var into = _kept.Length > buffer.Length ? _kept : buffer;
                var length = await _channel.ReceiveAsync(into, cancellationToken).ConfigureAwait(false);
                if (_kept.Length <= buffer.Length)
                {
                    if (length > 0)
                        return length;
                    continue;
                }
                _rest = _kept.AsMemory(0, length);
                if (TakeRest(buffer.Span, out var taken))
                    return taken;
            }
            catch (IpcException e) when (e.Status == IpcStatus.BufferTooSmall && _kept.Length < _channel.MaxMessageLength)
            {
                _kept = Larger();
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
                return 0;
            }
        }
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        return ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();
    }

    /// <inheritdoc/>
    public override IAsyncResult BeginRead(byte[] buffer, int offset, int count, AsyncCallback? callback, object? state) =>
        TaskToAsyncResult.Begin(ReadAsync(buffer, offset, count, CancellationToken.None), callback, state);

    /// <inheritdoc/>
    public override int EndRead(IAsyncResult asyncResult) => TaskToAsyncResult.End<int>(asyncResult);

    // False: nothing is there.
    private bool TakeRest(Span<byte> buffer, out int taken)
    {
        taken = Math.Min(buffer.Length, _rest.Length);
        if (_rest.IsEmpty)
            return false;
        _rest.Span[..taken].CopyTo(buffer);
        _rest = _rest[taken..];
        return true;
    }

    // Four times as large each time the next message does not fit, up to what the channel accepts.
    private byte[] Larger() => new byte[(int)Math.Clamp(4L * _kept.Length, Math.Min(4096, _channel.MaxMessageLength), _channel.MaxMessageLength)];

    // ---- writing

    /// <inheritdoc/>
    /// <exception cref="IpcException">The channel failed.</exception>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        while (!buffer.IsEmpty)
        {
            var piece = buffer[..Math.Min(_piece, buffer.Length)];
            _channel.Send(piece);
            buffer = buffer[piece.Length..];
        }
    }

    /// <inheritdoc/>
    /// <exception cref="IpcException">The channel failed.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; some of the bytes may have gone.</exception>
    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        return buffer.IsEmpty ? default
            : buffer.Length <= _piece ? _channel.SendAsync(buffer, cancellationToken)
            : SendPiecesAsync(buffer, cancellationToken);
    }

    private async ValueTask SendPiecesAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken)
    {
        while (!buffer.IsEmpty)
        {
            var piece = buffer[..Math.Min(_piece, buffer.Length)];
            await _channel.SendAsync(piece, cancellationToken).ConfigureAwait(false);
            buffer = buffer[piece.Length..];
        }
    }

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        Write(buffer.AsSpan(offset, count));
    }

    /// <inheritdoc/>
    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
    {
        ValidateBufferArguments(buffer, offset, count);
        return WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();
    }

    /// <inheritdoc/>
    public override IAsyncResult BeginWrite(byte[] buffer, int offset, int count, AsyncCallback? callback, object? state) =>
        TaskToAsyncResult.Begin(WriteAsync(buffer, offset, count, CancellationToken.None), callback, state);

    /// <inheritdoc/>
    public override void EndWrite(IAsyncResult asyncResult) => TaskToAsyncResult.End(asyncResult);

    /// <summary>Closes the channel, unless it is to be left open; the peer reads what was written, then the end.</summary>
    protected override void Dispose(bool disposing)
    {
        if (disposing && !_disposed)
        {
            _disposed = true;
            if (!_leaveOpen)
                _channel.Dispose();
        }
        base.Dispose(disposing);
    }
}
