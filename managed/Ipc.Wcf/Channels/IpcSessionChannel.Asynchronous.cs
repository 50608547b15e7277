using System.ServiceModel.Channels;

namespace Ipc.Wcf;

// WCF's asynchronous forms. Sending and opening do not wait long and are done at once; receiving waits on a thread of the pool.
internal sealed partial class IpcSessionChannel
{
    public IAsyncResult BeginSend(Message message, AsyncCallback callback, object state) => BeginSend(message, DefaultSendTimeout, callback, state);
    public IAsyncResult BeginSend(Message message, TimeSpan timeout, AsyncCallback callback, object state) =>
        Later.Now(() => Send(message, timeout), callback, state);
    public void EndSend(IAsyncResult result) => Later.End<bool>(result);

    public IAsyncResult BeginReceive(AsyncCallback callback, object state) => BeginReceive(DefaultReceiveTimeout, callback, state);
    public IAsyncResult BeginReceive(TimeSpan timeout, AsyncCallback callback, object state) => Later.Begin(() => Receive(timeout), callback, state);
    public Message EndReceive(IAsyncResult result) => Later.End<Message>(result);

    public IAsyncResult BeginTryReceive(TimeSpan timeout, AsyncCallback callback, object state) =>
        Later.Begin(() => (TryReceive(timeout, out var message), message), callback, state);

    public bool EndTryReceive(IAsyncResult result, out Message? message)
    {
        (var received, message) = Later.End<(bool, Message?)>(result);
        return received;
    }

    public IAsyncResult BeginWaitForMessage(TimeSpan timeout, AsyncCallback callback, object state) =>
        Later.Begin(() => WaitForMessage(timeout), callback, state);
    public bool EndWaitForMessage(IAsyncResult result) => Later.End<bool>(result);

    public IAsyncResult BeginCloseOutputSession(AsyncCallback callback, object state) => BeginCloseOutputSession(DefaultCloseTimeout, callback, state);
    public IAsyncResult BeginCloseOutputSession(TimeSpan timeout, AsyncCallback callback, object state) =>
        Later.Now(() => CloseOutputSession(timeout), callback, state);
    public void EndCloseOutputSession(IAsyncResult result) => Later.End<bool>(result);

    protected override IAsyncResult OnBeginOpen(TimeSpan timeout, AsyncCallback callback, object state) => Later.Now(() => OnOpen(timeout), callback, state);
    protected override void OnEndOpen(IAsyncResult result) => Later.End<bool>(result);
    protected override IAsyncResult OnBeginClose(TimeSpan timeout, AsyncCallback callback, object state) => Later.Now(() => OnClose(timeout), callback, state);
    protected override void OnEndClose(IAsyncResult result) => Later.End<bool>(result);
}
