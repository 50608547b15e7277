using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A channel of the native library. Spans given out point into its memory; nothing is allocated per message.</summary>
/// <remarks>
/// Lifetime: the safe handle frees the native channel on Dispose, or from its finalizer when the channel is forgotten. Calls use
/// the bare pointer beside it, because a safe handle's reference count would cost two interlocked operations per message; the gate
/// knows who is inside one, and Dispose waits for them. Nothing between going in and out can throw, so there is no try block; going out
/// stores into this object, which keeps the finalizer from freeing the channel under a call.
/// </remarks>
internal sealed unsafe partial class BoundChannel : IpcChannel
{
    private readonly ChannelHandle _handle;
    private readonly NativeChannel* _channel;
    private readonly string _address;
    private HandleGate<TwoDoors> _gate;
    private bool _disposedInside; // by a handler: the serving thread goes through with it

    /// <summary>Takes ownership of the native channel.</summary>
    /// <param name="channel">Connected; freed with this object.</param>
    /// <param name="address">Where it leads.</param>
    public BoundChannel(NativeChannel* channel, string address)
    {
        _address = address;
        _handle = new ChannelHandle(channel);
        _channel = channel;
        // A message longer than a span can be is out of reach here, whatever the address allows.
        MaxMessageLength = (int)Math.Min((ulong)NativeMethods.ChannelLimit(channel), int.MaxValue);
    }

    public override int MaxMessageLength { get; }

    public NativeChannel* Handle => _channel;

    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        fixed (byte* bytes = message)
            status = NativeMethods.Send(_channel, bytes, (nuint)message.Length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
    }

    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite)
    {
        NativeStatus.Check(ReceiveInto(buffer, out var length, timeoutMilliseconds));
        return length;
    }

    // A time-out costs no exception: a loop that looks at several channels in turn meets one after the other.
    public override bool TryReceive(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        var status = ReceiveInto(buffer, out length, timeoutMilliseconds);
        if (status == IpcStatus.TimedOut)
            return false;
        NativeStatus.Check(status);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private IpcStatus ReceiveInto(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        nuint received = 0;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = buffer)
            status = NativeMethods.Receive(_channel, bytes, (nuint)buffer.Length, &received, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        length = (int)received;
        return status;
    }

    public override Span<byte> Reserve(int length, int timeoutMilliseconds = Timeout.Infinite)
    {
        byte* room;
        var size = Size(length);
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        var status = NativeMethods.Reserve(_channel, size, &room, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
        return new Span<byte>(room, length);
    }

    public override void Commit(int length, int timeoutMilliseconds = Timeout.Infinite)
    {
        var size = Size(length);
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        var status = NativeMethods.Commit(_channel, size, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
    }

    public override void Cancel()
    {
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        var status = NativeMethods.Cancel(_channel);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
    }

    public override ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Timeout.Infinite)
    {
        var status = PeekAt(out var message, out var length, timeoutMilliseconds);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(message, NativeStatus.Length(length));
    }

    public override bool TryPeek(out ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        var status = PeekAt(out var bytes, out var length, timeoutMilliseconds);
        message = default;
        if (status == IpcStatus.TimedOut)
            return false;
        NativeStatus.Check(status);
        message = new ReadOnlySpan<byte>(bytes, NativeStatus.Length(length));
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private IpcStatus PeekAt(out byte* message, out nuint length, int timeoutMilliseconds)
    {
        byte* found = null;
        nuint size = 0;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.Peek(_channel, &found, &size, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        message = found;
        length = size;
        return status;
    }

    public override void Release()
    {
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.Release(_channel);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
    }

    public override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Timeout.Infinite)
    {
        CheckBatch(messages, lengths);
        nuint sent;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        fixed (byte* bytes = messages)
        fixed (int* sizes = lengths)
            status = NativeMethods.SendBatch(_channel, bytes, (uint*)sizes, (nuint)lengths.Length, &sent, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        // Those before a time-out are out; a channel it broke says so in the next call.
        if (status != IpcStatus.TimedOut)
            NativeStatus.Check(status);
        return (int)sent;
    }

    public override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Timeout.Infinite)
    {
        nuint count;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = buffer)
        fixed (int* sizes = lengths)
        {
            status = NativeMethods.ReceiveBatch(_channel, bytes, (nuint)buffer.Length, (uint*)sizes, (nuint)lengths.Length,
                &count, timeoutMilliseconds);
        }
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return (int)count;
    }

    // The native library trusts its caller to have given as many bytes as the lengths say.
    private static void CheckBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths)
    {
        long bytes = 0;
        foreach (var length in lengths)
        {
            bytes += (long)Size(length);
            if (bytes > messages.Length)
                throw new IpcException(IpcStatus.InvalidArgument, $"SendBatch: the lengths say more than the {messages.Length} bytes given");
        }
    }

    public override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        nuint length;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* requestBytes = request, replyBytes = reply)
        {
            status = NativeMethods.Call(_channel, requestBytes, (nuint)request.Length, replyBytes, (nuint)reply.Length,
                &length, timeoutMilliseconds);
        }
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return (int)length;
    }

    // What an asynchronous call that had too little room has left.
    partial void TakeKept(Span<byte> reply, ref int length);

    public override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        nuint length;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = reply)
            status = NativeMethods.ReceiveReply(_channel, bytes, (nuint)reply.Length, &length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        var kept = -1;
        if (status == IpcStatus.WrongState)
            TakeKept(reply, ref kept);
        if (kept >= 0)
            return kept;
        NativeStatus.Check(status);
        return (int)length;
    }

    public override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Timeout.Infinite)
    {
        byte* reply;
        nuint length;
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = request)
            status = NativeMethods.CallPeek(_channel, bytes, (nuint)request.Length, &reply, &length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(reply, NativeStatus.Length(length));
    }

    public override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Timeout.Infinite)
    {
        byte* request;
        nuint length;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.ReceiveRequest(_channel, &request, &length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(request, NativeStatus.Length(length));
    }

    public override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = reply)
            status = NativeMethods.Reply(_channel, bytes, (nuint)reply.Length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
    }

    public override Span<byte> ReserveReply(int length, int timeoutMilliseconds = Timeout.Infinite)
    {
        byte* room;
        var size = Size(length);
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.ReserveReply(_channel, size, &room, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return new Span<byte>(room, length);
    }

    public override void CommitReply(int length, int timeoutMilliseconds = Timeout.Infinite)
    {
        var size = Size(length);
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.CommitReply(_channel, size, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
    }

    public override void FailRequest(string text, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(text);
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        IpcStatus status;
        try
        {
            status = NativeMethods.FailRequest(_channel, text, timeoutMilliseconds); // its text may find no memory
        }
        finally
        {
            _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        }
        NativeStatus.Check(status);
    }

    internal override int PeerProcess()
    {
        if (!OperatingSystem.IsLinux())
            return 0;
        nint descriptor;
        if (NativeMethods.ChannelDescriptor(_channel, &descriptor) != IpcStatus.Ok)
            return 0;
        using var theirs = new Descriptor((int)descriptor, owns: false);
        return LocalSocket.ProcessOf(theirs);
    }

    public override void Close()
    {
        try
        {
            NativeMethods.ChannelClose(_handle);
        }
        catch (ObjectDisposedException)
        {
            // Dispose has closed it already.
        }
        EndWaits();
    }

    /// <summary>Asynchronous operations find out that the channel is closed, and nothing is waited for any more.</summary>
    partial void EndWaits();

    protected override void Dispose(bool disposing)
    {
        Close();
        if (!_gate.TryEnd())
            return;
        if (RunsHandlerHere)
            _disposedInside = true;
        else
            GiveAllBack();
    }

    private void GiveAllBack()
    {
        _gate.AwaitEmpty();
        _handle.Dispose();
    }

    private protected override void BeginServing()
    {
        if (!_gate.TryEnterBeside())
            throw DisposedHere();
    }

    private protected override void EndServing()
    {
        _gate.LeaveBeside();
        // The handler was this thread's: whoever ended the channel in it is out.
        if (_disposedInside)
            GiveAllBack();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Enter(ref Door door)
    {
        var byTheDoor = _gate.Enter(ref door);
        if (_gate.HasEnded)
            Refuse(ref door, byTheDoor);
        return byTheDoor;
    }

    [DoesNotReturn]
    private void Refuse(ref Door door, bool byTheDoor)
    {
        _gate.Leave(ref door, byTheDoor);
        throw DisposedHere();
    }

    private static IpcException DisposedHere() =>
        new(IpcStatus.Closed, "this channel was disposed here: connect or accept again for a new one");

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static nuint Size(int length)
    {
        if (length < 0)
            ThrowNegative(length);
        return (nuint)length;
    }

    [DoesNotReturn]
    private static void ThrowNegative(int length) =>
        throw new IpcException(IpcStatus.InvalidArgument, $"a message cannot have {length} bytes: give a length of 0 or more");
}
