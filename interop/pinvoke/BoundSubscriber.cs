using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A subscriber of the native library. Lifetime as in <see cref="BoundChannel"/>.</summary>
internal sealed unsafe class BoundSubscriber : Subscriber
{
    private readonly SubscriberHandle _handle;
    private readonly NativeSubscriber* _subscriber;
    private HandleGate<OneDoor> _gate;

    /// <summary>Takes ownership of the native subscriber.</summary>
    public BoundSubscriber(NativeSubscriber* subscriber)
    {
        _handle = new SubscriberHandle(subscriber);
        _subscriber = subscriber;
    }

    public override int Receive(Span<byte> buffer, out long lost, int timeoutMilliseconds = Timeout.Infinite)
    {
        NativeStatus.Check(ReceiveInto(buffer, out var length, out lost, timeoutMilliseconds));
        return length;
    }

    public override bool TryReceive(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds = 0)
    {
        var status = ReceiveInto(buffer, out length, out lost, timeoutMilliseconds);
        if (status == IpcStatus.TimedOut)
        {
            (length, lost) = (0, 0);
            return false;
        }
        NativeStatus.Check(status);
        return true;
    }

    private IpcStatus ReceiveInto(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds)
    {
        nuint received;
        ulong count;
        IpcStatus status;
        var byTheDoor = Enter();
        fixed (byte* bytes = buffer)
            status = NativeMethods.SubscriberReceive(_subscriber, bytes, (nuint)buffer.Length, &received, &count, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Only, byTheDoor);
        (length, lost) = ((int)received, (long)count);
        return status;
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
        Close();
        if (!_gate.TryEnd())
            return;
        _gate.AwaitEmpty();
        _handle.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Enter()
    {
        var byTheDoor = _gate.Enter(ref _gate.Doors.Only);
        if (_gate.HasEnded)
            Refuse(byTheDoor);
        return byTheDoor;
    }

    [DoesNotReturn]
    private void Refuse(bool byTheDoor)
    {
        _gate.Leave(ref _gate.Doors.Only, byTheDoor);
        throw new IpcException(IpcStatus.Closed, "this subscriber was disposed here: open a new one");
    }
}
