using System.ServiceModel;
using System.ServiceModel.Channels;

namespace Ipc.Wcf;

/// <summary>One session over one of our channels: each WCF message is one of our plain messages, encoded by the binding's encoder and nothing else.
/// The session ends with the channel.</summary>
internal sealed partial class IpcSessionChannel : ChannelBase, IDuplexSessionChannel, IDuplexSession
{
    private const int MostHeaderBytes = 64 * 1024;

    private readonly MessageEncoder _encoder;
    private readonly int _limit;
    private readonly bool _accepted;
    private readonly object _sending = new();
    private readonly object _receiving = new();
    private readonly MemoryStream _encoded = new();
    private Action? _ended; // told once, of an accepted session
    private IpcChannel? _channel;

    /// <param name="manager">The factory or listener.</param>
    /// <param name="encoder">Of every message.</param>
    /// <param name="limit">Of messages in bytes, both ways.</param>
    /// <param name="remote">The service.</param>
    /// <param name="via">Where it is reached.</param>
    /// <param name="connected">A client that was accepted; null for one that connects when it is opened.</param>
    /// <param name="ended">Called once when an accepted client has gone.</param>
    public IpcSessionChannel(
        ChannelManagerBase manager, MessageEncoder encoder, long limit, EndpointAddress remote, Uri via, IpcChannel? connected, Action? ended = null)
            : base(manager)
    {
        _ended = ended;
        _encoder = encoder;
        _limit = (int)Math.Min(limit, int.MaxValue);
        RemoteAddress = remote;
        Via = via;
        _channel = connected;
        _accepted = connected is not null;
    }

    public EndpointAddress LocalAddress => RemoteAddress;
    public EndpointAddress RemoteAddress { get; }
    public Uri Via { get; }
    public IDuplexSession Session => this;
    string ISession.Id { get; } = Guid.NewGuid().ToString("N");

    public override T GetProperty<T>() => typeof(T) == typeof(MessageVersion) ? (T)(object)_encoder.MessageVersion : base.GetProperty<T>();

    // ---- sending

    public void Send(Message message) => Send(message, DefaultSendTimeout);

    public void Send(Message message, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(message);
        ThrowIfDisposedOrNotOpen();
        if (!_accepted)
            message.Headers.To ??= RemoteAddress.Uri;
        lock (_sending)
        {
            _encoded.SetLength(0);
            _encoder.WriteMessage(message, _encoded);
            var length = (int)_encoded.Length;
            if (length > _limit)
                throw new QuotaExceededException(
                    $"a message of {length} bytes is over this binding's MaxReceivedMessageSize of {_limit}: raise it at both ends, or send parts; "
                        + "nothing was sent");
            try
            {
                _channel!.Send(_encoded.GetBuffer().AsSpan(0, length), IpcFailures.Milliseconds(timeout));
            }
            catch (IpcException e)
            {
                // A message over the limit, or one for which there was no room in time, has not been begun and leaves the session good.
                throw Failed(e, breaks: e.Status is not (IpcStatus.MessageTooLarge or IpcStatus.TimedOut));
            }
        }
    }

    // ---- receiving

    public Message Receive() => Receive(DefaultReceiveTimeout);

    public Message Receive(TimeSpan timeout) => TryReceive(timeout, out var message)
        ? message!
        : throw new TimeoutException($"nothing came from {Via} within {timeout}");

    /// <summary>False after the time-out; null at the end of the session.</summary>
    public bool TryReceive(TimeSpan timeout, out Message? message)
    {
        message = null;
        if (State is CommunicationState.Closing or CommunicationState.Closed)
            return true;
        lock (_receiving)
        {
            byte[] bytes;
            try
            {
                var received = _channel!.Peek(IpcFailures.Milliseconds(timeout));
                if (received.Length > _limit)
                    throw new IpcException(IpcStatus.PeerTooLarge,
                        $"the peer at {Via} sends a message of {received.Length} bytes, over this binding's MaxReceivedMessageSize of {_limit}: raise "
                            + "it at both ends");
                // WCF reads a message's body when it wants, so the bytes must stay as long as the message.
                bytes = received.ToArray();
                _channel.Release();
            }
            catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
            {
                return false;
            }
            // A service's client may go when it likes. A client whose service goes wants to know why its calls end.
            catch (IpcException e) when (e.Status == IpcStatus.Closed || (_accepted && e.Status == IpcStatus.PeerClosed))
            {
                Interlocked.Exchange(ref _ended, null)?.Invoke();
                return true;
            }
            catch (IpcException e)
            {
                throw Failed(e, breaks: true);
            }
            message = Decode(bytes);
            return true;
        }
    }

    public bool WaitForMessage(TimeSpan timeout)
    {
        lock (_receiving)
        {
            try
            {
                // A message in place may be looked at again.
                _ = _channel!.Peek(IpcFailures.Milliseconds(timeout));
                return true;
            }
            catch (IpcException e)
            {
                return e.Status != IpcStatus.TimedOut; // the end, too, is something to receive
            }
        }
    }

    private Message Decode(byte[] bytes)
    {
        try
        {
            return _encoder.ReadMessage(new MemoryStream(bytes, writable: false), MostHeaderBytes);
        }
        catch (Exception e) when (e is System.Xml.XmlException or FormatException or InvalidOperationException or IOException)
        {
            Break();
            throw new ProtocolException(
                $"what came from {Via} is no message of this binding's encoding: check that both ends use the same binding ({e.Message})", e);
        }
    }

    private Exception Failed(IpcException failure, bool breaks)
    {
        if (breaks)
            Break();
        return IpcFailures.Translate(failure);
    }

    private void Break()
    {
        _channel?.Close();
        Fault();
        Interlocked.Exchange(ref _ended, null)?.Invoke();
    }

    // ---- opening and ending

    protected override void OnOpen(TimeSpan timeout)
    {
        if (_channel is not null)
            return;
        try
        {
            _channel = ManagedIpc.Connect(IpcUri.ToAddress(Via), IpcFailures.Milliseconds(timeout));
        }
        catch (IpcException e)
        {
            throw IpcFailures.Translate(e);
        }
    }

    // Interrupts whoever is inside; what the channel holds is released when nobody is.
    protected override void OnAbort() => _channel?.Close();

    protected override void OnClose(TimeSpan timeout) => OnAbort();

    public void CloseOutputSession() => CloseOutputSession(DefaultCloseTimeout);

    // Our channels end both ways at once, after all that was sent has been read.
    public void CloseOutputSession(TimeSpan timeout) => _channel?.Close();
}
