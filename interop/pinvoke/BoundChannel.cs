using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>A channel of the native library. Spans given out point into its memory; nothing is allocated per message.</summary>
/// <remarks>
/// Lifetime: the safe handle frees the native channel on Dispose, or from its finalizer when the channel is forgotten. Calls use
/// the bare pointer beside it, because a safe handle's reference count would cost two interlocked operations per message.
/// That is sound for two reasons. Dispose must not run while another thread is inside a call (the contract of
/// <see cref="Channel"/>), so nobody frees the channel under a call; and GC.KeepAlive after each call, which costs nothing, keeps
/// the finalizer from doing it. <see cref="Close"/>, which may run at any time, goes through the safe handle.
/// </remarks>
internal sealed unsafe class BoundChannel : Channel
{
    private readonly ChannelHandle _handle;
    private NativeChannel* _channel;

    /// <summary>Takes ownership of the native channel.</summary>
    public BoundChannel(NativeChannel* channel)
    {
        _handle = new ChannelHandle(channel);
        _channel = channel;
        // A message longer than a span can be is out of reach here, whatever the address allows.
        Limit = (int)Math.Min((ulong)NativeMethods.ChannelLimit(channel), int.MaxValue);
    }

    public override int Limit { get; }

    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Forever)
    {
        Status status;
        fixed (byte* bytes = message)
            status = NativeMethods.Send(Open(), bytes, (nuint)message.Length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Forever)
    {
        nuint length;
        Status status;
        fixed (byte* bytes = buffer)
            status = NativeMethods.Receive(Open(), bytes, (nuint)buffer.Length, &length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return (int)length;
    }

    public override Span<byte> Reserve(int length, int timeoutMilliseconds = Forever)
    {
        byte* room;
        var status = NativeMethods.Reserve(Open(), Size(length), &room, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return new Span<byte>(room, length);
    }

    public override void Commit(int length, int timeoutMilliseconds = Forever)
    {
        var status = NativeMethods.Commit(Open(), Size(length), timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override void Cancel()
    {
        var status = NativeMethods.Cancel(Open());
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Forever)
    {
        byte* message;
        nuint length;
        var status = NativeMethods.Peek(Open(), &message, &length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(message, NativeStatus.Length(length));
    }

    public override void Release()
    {
        var status = NativeMethods.Release(Open());
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Forever)
    {
        CheckBatch(messages, lengths);
        nuint sent;
        Status status;
        fixed (byte* bytes = messages)
        fixed (int* sizes = lengths)
            status = NativeMethods.SendBatch(Open(), bytes, (uint*)sizes, (nuint)lengths.Length, &sent, timeoutMilliseconds);
        GC.KeepAlive(this);
        // Those before a time-out are out; a channel it broke says so in the next call.
        if (status != Status.TimedOut)
            NativeStatus.Check(status);
        return (int)sent;
    }

    public override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Forever)
    {
        nuint count;
        Status status;
        fixed (byte* bytes = buffer)
        fixed (int* sizes = lengths)
        {
            status = NativeMethods.ReceiveBatch(Open(), bytes, (nuint)buffer.Length, (uint*)sizes, (nuint)lengths.Length,
                &count, timeoutMilliseconds);
        }
        GC.KeepAlive(this);
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
                throw new IpcException(Status.InvalidArgument, $"SendBatch: the lengths say more than the {messages.Length} bytes given");
        }
    }

    public override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Forever)
    {
        nuint length;
        Status status;
        fixed (byte* requestBytes = request, replyBytes = reply)
        {
            status = NativeMethods.Call(Open(), requestBytes, (nuint)request.Length, replyBytes, (nuint)reply.Length,
                &length, timeoutMilliseconds);
        }
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return (int)length;
    }

    public override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Forever)
    {
        nuint length;
        Status status;
        fixed (byte* bytes = reply)
            status = NativeMethods.ReceiveReply(Open(), bytes, (nuint)reply.Length, &length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return (int)length;
    }

    public override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Forever)
    {
        byte* reply;
        nuint length;
        Status status;
        fixed (byte* bytes = request)
            status = NativeMethods.CallPeek(Open(), bytes, (nuint)request.Length, &reply, &length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(reply, NativeStatus.Length(length));
    }

    public override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Forever)
    {
        byte* request;
        nuint length;
        var status = NativeMethods.ReceiveRequest(Open(), &request, &length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return new ReadOnlySpan<byte>(request, NativeStatus.Length(length));
    }

    public override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Forever)
    {
        Status status;
        fixed (byte* bytes = reply)
            status = NativeMethods.Reply(Open(), bytes, (nuint)reply.Length, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override Span<byte> ReserveReply(int length, int timeoutMilliseconds = Forever)
    {
        byte* room;
        var status = NativeMethods.ReserveReply(Open(), Size(length), &room, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
        return new Span<byte>(room, length);
    }

    public override void CommitReply(int length, int timeoutMilliseconds = Forever)
    {
        var status = NativeMethods.CommitReply(Open(), Size(length), timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
    }

    public override void FailRequest(string text, int timeoutMilliseconds = Forever)
    {
        ArgumentNullException.ThrowIfNull(text);
        var status = NativeMethods.FailRequest(Open(), text, timeoutMilliseconds);
        GC.KeepAlive(this);
        NativeStatus.Check(status);
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
    }

    protected override void Dispose(bool disposing)
    {
        // The field goes first: a call that comes after Dispose finds null and says so instead of using freed memory.
        _channel = null;
        _handle.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private NativeChannel* Open()
    {
        if (_channel == null)
            ThrowDisposed();
        return _channel;
    }

    [DoesNotReturn]
    private static void ThrowDisposed() =>
        throw new IpcException(Status.Closed, "this channel was disposed here: connect or accept again for a new one");

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static nuint Size(int length)
    {
        if (length < 0)
            ThrowNegative(length);
        return (nuint)length;
    }

    [DoesNotReturn]
    private static void ThrowNegative(int length) =>
        throw new IpcException(Status.InvalidArgument, $"a message cannot have {length} bytes: give a length of 0 or more");
}
