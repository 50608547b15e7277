using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A publisher of the native library. Lifetime as in <see cref="BoundChannel"/>.</summary>
internal sealed unsafe class BoundPublisher : Publisher
{
    private readonly PublisherHandle _handle;
    private NativePublisher* _publisher;

    /// <summary>Takes ownership of the native publisher.</summary>
    public BoundPublisher(NativePublisher* publisher)
    {
        _handle = new PublisherHandle(publisher);
        _publisher = publisher;
        Limit = (int)Math.Min((ulong)NativeMethods.PublisherLimit(publisher), int.MaxValue);
    }

    public override int Limit { get; }

    public override int Subscribers
    {
        get
        {
            if (_publisher == null)
                return 0;
            nuint count;
            var status = NativeMethods.PublisherSubscribers(_publisher, &count);
            GC.KeepAlive(this);
            NativeStatus.Check(status);
            return (int)count;
        }
    }

    public override void Publish(ReadOnlySpan<byte> message, int timeoutMilliseconds = Channel.Forever)
    {
        Status status;
        fixed (byte* bytes = message)
            status = NativeMethods.Publish(Open(), bytes, (nuint)message.Length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override void Close()
    {
        try
        {
            NativeMethods.PublisherClose(_handle);
        }
        catch (ObjectDisposedException)
        {
            // Dispose has closed it already.
        }
    }

    protected override void Dispose(bool disposing)
    {
        // The field goes first: a call that comes after Dispose finds null and says so instead of using freed memory.
        _publisher = null;
        _handle.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private NativePublisher* Open()
    {
        if (_publisher == null)
            ThrowDisposed();
        return _publisher;
    }

    [DoesNotReturn]
    private static void ThrowDisposed() =>
        throw new IpcException(Status.Closed, "this publisher was disposed here: open a new one");
}
