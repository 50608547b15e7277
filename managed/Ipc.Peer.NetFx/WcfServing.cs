
namespace Ipc.Peer;

/// <summary>A server's end. WCF calls us rather than the other way round: each of its calls is one repetition of the service, on WCF's own thread.
/// So the service checks the request before the reply leaves, inside the client's timed region: a comparison of bytes or strings.</summary>
internal sealed class WcfServing : CallOnlyChannel
{
    private readonly ManualResetEvent _over = new(false);
    private byte[] _request = [];
    private byte[]? _reply;
    private string? _fault;
    private volatile Exception? _failure;
    private volatile bool _left;
    private long _operations;

    /// <summary>Serves one client to its end.</summary>
    public static void Run(Cell cell, Control control, Func<IpcChannel, Service> prepare)
    {
        var serving = new WcfServing();
        var service = prepare(serving);
        using var server = CallServer.Open(cell.Address!, request => serving.Exchange(service, request),
            message => serving.Exchange(service, message), serving.Leave, serving.Lose);
        control.OnEnd(() => serving._over.Set());
        control.Emit(new ReadyEvent(server.Address), EventJson.Default.ReadyEvent);
        serving._over.WaitOne();
        if (serving._failure is { } failure)
            throw failure;
        control.ThrowIfEnded();
        control.Emit(new ServedEvent(serving._operations), EventJson.Default.ServedEvent);
        control.WaitForEnd();
    }

    private void Leave()
    {
        _left = true;
        _over.Set();
    }

    private void Lose()
    {
        if (_left)
            return;
        _failure ??= new IpcException(IpcStatus.PeerClosed, "the client's session ended before it said that it was done: it has closed or died");
        _over.Set();
    }

    private byte[] Exchange(Service service, byte[] request)
    {
        (_request, _reply, _fault) = (request, null, null);
        try
        {
            service.Prepare();
            service.Once();
            _operations++;
        }
        catch (Exception e)
        {
            // What the client is told is the fault below; the runner is told this.
            _failure = e;
            _over.Set();
        }
        return _fault is null ? _reply ?? [] : throw new InvalidOperationException(_fault);
    }

    public override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Timeout.Infinite) => _request;
    public override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => _reply = reply.ToArray();
    public override void FailRequest(string text, int timeoutMilliseconds = Timeout.Infinite) => _fault = text;

    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite)
    {
        if (_request.Length > buffer.Length)
            throw Failure.WrongLength("message", _request.Length, buffer.Length);
        _request.CopyTo(buffer);
        return _request.Length;
    }

    // The confirmation of a push: that the operation returns.
    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
    }

    public override void Close() => _over.Set();

    // The event stays: WCF and standard input may tell of an end at any time.
    protected override void Dispose(bool disposing)
    {
    }
}
