using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A connected, overlapped named pipe; owns it. In message mode each Send is one message of the pipe, and receiving does not
/// care where messages end: frames say so themselves. Twin of native/src/win32/pipe_stream.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class PipeStream(Win32Handle pipe, PipeMode mode) : ByteStream
{
    // One write takes at most so much, because the system may have to keep all of it in memory of its own.
    private const int LargestFragment = 1024 * 1024;

    private readonly Win32Handle _interrupt = Win32.CreateEvent();
    private readonly Win32Handle _recall = Win32.CreateEvent();   // set while nobody is to wait in Receive
    private readonly Win32Handle _giveUp = Win32.CreateEvent();   // set while nobody is to wait in Send
    private readonly Win32Handle _received = Win32.CreateEvent(); // the receiving thread's
    private readonly Win32Handle _sent = Win32.CreateEvent();     // the sending thread's
    private byte[] _message = [];                                 // the sending thread's: a message's fragments side by side
    private bool _cut;                                            // the sending thread's: what was sent last may have been read in part

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        if (!pipe.TryAddRef())
            return 0; // closed here
        try
        {
            // A write of nothing at all arrives as nothing, and is not the end.
            while (true)
            {
                if (ReceiveOnce(buffer, deadline) is var count && count != 0)
                    return count > 0 ? count : count == Ended ? 0 : TimedOut;
            }
        }
        finally
        {
            pipe.DangerousRelease();
        }
    }

    // What an operation came to, when it was not a number of bytes.
    private const int Ended = -2;

    private int ReceiveOnce(Span<byte> buffer, Deadline deadline)
    {
        fixed (byte* p = buffer)
        {
            var operation = new NativeOverlapped { EventHandle = _received.DangerousGetHandle() };
            var error = Win32.ReadFile(pipe, p, (uint)buffer.Length, null, &operation) != 0 ? 0 : Win32.LastError;
            return Finish(&operation, error, deadline, "receive from", _recall);
        }
    }

    // Waits for an operation that was begun with this result: a number of bytes, TimedOut or Ended. When the time is over, the
    // stream interrupted or the wait called back the operation is cancelled; one that was done by then counts.
    private int Finish(NativeOverlapped* operation, int error, Deadline deadline, string tried, Win32Handle recall)
    {
        var waited = Win32.WAIT_OBJECT_0 + 1;
        if (error == Win32.ERROR_IO_PENDING)
        {
            var events = stackalloc nint[] { _interrupt.DangerousGetHandle(), operation->EventHandle, recall.DangerousGetHandle() };
            waited = Win32.WaitForAny(events, 3, deadline);
            if (waited != Win32.WAIT_OBJECT_0 + 1)
                _ = Win32.CancelIoEx(pipe, operation);
        }
        else if (error is not (0 or Win32.ERROR_MORE_DATA))
        {
            return Failed(error, tried);
        }
        uint count;
        if (Win32.GetOverlappedResult(pipe, operation, &count, 1) != 0)
            return (int)count;
        error = Win32.LastError;
        if (error == Win32.ERROR_MORE_DATA)
            return (int)count; // the message's rest is read next
        if (error != Win32.ERROR_OPERATION_ABORTED)
            return Failed(error, tried);
        return waited == Win32.WAIT_OBJECT_0 ? Ended : TimedOut;
    }

    private static int Failed(int error, string tried) =>
        error is Win32.ERROR_BROKEN_PIPE or Win32.ERROR_NO_DATA or Win32.ERROR_PIPE_NOT_CONNECTED
            ? Ended
            : throw Win32.Failure(IpcStatus.System, $"cannot {tried} the peer", error);

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        if (_cut)
            return TimedOut;
        if (!pipe.TryAddRef())
            return 0; // closed here
        try
        {
            return mode == PipeMode.Message ? SendMessage(head, body, deadline) : SendAll(head, body, deadline);
        }
        finally
        {
            pipe.DangerousRelease();
        }
    }

    private int SendAll(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var sent = 0;
        while (head.Length + body.Length > 0)
        {
            var fragment = head.IsEmpty ? body : head;
            fragment = fragment[..Math.Min(fragment.Length, LargestFragment)];
            var count = SendFragment(fragment, deadline);
            if (count < 0)
                return AfterFailure(count, sent);
            sent += count;
            if (head.IsEmpty)
                body = body[count..];
            else
                head = head[count..];
        }
        return sent;
    }

    private int SendMessage(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var length = head.Length + body.Length;
        if (_message.Length < length)
            _message = GC.AllocateUninitializedArray<byte>(length);
        head.CopyTo(_message);
        body.CopyTo(_message.AsSpan(head.Length));
        var sent = SendFragment(_message.AsSpan(0, length), deadline);
        return sent >= 0 ? sent : AfterFailure(sent, 0);
    }

    // A write that is cancelled while it waits may have been read in part, and the system does not tell: it counts as begun, and
    // the next attempt to go on with it gives up.
    private static int AfterFailure(int result, int sent) => result == Ended ? 0 : Math.Max(sent, 1);

    // All of it, TimedOut (with _cut), or Ended.
    private int SendFragment(ReadOnlySpan<byte> fragment, Deadline deadline)
    {
        fixed (byte* p = fragment)
        {
            var operation = new NativeOverlapped { EventHandle = _sent.DangerousGetHandle() };
            var error = Win32.WriteFile(pipe, p, (uint)fragment.Length, null, &operation) != 0 ? 0 : Win32.LastError;
            var count = Finish(&operation, error, deadline, "send to", _giveUp);
            _cut = count == TimedOut;
            return count;
        }
    }

    public override bool InterruptReceiving(bool on)
    {
        Win32.SetOrReset(_recall, on);
        return true;
    }

    public override bool GoesOnSending => false;

    public override bool InterruptSending(bool on)
    {
        Win32.SetOrReset(_giveUp, on);
        return true;
    }

    public override void Interrupt()
    {
        // A pipe has no shutdown: its end comes when the last thread has left it.
        Win32.SetOrReset(_interrupt, set: true);
        pipe.Dispose();
    }

    public override void Dispose()
    {
        pipe.Dispose();
        _interrupt.Dispose();
        _recall.Dispose();
        _giveUp.Dispose();
        _received.Dispose();
        _sent.Dispose();
    }
}
