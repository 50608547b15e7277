using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A queue of the native library, of any transport of kind "queue". Lifetime as in <see cref="BoundChannel"/>.</summary>
[SuppressMessage("Naming", "CA1711", Justification = "It is one.")]
internal sealed unsafe class BoundQueue : IpcQueue
{
    private readonly QueueHandle _handle;
    private readonly NativeQueue* _queue;
    private HandleGate<ThreadDoors> _gate;

    /// <summary>Takes ownership of the native handle.</summary>
    public BoundQueue(NativeQueue* queue)
    {
        _handle = new QueueHandle(queue);
        _queue = queue;
        // A message longer than a span can be is out of reach here, whatever the address allows.
        MaxMessageLength = (int)Math.Min((ulong)NativeMethods.QueueLimit(queue), int.MaxValue);
    }

    public override int MaxMessageLength { get; }

    public override bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        IpcStatus status;
        ref var door = ref Enter(out var byTheDoor);
        fixed (byte* bytes = message)
            status = NativeMethods.QueueEnqueue(_queue, bytes, (nuint)message.Length, timeoutMilliseconds);
        _gate.Leave(ref door, byTheDoor);
        GC.KeepAlive(this);
        return IsDone(status);
    }

    public override bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        var status = Ask(buffer, out length, timeoutMilliseconds);
        return IsDone(status);
    }

    internal override IpcStatus Take(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        var status = Ask(buffer, out length, timeoutMilliseconds);
        return status == IpcStatus.BufferTooSmall || IsDone(status) ? status : IpcStatus.TimedOut;
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
        Close();
        if (!_gate.TryEnd())
            return;
        _gate.AwaitEmpty();
        _handle.Dispose();
    }

    private IpcStatus Ask(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        nuint bytesTaken = 0;
        IpcStatus status;
        ref var door = ref Enter(out var byTheDoor);
        fixed (byte* bytes = buffer)
            status = NativeMethods.QueueDequeue(_queue, bytes, (nuint)buffer.Length, &bytesTaken, timeoutMilliseconds);
        _gate.Leave(ref door, byTheDoor);
        GC.KeepAlive(this);
        length = NativeStatus.Length(bytesTaken);
        return status;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsDone(IpcStatus status)
    {
        if (status == IpcStatus.TimedOut)
            return false;
        NativeStatus.Check(status);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref Door Enter(out bool byTheDoor)
    {
        ref var door = ref _gate.Doors.Mine(out var isMine);
        byTheDoor = isMine ? _gate.Enter(ref door) : _gate.EnterBeside();
        if (_gate.HasEnded)
            Refuse(ref door, byTheDoor);
        return ref door;
    }

    [DoesNotReturn]
    private void Refuse(ref Door door, bool byTheDoor)
    {
        _gate.Leave(ref door, byTheDoor);
        throw new IpcException(IpcStatus.Closed, "this queue was disposed here: open it again to go on");
    }
}
