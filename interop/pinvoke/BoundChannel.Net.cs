namespace Ipc.Native;

/// <summary>Asynchronous operations over the C ABI. What receives waits for the descriptor that the library gives to event loops, where there is one;
/// what sends has no form in the ABI that goes on where it ended, and blocks a thread of its own unless it goes at once.</summary>
internal sealed unsafe partial class BoundChannel
{
    // A socket or pipe that says it is writable takes a page without waiting, which a frame's header is part of.
    private const int LongestAtOnce = 4096 - 16;

    private readonly Lock _readinessLock = new();
    private Descriptor? _descriptor; // our own of the library's
    private ChannelReadiness? _readiness;
    private bool _hasNoReadiness;
    private bool _waitsEnded;

    // A request that found no room in the caller's buffer.
    private byte* _heldRequest;
    private nuint _heldLength;

    private TransportEntry? _transport; // looked up at the first asynchronous operation

    private TransportEntry Transport => _transport ??= Registry.Transport(_address[.._address.IndexOf(':')]);

    // On Windows there are transports of kind call, which have one call at a time.
    private protected override bool HasCallsInFlight => OperatingSystem.IsLinux() || Transport.Kind == "channel";

    partial void TakeKept(Span<byte> reply, ref int length)
    {
        if (TryTakeKept(reply, out var kept))
            length = kept;
    }

    internal override Readiness? ReadinessOf(bool sending)
    {
        var readiness = _readiness;
        if (readiness is null && !_hasNoReadiness)
            readiness = BeginReadiness();
        return sending ? null : readiness?.ToReceive;
    }

    internal override bool InterruptReceiving(bool on)
    {
        // Of a channel that is gone nobody waits any more.
        if (!_gate.TryEnterBeside())
            return true;
        var status = NativeMethods.ChannelInterrupt(_channel, on ? 1 : 0);
        _gate.LeaveBeside();
        return status != IpcStatus.NotAvailable;
    }

    private ChannelReadiness? BeginReadiness()
    {
        lock (_readinessLock)
        {
            if (_readiness is not null || _hasNoReadiness || _waitsEnded || !_gate.TryEnterBeside())
                return _readiness;
            try
            {
                nint descriptor = -1;
                var status = OperatingSystem.IsLinux() ? NativeMethods.ChannelDescriptor(_channel, &descriptor) : IpcStatus.NotAvailable;
                if (status == IpcStatus.Ok && OperatingSystem.IsLinux())
                {
                    using var theirs = new Descriptor((int)descriptor, owns: false);
                    _descriptor ??= Libc.Duplicate(theirs);
                    // Throws if the system lacks what waiting takes: a thread, say. Another operation may find it.
                    _readiness = _descriptor is null ? null : new DescriptorReadiness(_descriptor, _descriptor);
                }
                _hasNoReadiness = _readiness is null;
            }
            finally
            {
                _gate.LeaveBeside();
            }
            return _readiness;
        }
    }

    partial void EndWaits()
    {
        lock (_readinessLock)
        {
            _waitsEnded = true;
            _readiness?.Dispose();
            _descriptor?.Dispose();
        }
        WakeOperations();
    }

    internal override bool Attempt(ChannelOperation operation, int timeoutMilliseconds) => operation.Kind switch
    {
        OperationKind.Receive => AttemptReceive(operation, timeoutMilliseconds),
        OperationKind.ReceiveRequest => AttemptRequest(operation, timeoutMilliseconds),
        OperationKind.Send or OperationKind.Submit or OperationKind.Answer or OperationKind.AnswerDeferred when timeoutMilliseconds == 0 =>
            TrySendWhole(operation),
        _ => base.Attempt(operation, timeoutMilliseconds),
    };

    /// <summary>Answers calls with a native handler, of which .NET sees nothing.</summary>
    public void ServeNative(delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int> handler, void* user)
    {
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.Serve(_channel, handler, user);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
    }

    // What is short goes whole or not at all: through a descriptor that says there is room, and through shared memory, which never cuts it.
    private bool TrySendWhole(ChannelOperation operation)
    {
        if (operation.Outgoing.Length > LongestAtOnce)
            return false;
        if (!Transport.ZeroCopy)
        {
            if (!IsWritable())
                return false;
            CarryOut(operation, Timeout.Infinite);
            return true;
        }
        try
        {
            CarryOut(operation, 0);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            return false; // a channel that is broken says so again
        }
    }

    private bool IsWritable()
    {
        ReadinessOf(sending: false); // looks for the descriptor
        try
        {
            return OperatingSystem.IsLinux() && _descriptor is { } descriptor && (Libc.Poll(descriptor, Libc.POLLOUT, 0) & Libc.POLLOUT) != 0;
        }
        catch (ObjectDisposedException)
        {
            return true; // closed meanwhile, which sending says
        }
    }

    private bool AttemptReceive(ChannelOperation operation, int timeoutMilliseconds)
    {
        nuint length;
        IpcStatus status;
        var mayComeYet = true;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = operation.Incoming.Span)
        {
            status = NativeMethods.Receive(_channel, bytes, (nuint)operation.Incoming.Length, &length, timeoutMilliseconds);
            // A connection that has ended since says so the second time.
            if (status == IpcStatus.TimedOut && HasHungUp())
            {
                mayComeYet = false;
                status = NativeMethods.Receive(_channel, bytes, (nuint)operation.Incoming.Length, &length, timeoutMilliseconds);
            }
        }
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        // A channel that a send has broken half-way repeats that time-out for ever.
        if (status == IpcStatus.TimedOut && mayComeYet)
            return false;
        NativeStatus.Check(status);
        operation.Result = (int)length;
        return true;
    }

    private bool HasHungUp()
    {
        try
        {
            return OperatingSystem.IsLinux() && _descriptor is { } descriptor && (Libc.Poll(descriptor, 0, 0) & (Libc.POLLHUP | Libc.POLLERR)) != 0;
        }
        catch (ObjectDisposedException)
        {
            return false; // closed meanwhile, which the next attempt says
        }
    }

    private bool AttemptRequest(ChannelOperation operation, int timeoutMilliseconds)
    {
        var status = IpcStatus.Ok;
        var tooSmall = false;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var mayComeYet = true;
        fixed (byte** request = &_heldRequest)
        fixed (nuint* length = &_heldLength)
        {
            if (_heldRequest == null)
                status = NativeMethods.ReceiveRequest(_channel, request, length, timeoutMilliseconds);
            // As in AttemptReceive.
            if (status == IpcStatus.TimedOut && HasHungUp())
            {
                mayComeYet = false;
                status = NativeMethods.ReceiveRequest(_channel, request, length, timeoutMilliseconds);
            }
        }
        if (status == IpcStatus.Ok)
        {
            operation.Result = (int)Math.Min(_heldLength, int.MaxValue);
            tooSmall = !new ReadOnlySpan<byte>(_heldRequest, operation.Result).TryCopyTo(operation.Incoming.Span);
        }
        if (!tooSmall)
            _heldRequest = null;
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        if (status == IpcStatus.TimedOut && mayComeYet)
            return false;
        NativeStatus.Check(status);
        return tooSmall
            ? throw new IpcException(IpcStatus.BufferTooSmall,
                $"the request has {operation.Result} bytes and the buffer room for {operation.Incoming.Length}: ask again with more room")
            : true;
    }
}
