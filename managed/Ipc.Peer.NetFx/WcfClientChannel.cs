using System.ServiceModel;

namespace Ipc.Peer;

/// <summary>A client's end. A push's confirmation is that the operation returns.</summary>
internal sealed class WcfClientChannel(ICallClient client) : CallOnlyChannel
{
    private bool _broken;

    public override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        var bytes = request.ToArray();
        var received = Try(() => client.Call(bytes));
        if (received.Length > reply.Length)
            throw new IpcException(IpcStatus.BufferTooSmall, $"the reply has {received.Length} bytes where at most {reply.Length} are due");
        received.CopyTo(reply);
        return received.Length;
    }

    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        var bytes = message.ToArray();
        Try(() =>
        {
            client.Push(bytes);
            return true;
        });
    }

    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite)
    {
        buffer[0] = Push.Confirmation;
        return 1;
    }

    public override void Close()
    {
        _broken = true;
        client.Dispose();
    }

    protected override void Dispose(bool disposing)
    {
        if (!_broken)
        {
            Try(() =>
            {
                client.Leave();
                return true;
            });
        }
        client.Dispose();
    }

    // WCF's failures as this program tells them.
    private T Try<T>(Func<T> exchange)
    {
        try
        {
            return exchange();
        }
        catch (FaultException e)
        {
            throw new IpcException(IpcStatus.HandlerFailed, $"the server's handler failed: {e.Message}");
        }
        catch (TimeoutException e)
        {
            _broken = true;
            throw new IpcException(IpcStatus.TimedOut, e.Message, e);
        }
        catch (CommunicationException e)
        {
            _broken = true;
            throw new IpcException(IpcStatus.PeerClosed, e.Message, e);
        }
    }
}
