namespace Ipc;

/// <summary>A connected stream of bytes both ways, as sockets and pairs of FIFOs give; <see cref="StreamChannel"/> makes frames
/// of it. One thread receives and one sends at a time; Interrupt comes from any thread.</summary>
internal abstract class ByteStream : IDisposable
{
    /// <summary>What Receive and Send return when the deadline has passed.</summary>
    public const int TimedOut = -1;

    /// <summary>Receives at least one byte; 0 at the end of the stream, which a reset connection also is.
    /// <paramref name="all"/>: exactly the buffer's length is still to come, so fewer, longer waits are better.</summary>
    public abstract int Receive(Span<byte> buffer, bool all, Deadline deadline);

    /// <summary>Sends some of head and, behind it, of body in one system call; how many bytes, or 0 when nobody reads any more.</summary>
    public abstract int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline);

    /// <summary>What is readable, and what is writable, when one can go on; null if nothing tells. The stream's own.</summary>
    public virtual (Descriptor Receiving, Descriptor Sending)? Descriptors => null;

    /// <summary>Ends the stream both ways: the peer reads what was sent and then the end, and whoever is blocked here returns
    /// within 100 ms. May come more than once.</summary>
    public abstract void Interrupt();

    /// <summary>Whether it is known after a time-out how much of a Send has gone, so that the next one can go on.</summary>
    public virtual bool GoesOnSending => true;

    /// <summary>The peer ended the stream: a client may find its server dead and clear its name away. Never throws, nor outlasts the deadline by more
    /// than some milliseconds.</summary>
    public virtual void PeerGone(Deadline deadline) { }

    public abstract void Dispose();
}
