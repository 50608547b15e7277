using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A queue of the native library, of any transport of kind "queue". Lifetime as in <see cref="BoundChannel"/>.</summary>
[SuppressMessage("Naming", "CA1711", Justification = "It is one.")]
internal sealed unsafe class BoundQueue : MessageQueue
{
    private readonly QueueHandle _handle;
    private NativeQueue* _queue;

    /// <summary>Takes ownership of the native handle.</summary>
    public BoundQueue(NativeQueue* queue)
    {
        _handle = new QueueHandle(queue);
        _queue = queue;
        // A message longer than a span can be is out of reach here, whatever the address allows.
        Limit = (int)Math.Min((ulong)NativeMethods.QueueLimit(queue), int.MaxValue);
    }

    public override int Limit { get; }

    public override bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        Status status;
        fixed (byte* bytes = message)
            status = NativeMethods.QueueEnqueue(Open(), bytes, (nuint)message.Length, timeoutMilliseconds);
        GC.KeepAlive(this);
        return IsDone(status);
    }

    public override bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        var status = Ask(buffer, out length, timeoutMilliseconds);
        return IsDone(status);
    }

    internal override Status Take(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        var status = Ask(buffer, out length, timeoutMilliseconds);
        return status == Status.BufferTooSmall || IsDone(status) ? status : Status.TimedOut;
    }

    public override void Close()
    {
        try
        {
            NativeMethods.QueueClose(_handle);
        }
        catch (ObjectDisposedException)
        {
            // Dispose has closed it already.
        }
    }

    protected override void Dispose(bool disposing)
    {
        _queue = null;
        _handle.Dispose();
    }

    private Status Ask(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        nuint bytesTaken = 0;
        Status status;
        fixed (byte* bytes = buffer)
            status = NativeMethods.QueueDequeue(Open(), bytes, (nuint)buffer.Length, &bytesTaken, timeoutMilliseconds);
        GC.KeepAlive(this);
        length = NativeStatus.Length(bytesTaken);
        return status;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsDone(Status status)
    {
        if (status == Status.TimedOut)
            return false;
        NativeStatus.Check(status);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private NativeQueue* Open()
    {
        if (_queue == null)
            ThrowDisposed();
        return _queue;
    }

    [DoesNotReturn]
    private static void ThrowDisposed() =>
        throw new IpcException(Status.Closed, "this queue was disposed here: open it again to go on");
}
