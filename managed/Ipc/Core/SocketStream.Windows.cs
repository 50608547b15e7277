using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A connected stream socket; owns it. Receiving is overlapped; sending does not wait in the system, so that it is known what
/// has left, but for the event that tells of room. Twin of native/src/win32/socket_stream.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsSocketStream : ByteStream
{
    private const int IoPending = 997, Aborted = 995; // WSA_IO_PENDING, WSA_OPERATION_ABORTED

    private readonly Socket _socket;
    private readonly nint _handle;
    private readonly Win32Handle _interrupt = Win32.CreateEvent();
    private readonly Win32Handle _recall = Win32.CreateEvent();   // set while nobody is to wait in Receive
    private readonly Win32Handle _received = Win32.CreateEvent(); // the receiving thread's
    private readonly Win32Handle _room = Win32.CreateEvent();     // the sending thread's
    private int _interrupted;

    public WindowsSocketStream(Socket socket)
    {
        _socket = socket;
        _handle = socket.Handle;
        // From now on the socket never waits by itself.
        if (Win32.SelectEvents(_handle, _room, Win32.FD_WRITE | Win32.FD_CLOSE) != 0)
            throw Win32.Failure(IpcStatus.System, "cannot watch a socket", Win32.LastError);
    }

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        if (Volatile.Read(ref _interrupted) != 0)
            return 0;
        fixed (byte* p = buffer)
        {
            var room = new Win32.SocketBuffer { Length = (uint)buffer.Length, Data = p };
            var operation = new NativeOverlapped { EventHandle = _received.DangerousGetHandle() };
            uint flags = 0;
            var waited = Win32.WAIT_OBJECT_0 + 1;
            if (Win32.ReceiveSocket(_handle, &room, 1, null, &flags, &operation, null) != 0)
            {
                var error = Win32.LastError;
                if (error != IoPending)
                    return Failed(error, "receive from");
                waited = WaitFor(operation.EventHandle, deadline);
                if (waited != Win32.WAIT_OBJECT_0 + 1)
                    _ = Win32.CancelSocket(_handle, &operation);
            }
            uint count;
            if (Win32.GetSocketResult(_handle, &operation, &count, 1, &flags) != 0)
                return (int)count;
            var failure = Win32.LastError;
            return failure != Aborted ? Failed(failure, "receive from") : waited == Win32.WAIT_OBJECT_0 ? 0 : TimedOut;
        }
    }

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var pieces = stackalloc Win32.SocketBuffer[2];
        var events = stackalloc nint[] { _interrupt.DangerousGetHandle(), _room.DangerousGetHandle() };
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
                    return Failed(error, "send to");
                if (!Win32.WaitForSocket(events, 2, deadline))
                    return TimedOut;
            }
            return 0;
        }
    }

    private uint WaitFor(nint happened, Deadline deadline)
    {
        var events = stackalloc nint[] { _interrupt.DangerousGetHandle(), happened, _recall.DangerousGetHandle() };
        return Win32.WaitForAny(events, 3, deadline);
    }

    private static int Failed(int error, string tried) => (SocketError)error switch
    {
        SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.NetworkReset or SocketError.Shutdown or SocketError.Disconnecting or
            SocketError.TimedOut => 0,
        _ => throw Win32.Failure(IpcStatus.System, $"cannot {tried} the peer", error),
    };

    public override bool InterruptReceiving(bool on)
    {
        Win32.SetOrReset(_recall, on);
        return true;
    }

    public override void Interrupt()
    {
        if (Interlocked.Exchange(ref _interrupted, 1) != 0)
            return;
        _ = Win32.SetEvent(_interrupt);
        try
        {
            _socket.Shutdown(SocketShutdown.Both);
        }
        catch (SocketException)
        {
            // The peer has ended it already.
        }
    }

    public override void Dispose()
    {
        _socket.Dispose();
        _interrupt.Dispose();
        _recall.Dispose();
        _received.Dispose();
        _room.Dispose();
    }
}
