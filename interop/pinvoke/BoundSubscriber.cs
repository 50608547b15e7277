using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A subscriber of the native library. Lifetime as in <see cref="BoundChannel"/>.</summary>
internal sealed unsafe class BoundSubscriber : Subscriber
{
    private readonly SubscriberHandle _handle;
    private NativeSubscriber* _subscriber;

    /// <summary>Takes ownership of the native subscriber.</summary>
    public BoundSubscriber(NativeSubscriber* subscriber)
    {
        _handle = new SubscriberHandle(subscriber);
        _subscriber = subscriber;
    }

    public override int Receive(Span<byte> buffer, out long lost, int timeoutMilliseconds = Channel.Forever)
    {
        nuint length;
        ulong count;
        Status status;
        fixed (byte* bytes = buffer)
            status = NativeMethods.SubscriberReceive(Open(), bytes, (nuint)buffer.Length, &length, &count, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        lost = (long)count;
        return (int)length;
    }

    public override void Close()
    {
        try
        {
            NativeMethods.SubscriberClose(_handle);
        }
        catch (ObjectDisposedException)
        {
            // Dispose has closed it already.
        }
    }

    protected override void Dispose(bool disposing)
    {
        _subscriber = null;
        _handle.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private NativeSubscriber* Open()
    {
        if (_subscriber == null)
            ThrowDisposed();
        return _subscriber;
    }

    [DoesNotReturn]
    private static void ThrowDisposed() =>
        throw new IpcException(Status.Closed, "this subscriber was disposed here: open a new one");
}
