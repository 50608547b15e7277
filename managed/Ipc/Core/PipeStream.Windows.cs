using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A connected, overlapped named pipe; owns it. In message mode each Send is one message of the pipe, and receiving does not
/// care where messages end: frames say so themselves. Twin of native/src/win32/pipe_stream.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe partial class PipeStream(Win32Handle pipe, PipeMode mode) : OverlappedStream
{
    // One write takes at most so much, because the system may have to keep all of it in memory of its own.
    private static int LargestFragment { get; } = Win32.MostAtOnce(1024 * 1024);

    private readonly Win32Handle _sent = Win32.CreateEvent();   // the sending thread's
    private byte[] _message = [];                               // the sending thread's: a message's fragments side by side
    private bool _cut;                                          // the sending thread's: what was sent last may have been read in part

    protected override int ReceiveNow(byte* buffer, int length, ReceiveOperation* operation, Deadline deadline)
    {
        if (!pipe.TryAddRef())
            return 0; // closed here
        try
        {
            // A write of nothing at all arrives as nothing, and is not the end.
            while (true)
            {
                var error = BeginReceive(buffer, length, operation);
                if (Finish(&operation->Overlapped, error, deadline, Receiving) is var count && count != 0)
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

    protected internal override int BeginReceive(byte* buffer, int length, ReceiveOperation* operation)
    {
        if (!pipe.TryAddRef())
            return Win32.ERROR_PIPE_NOT_CONNECTED; // closed here
        var error = Win32.ReadFile(pipe, buffer, (uint)length, null, &operation->Overlapped) != 0 ? 0 : Win32.LastError;
        pipe.DangerousRelease();
        return error;
    }

    protected internal override int ResultOf(ReceiveOperation* operation)
    {
        if (!pipe.TryAddRef())
            return 0; // closed here
        try
        {
            // A write of nothing at all arrives as nothing, and is not the end.
            return ResultOf(&operation->Overlapped, Receiving) is var count && count > 0 ? count : count == Ended ? 0 : TimedOut;
        }
        finally
        {
            pipe.DangerousRelease();
        }
    }

    protected internal override void CancelReceive(ReceiveOperation* operation) => Cancel(&operation->Overlapped);

    private void Cancel(NativeOverlapped* operation)
    {
        if (!pipe.TryAddRef())
            return; // closed here, which cancels it
        _ = Win32.CancelIoEx(pipe, operation);
        pipe.DangerousRelease();
    }

    // Waits for an operation that was begun with this result: a number of bytes, TimedOut or Ended. When the time is over, or the
    // stream interrupted, the operation is cancelled; one that was done by then counts.
    private int Finish(NativeOverlapped* operation, int error, Deadline deadline, string tried)
    {
        var isInterrupted = false;
        if (error == Win32.ERROR_IO_PENDING)
        {
            var events = stackalloc nint[] { Interrupted.DangerousGetHandle(), operation->EventHandle };
            var waited = Win32.WaitForAny(events, 2, deadline);
            isInterrupted = waited == Win32.WAIT_OBJECT_0;
            if (waited != Win32.WAIT_OBJECT_0 + 1)
                _ = Win32.CancelIoEx(pipe, operation);
        }
        else if (error is not (0 or Win32.ERROR_MORE_DATA))
        {
            return Failed(error, tried);
        }
        var count = ResultOf(operation, tried);
        return count == TimedOut && isInterrupted ? Ended : count;
    }

    // Of an operation that is over or will be at once: a number of bytes, TimedOut if it was cancelled, or Ended.
    private int ResultOf(NativeOverlapped* operation, string tried)
    {
        uint count;
        if (Win32.GetOverlappedResult(pipe, operation, &count, 1) != 0)
            return (int)count;
        return Win32.LastError switch
        {
            Win32.ERROR_MORE_DATA => (int)count, // the message's rest is read next
            Win32.ERROR_OPERATION_ABORTED => TimedOut,
            var error => Failed(error, tried),
        };
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
            var count = Finish(&operation, error, deadline, Sending);
            _cut = count == TimedOut;
            return count;
        }
    }

    public override bool GoesOnSending => false;

    /// <summary>Cancels what nobody waits for. Any thread.</summary>
    partial void CancelSendAhead();

    /// <summary>Ends it, and waits for its end.</summary>
    partial void EndSendAhead();

    public override void Interrupt()
    {
        // A pipe has no shutdown: its end comes when the last thread has left it.
        base.Interrupt();
        CancelSendAhead();
        pipe.Dispose();
    }

    public override void Dispose()
    {
        EndSendAhead();
        base.Dispose();
        pipe.Dispose();
        _sent.Dispose();
    }
}
