using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A publisher of the native library. Lifetime as in <see cref="BoundChannel"/>.</summary>
internal sealed unsafe class BoundPublisher : Publisher
{
    private readonly PublisherHandle _handle;
    private readonly NativePublisher* _publisher;
    private HandleGate<OneDoor> _gate;

    /// <summary>Takes ownership of the native publisher.</summary>
    public BoundPublisher(NativePublisher* publisher)
    {
        _handle = new PublisherHandle(publisher);
        _publisher = publisher;
        MaxMessageLength = (int)Math.Min((ulong)NativeMethods.PublisherLimit(publisher), int.MaxValue);
    }

    public override int MaxMessageLength { get; }

    public override int Subscribers
    {
        get
        {
            nuint count = 0;
            if (!_gate.TryEnterBeside())
                return 0;
            var status = NativeMethods.PublisherSubscribers(_publisher, &count);
            _gate.LeaveBeside();
            NativeStatus.Check(status);
            return (int)count;
        }
    }

    public override void Publish(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        IpcStatus status;
        var byTheDoor = Enter();
        fixed (byte* bytes = message)
            status = NativeMethods.Publish(_publisher, bytes, (nuint)message.Length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Only, byTheDoor);
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
        throw new IpcException(IpcStatus.Closed, "this publisher was disposed here: open a new one");
    }
}
