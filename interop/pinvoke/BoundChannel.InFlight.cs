namespace Ipc.Native;

/// <summary>Many calls in flight.</summary>
internal sealed unsafe partial class BoundChannel
{
    public override void Submit(ReadOnlySpan<byte> request, ulong tag, int timeoutMilliseconds = Timeout.Infinite)
    {
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        fixed (byte* bytes = request)
            status = NativeMethods.Submit(_channel, bytes, (nuint)request.Length, tag, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
    }

    public override bool TryComplete(Span<byte> reply, out IpcCompletion completion, int timeoutMilliseconds = 0)
    {
        ulong tag;
        IpcStatus outcome, status;
        nuint length;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        fixed (byte* bytes = reply)
            status = NativeMethods.Complete(_channel, &tag, &outcome, bytes, (nuint)reply.Length, &length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        if (status == IpcStatus.BufferTooSmall)
            (status, outcome) = (IpcStatus.Ok, IpcStatus.BufferTooSmall);
        completion = default;
        if (status == IpcStatus.TimedOut && timeoutMilliseconds >= 0)
            return false;
        NativeStatus.Check(status);
        completion = new IpcCompletion(tag, outcome, NativeStatus.Length(length), outcome == IpcStatus.Ok ? "" : NativeStatus.LastMessage());
        return true;
    }

    public override ulong DeferRequest()
    {
        ulong token;
        var byTheDoor = Enter(ref _gate.Doors.Receiver);
        var status = NativeMethods.DeferRequest(_channel, &token);
        _gate.Leave(ref _gate.Doors.Receiver, byTheDoor);
        NativeStatus.Check(status);
        return token;
    }

    public override void ReplyDeferred(ulong token, ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite)
    {
        IpcStatus status;
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        fixed (byte* bytes = reply)
            status = NativeMethods.ReplyDeferred(_channel, token, bytes, (nuint)reply.Length, timeoutMilliseconds);
        _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        NativeStatus.Check(status);
    }

    public override void FailDeferred(ulong token, string text, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(text);
        var byTheDoor = Enter(ref _gate.Doors.Sender);
        IpcStatus status;
        try
        {
            status = NativeMethods.FailDeferred(_channel, token, text, timeoutMilliseconds); // its text may find no memory
        }
        finally
        {
            _gate.Leave(ref _gate.Doors.Sender, byTheDoor);
        }
        NativeStatus.Check(status);
    }
}
