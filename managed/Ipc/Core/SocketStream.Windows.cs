using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A connected stream socket; owns it. Receiving is overlapped; sending does not wait in the system, so that it is known what
/// has left, but for the event that tells of room. Twin of native/src/win32/socket_stream.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe partial class WindowsSocketStream : OverlappedStream
{
    private readonly Socket _socket;
    private readonly nint _handle;
    private readonly Win32Handle _room = Win32.CreateEvent(); // the sending thread's
    private int _interrupted;

    public WindowsSocketStream(Socket socket)
    {
        _socket = socket;
        _handle = socket.Handle;
        // From now on the socket never waits by itself.
        if (Win32.SelectEvents(_handle, _room, Win32.FD_WRITE | Win32.FD_CLOSE) != 0)
            throw Win32.Failure(IpcStatus.System, "cannot watch a socket", Win32.LastError);
    }

    protected override int ReceiveNow(byte* buffer, int length, ReceiveOperation* operation, Deadline deadline)
    {
        if (Volatile.Read(ref _interrupted) != 0)
            return 0;
        var isInterrupted = false;
        var error = BeginReceive(buffer, length, operation);
        if (error == Win32.ERROR_IO_PENDING)
        {
            var events = stackalloc nint[] { Interrupted.DangerousGetHandle(), operation->Overlapped.EventHandle };
            var waited = Win32.WaitForAny(events, 2, deadline);
            isInterrupted = waited == Win32.WAIT_OBJECT_0;
            if (waited != Win32.WAIT_OBJECT_0 + 1)
                CancelReceive(operation);
        }
        else if (error != 0)
        {
            return Failed(error, Receiving);
        }
        var count = ResultOf(operation);
        return count == TimedOut && isInterrupted ? 0 : count;
    }

    protected internal override int BeginReceive(byte* buffer, int length, ReceiveOperation* operation)
    {
        var room = new Win32.SocketBuffer { Length = (uint)length, Data = buffer };
        operation->Flags = 0;
        return Win32.ReceiveSocket(_handle, &room, 1, null, &operation->Flags, &operation->Overlapped, null) == 0 ? 0 : Win32.LastError;
    }

    protected internal override int ResultOf(ReceiveOperation* operation)
    {
        uint count;
        if (Win32.GetSocketResult(_handle, &operation->Overlapped, &count, 1, &operation->Flags) != 0)
            return (int)count;
        return Win32.LastError is var error && error != Win32.ERROR_OPERATION_ABORTED ? Failed(error, Receiving) : TimedOut;
    }

    protected internal override void CancelReceive(ReceiveOperation* operation) => _ = Win32.CancelSocket(_handle, &operation->Overlapped);

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var pieces = stackalloc Win32.SocketBuffer[2];
        var events = stackalloc nint[] { Interrupted.DangerousGetHandle(), _room.DangerousGetHandle() };
        fixed (byte* h = head)
        fixed (byte* b = body)
        {
            pieces[0] = new Win32.SocketBuffer { Length = (uint)head.Length, Data = h };
            pieces[1] = new Win32.SocketBuffer { Length = (uint)body.Length, Data = b };
            while (Volatile.Read(ref _interrupted) == 0)
            {
                _ = Win32.ResetEvent(_room);
                uint sent;
                if (Win32.SendSocket(_handle, pieces, body.IsEmpty ? 1u : 2u, &sent, 0, null, null) == 0)
                    return (int)sent;
                var error = Win32.LastError;
                if (error != (int)SocketError.WouldBlock)
                    return Failed(error, Sending);
                if (!Win32.WaitForSocket(events, 2, deadline))
                    return TimedOut;
            }
            return 0;
        }
    }

    private static int Failed(int error, string tried) => (SocketError)error switch
    {
        SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.NetworkReset or SocketError.Shutdown or SocketError.Disconnecting or
            SocketError.TimedOut => 0,
        _ => throw Win32.Failure(IpcStatus.System, $"cannot {tried} the peer", error),
    };

    public override void Interrupt()
    {
        if (Interlocked.Exchange(ref _interrupted, 1) != 0)
            return;
        base.Interrupt();
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (SocketException)
        {
            // The peer has ended it already.
        }
    }

    /// <summary>Nobody waits for room any more.</summary>
    partial void EndRoom();

    public override void Dispose()
    {
        EndRoom();
        base.Dispose();
        _socket.Dispose();
        _room.Dispose();
    }
}
