using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A connected stream socket; owns it. The socket stays in blocking mode, so that a message costs one system call;
/// the time-outs are the socket's own and set again only when they change.</summary>
/// <param name="socket">The socket.</param>
/// <param name="peerGone">Called when the peer has gone.</param>
/// <param name="longestSend">How long, in milliseconds, a call that sends blocks before it looks if the peer has closed. Over TCP a peer that closes and
/// keeps its socket only says that it sends no more, which wakes nobody who waits for room.</param>
[SupportedOSPlatform("linux")]
internal unsafe class SocketStream(Descriptor socket, Action<Deadline>? peerGone = null, int longestSend = Timeout.Infinite) : ByteStream
{
    protected Descriptor Socket => socket;

    private int _receiveTimeout = Timeout.Infinite;
    private int _sendTimeout = Timeout.Infinite;

    public override (Descriptor Receiving, Descriptor Sending)? Descriptors => (socket, socket);

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        try
        {
            fixed (byte* p = buffer)
                return Receive(p, buffer.Length, all ? Libc.MSG_WAITALL : 0, deadline);
        }
        catch (ObjectDisposedException)
        {
            return 0; // closed here, between two system calls
        }
    }

    private int Receive(byte* buffer, int length, int flags, Deadline deadline)
    {
        while (true)
        {
            var left = deadline.LeftMilliseconds;
            if (left == 0)
                flags = Libc.MSG_DONTWAIT;
            else if (left != _receiveTimeout)
                LocalSocket.SetTimeout(socket, Libc.SO_RCVTIMEO, _receiveTimeout = left);
            var count = Libc.Receive(socket, buffer, (nuint)length, flags);
            if (count >= 0)
                return (int)count;
            if (AfterFailure(Libc.LastError, "receive from", left == 0 || deadline.Expired) is { } result)
                return result;
        }
    }

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var vectors = stackalloc Libc.IoVector[2];
        try
        {
            fixed (byte* h = head)
            fixed (byte* b = body)
            {
                vectors[0] = new Libc.IoVector { Base = h, Length = (nuint)head.Length };
                vectors[1] = new Libc.IoVector { Base = b, Length = (nuint)body.Length };
                var message = new Libc.MessageHeader { Vectors = vectors, VectorCount = body.IsEmpty ? 1u : 2u };
                return Send(&message, deadline);
            }
        }
        catch (ObjectDisposedException)
        {
            return 0; // closed here, between two system calls
        }
    }

    private int Send(Libc.MessageHeader* message, Deadline deadline)
    {
        while (true)
        {
            var left = deadline.LeftMilliseconds;
            var flags = Libc.MSG_NOSIGNAL;
            if (longestSend >= 0 && (left < 0 || left > longestSend))
                left = longestSend;
            if (left == 0)
                flags |= Libc.MSG_DONTWAIT;
            else if (left != _sendTimeout)
                LocalSocket.SetTimeout(socket, Libc.SO_SNDTIMEO, _sendTimeout = left);
            var count = Libc.SendMessage(socket, message, flags);
            if (count >= 0)
                return (int)count;
            var error = Libc.LastError;
            if (error == Libc.EAGAIN && LocalSocket.PeerHasEnded(socket))
                return 0;
            if (AfterFailure(error, "send to", left == 0 || deadline.Expired) is { } result)
                return result;
        }
    }

    // What a failed system call amounts to; null: try again.
    private static int? AfterFailure(int error, string tried, bool expired) => error switch
    {
        Libc.EINTR => null,
        Libc.EAGAIN => expired ? TimedOut : null,
        Libc.EPIPE or Libc.ECONNRESET or Libc.ETIMEDOUT or Libc.EHOSTUNREACH or Libc.ENETUNREACH => 0,
        _ => throw Libc.Failure(IpcStatus.System, $"cannot {tried} the peer", error),
    };

    public override void Interrupt()
    {
        // Wakes whoever is blocked, here and there; the descriptor goes when they have left their system calls. Over TCP a
        // peer that still sends learns of the end only then.
        LocalSocket.ShutDown(socket);
        socket.Dispose();
    }

    public override void PeerGone(Deadline deadline) => peerGone?.Invoke(deadline);

    public override void Dispose() => socket.Dispose();
}
