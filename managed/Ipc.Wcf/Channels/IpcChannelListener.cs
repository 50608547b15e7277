using System.ServiceModel;
using System.ServiceModel.Channels;

namespace Ipc.Wcf;

/// <summary>Accepts a service's clients.</summary>
internal sealed class IpcChannelListener : ChannelListenerBase<IDuplexSessionChannel>
{
    private readonly MessageEncoder _encoder;
    private readonly long _limit;
    private readonly Action _sessionEnded;
    private Uri _uri;
    private IpcListener? _listener;

    public IpcChannelListener(BindingContext context, MessageEncoder encoder, long limit, Action sessionEnded) : base(context.Binding)
    {
        _encoder = encoder;
        _limit = limit;
        _sessionEnded = sessionEnded;
        // Relative addresses stand below a base address of the host; options stay at the end.
        var relative = context.ListenUriRelativeAddress;
        _uri = string.IsNullOrEmpty(relative)
            ? context.ListenUriBaseAddress
            : new UriBuilder(context.ListenUriBaseAddress) { Path = $"{context.ListenUriBaseAddress.AbsolutePath.TrimEnd('/')}.{relative.Trim('/')}" }.Uri;
    }

    /// <summary>Where clients find this listener; with the system's port once it is open.</summary>
    public override Uri Uri => _uri;

    public override T GetProperty<T>() => typeof(T) == typeof(MessageVersion) ? (T)(object)_encoder.MessageVersion : base.GetProperty<T>();

    protected override void OnOpen(TimeSpan timeout)
    {
        try
        {
            _listener = ManagedIpc.Listen(IpcUri.ToAddress(_uri));
            _uri = IpcUri.FromAddress(_listener.Address);
        }
        catch (IpcException e)
        {
            throw IpcFailures.Translate(e);
        }
    }

    protected override IDuplexSessionChannel OnAcceptChannel(TimeSpan timeout)
    {
        try
        {
            return new IpcSessionChannel(this, _encoder, _limit, new EndpointAddress(_uri), _uri, _listener!.Accept(IpcFailures.Milliseconds(timeout)),
                _sessionEnded);
        }
        catch (IpcException e) when (e.Status == IpcStatus.Closed)
        {
            return null!; // WCF's way to say that the listener is closing
        }
        catch (IpcException e)
        {
            throw IpcFailures.Translate(e);
        }
    }

    protected override IAsyncResult OnBeginAcceptChannel(TimeSpan timeout, AsyncCallback callback, object state) =>
        Later.Begin(() => OnAcceptChannel(timeout), callback, state);

    protected override IDuplexSessionChannel OnEndAcceptChannel(IAsyncResult result) => Later.End<IDuplexSessionChannel>(result);

    // Accepting is waiting: there is no looking without taking.
    protected override bool OnWaitForChannel(TimeSpan timeout) =>
        throw new NotSupportedException("this listener accepts without waiting first: use AcceptChannel");
    protected override IAsyncResult OnBeginWaitForChannel(TimeSpan timeout, AsyncCallback callback, object state) =>
        throw new NotSupportedException("this listener accepts without waiting first: use AcceptChannel");
    protected override bool OnEndWaitForChannel(IAsyncResult result) => throw new NotSupportedException();

    protected override void OnAbort() => _listener?.Close();

    protected override void OnClose(TimeSpan timeout) => OnAbort();

    protected override IAsyncResult OnBeginOpen(TimeSpan timeout, AsyncCallback callback, object state) => Later.Now(() => OnOpen(timeout), callback, state);
    protected override void OnEndOpen(IAsyncResult result) => Later.End<bool>(result);
    protected override IAsyncResult OnBeginClose(TimeSpan timeout, AsyncCallback callback, object state) => Later.Now(() => OnClose(timeout), callback, state);
    protected override void OnEndClose(IAsyncResult result) => Later.End<bool>(result);
}
