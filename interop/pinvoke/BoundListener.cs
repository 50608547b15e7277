namespace Ipc.Native;

/// <summary>A listener of the native library. Lifetime as in <see cref="BoundChannel"/>.</summary>
internal sealed unsafe class BoundListener : IpcListener
{
    private readonly ListenerHandle _handle;
    private readonly NativeListener* _listener;
    private HandleGate<OneDoor> _gate;

    /// <summary>Takes ownership of the native listener.</summary>
    public BoundListener(NativeListener* listener)
    {
        _handle = new ListenerHandle(listener);
        _listener = listener;
        Address = NativeStatus.Text(NativeMethods.ListenerAddress(listener));
    }

    public override string Address { get; }

    public override IpcChannel Accept(int timeoutMilliseconds = Timeout.Infinite)
    {
        // Any number of threads may accept.
        if (!_gate.TryEnterBeside())
            throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was disposed here: listen again to accept clients");
        NativeChannel* channel;
        var status = NativeMethods.Accept(_listener, timeoutMilliseconds, &channel);
        _gate.LeaveBeside();
        NativeStatus.Check(status);
        return new BoundChannel(channel, Address);
    }

    public override void Close()
    {
        try
        {
            NativeMethods.ListenerClose(_handle);
        }
        catch (ObjectDisposedException)
        {
            // Dispose has closed it already.
        }
    }

    protected override void Dispose(bool disposing)
    {
        Close();
        if (!_gate.TryEnd())
            return;
        _gate.AwaitEmpty();
        _handle.Dispose();
    }
}
