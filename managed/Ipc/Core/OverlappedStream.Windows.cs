using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A receive of Windows', to which the system writes until it is over.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct ReceiveOperation
{
    public NativeOverlapped Overlapped;
    /// <summary>Of a socket; the system may write them at the end.</summary>
    public uint Flags;
}

/// <summary>A stream over an overlapped handle of Windows', as pipes and sockets are. Receiving is one overlapped operation after another, which a thread
/// waits for, or nobody: the part for .NET 10.</summary>
[SupportedOSPlatform("windows")]
internal abstract unsafe partial class OverlappedStream : ByteStream
{
    /// <summary>What was tried, for an error message.</summary>
    protected const string Receiving = "receive from", Sending = "send to";

    private readonly Win32Handle _received = Win32.CreateEvent(); // the receiving thread's

    /// <summary>Set once the stream is interrupted.</summary>
    protected Win32Handle Interrupted { get; } = Win32.CreateEvent();

    public sealed override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        int? count = null;
        TakeAhead(buffer, deadline, ref count);
        return count ?? ReceiveNow(buffer, deadline);
    }

    // What came while nobody waited, if there is any.
    partial void TakeAhead(Span<byte> buffer, Deadline deadline, ref int? count);

    private int ReceiveNow(Span<byte> buffer, Deadline deadline)
    {
        fixed (byte* p = buffer)
        {
            var operation = new ReceiveOperation { Overlapped = { EventHandle = _received.DangerousGetHandle() } };
            return ReceiveNow(p, buffer.Length, &operation, deadline);
        }
    }

    /// <summary>As <see cref="ByteStream.Receive"/>, by this operation, whose event is named in it.</summary>
    protected abstract int ReceiveNow(byte* buffer, int length, ReceiveOperation* operation, Deadline deadline);

    /// <summary>Begins to receive. 0 or ERROR_MORE_DATA: it is over already, and the operation's event set; ERROR_IO_PENDING; or why it failed.</summary>
    protected internal abstract int BeginReceive(byte* buffer, int length, ReceiveOperation* operation);

    /// <summary>What has become of an operation that is over, or cancelled: a number of bytes, 0 at the end of the stream, or
    /// <see cref="ByteStream.TimedOut"/> when nothing came.</summary>
    protected internal abstract int ResultOf(ReceiveOperation* operation);

    /// <summary>Cancels an operation, if it is under way. Any thread.</summary>
    protected internal abstract void CancelReceive(ReceiveOperation* operation);

    /// <summary>Cancels what nobody waits for. Any thread.</summary>
    partial void CancelAhead();

    /// <summary>Ends it, and waits for its end.</summary>
    partial void EndAhead();

    public override void Interrupt()
    {
        Win32.SetOrReset(Interrupted, set: true);
        CancelAhead();
    }

    public override void Dispose()
    {
        EndAhead();
        Interrupted.Dispose();
        _received.Dispose();
    }
}
