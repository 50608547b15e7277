using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A pair of open FIFOs as a stream; owns both. Reading without end blocks in one system call; the writer never blocks.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FifoStream : ByteStream
{
    private const int SliceMilliseconds = 50;

    private readonly Descriptor _reading;
    private readonly Descriptor _writing;
    private readonly string? _serverPath;
    private volatile bool _interrupted;
    private volatile bool _nameIsLeft; // the peer has gone, and the server's name has not

    /// <param name="reading">Owned from here on, as <paramref name="writing"/> is.</param>
    /// <param name="writing">The other FIFO.</param>
    /// <param name="serverPath">A client's: its server's handshake FIFO, to clear it away should the server die.</param>
    public FifoStream(Descriptor reading, Descriptor writing, string? serverPath = null)
    {
        (_reading, _writing, _serverPath) = (reading, writing, serverPath);
        if (Libc.FileControl(reading, Libc.F_SETFL, 0) != 0)
            throw Libc.Failure(IpcStatus.System, "cannot make a FIFO wait");
    }

    public override (Descriptor Receiving, Descriptor Sending)? Descriptors => (_reading, _writing);

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        try
        {
            fixed (byte* p = buffer)
                return Receive(p, buffer.Length, deadline);
        }
        catch (ObjectDisposedException)
        {
            return 0; // closed here, between two system calls
        }
    }

    private int Receive(byte* buffer, int length, Deadline deadline)
    {
        while (!_interrupted)
        {
            if (!deadline.Forever && Libc.Poll(_reading, Libc.POLLIN, deadline.LeftMilliseconds) == 0)
            {
                if (deadline.Expired)
                    return TimedOut;
                continue;
            }
            var count = Libc.Read(_reading, buffer, (nuint)length);
            // What arrived may be the byte that Interrupt woke us with: nothing counts any more.
            if (_interrupted)
                return 0;
            if (count >= 0)
                return (int)count;
            if (Libc.LastError is not (Libc.EINTR or Libc.EAGAIN))
                throw Libc.Failure(IpcStatus.System, "cannot read from the peer's FIFO");
        }
        return 0;
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
                return Send(vectors, body.IsEmpty ? 1 : 2, deadline);
            }
        }
        catch (ObjectDisposedException)
        {
            return 0; // closed here, between two system calls
        }
    }

    private int Send(Libc.IoVector* vectors, int count, Deadline deadline)
    {
        while (!_interrupted)
        {
            var sent = Libc.Write(_writing, vectors, count);
            if (sent > 0)
                return (int)sent;
            switch (Libc.LastError)
            {
                case Libc.EINTR:
                    continue;
                case Libc.EAGAIN when deadline.Expired:
                    return TimedOut;
                case Libc.EAGAIN:
                    // In slices, because an interruption by another thread does not end this wait.
                    Libc.Poll(_writing, Libc.POLLOUT, deadline.SliceMilliseconds(SliceMilliseconds));
                    continue;
                case Libc.EPIPE:
                    return 0;
                default:
                    throw Libc.Failure(IpcStatus.System, "cannot write to the peer's FIFO");
            }
        }
        return 0;
    }

    public override void Interrupt()
    {
        _interrupted = true;
        // The descriptors go when nobody is in a system call with them any more; then the peer meets the ends. This one goes first, because
        // waking the reader takes one, and the process may have no other. A sender keeps it for a slice at most.
        _writing.Dispose();
        for (var waited = 0; !WakeReader() && waited < 2 * SliceMilliseconds; waited++)
            Thread.Sleep(1);
        _reading.Dispose();
    }

    // Nothing but a byte ends a blocked read of a FIFO, so we become its writer for a moment. Nobody takes the byte for the
    // peer's: see Receive. False if there is no descriptor for it.
    private bool WakeReader()
    {
        var counted = false;
        try
        {
            _reading.DangerousAddRef(ref counted);
            var path = FormattableString.Invariant($"/proc/self/fd/{_reading.DangerousGetHandle()}");
            using var writer = Libc.Open(path, Libc.O_WRONLY | Libc.O_NONBLOCK);
            if (writer is null && Libc.IsShortage(Libc.LastError))
                return false;
            byte nothing = 0;
            var vector = new Libc.IoVector { Base = &nothing, Length = 1 };
            if (writer is not null)
                _ = Libc.Write(writer, &vector, 1);
            return true;
        }
        catch (ObjectDisposedException)
        {
            return true; // interrupted before: nobody reads any more
        }
        finally
        {
            if (counted)
                _reading.DangerousRelease();
        }
    }

    public override void PeerGone(Deadline deadline)
    {
        if (_serverPath is not null)
            _nameIsLeft = !FifoNames.ForgetDeadServer(_serverPath, deadline);
    }

    public override void Dispose()
    {
        // A process that others keep from the processor may take longer to die than PeerGone waits.
        if (_nameIsLeft)
            FifoNames.ForgetServerIfDead(_serverPath!);
        _nameIsLeft = false;
        _reading.Dispose();
        _writing.Dispose();
    }
}
