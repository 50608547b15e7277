using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A receive that goes on in the system while no thread waits for it. What it brings lies here until the stream is asked for it. The receiving
/// half's, but for what says otherwise.</summary>
/// <remarks>The system gives an operation up when the thread that began it ends, as threads of the pool do: that is told as any end is, nothing has come,
/// and the next wait begins another one.</remarks>
[SupportedOSPlatform("windows")]
internal sealed unsafe class ReceiveAhead : NamedReadiness, IDisposable
{
    private const int RoomSize = 4096;

    private readonly OverlappedStream _stream;
    private readonly Win32Handle _over = Win32.CreateAutoResetEvent();
    private readonly EventWait? _wait;
    private readonly ReceiveOperation* _operation; // and behind it the room; the system writes to both
    private readonly Lock _endLock = new(); // guards the next
    private bool _isFreed;
    private bool _begun; // its result has not been taken
    private int _from;   // what has come and was not taken stands in the room, up to the next
    private int _to;

    public ReceiveAhead(OverlappedStream stream)
    {
        _stream = stream;
        _operation = (ReceiveOperation*)NativeMemory.AllocZeroed((nuint)(sizeof(ReceiveOperation) + RoomSize));
        _operation->Overlapped.EventHandle = _over.DangerousGetHandle();
        _wait = new EventWait(_over, WaitingOperation.Wake, Waiting, once: false);
    }

    ~ReceiveAhead() => End();

    private byte* Room => (byte*)(_operation + 1);

    private bool IsUnderWay => Volatile.Read(ref _operation->Overlapped.InternalLow) == Win32.STATUS_PENDING;

    protected override bool Watch(ChannelOperation operation)
    {
        // Of what is over already nobody may tell any more.
        var isOver = !IsBegun();
        if (isOver)
            operation.Wake();
        return isOver;
    }

    // True: something is under way.
    private bool IsBegun()
    {
        if (_begun || _from < _to)
            return _begun && IsUnderWay;
        _operation->Overlapped.InternalLow = Win32.STATUS_PENDING;
        var error = _stream.BeginReceive(Room, RoomSize, _operation);
        _begun = error is 0 or Win32.ERROR_MORE_DATA or Win32.ERROR_IO_PENDING;
        if (!_begun)
            _operation->Overlapped.InternalLow = 0; // receiving tells why it cannot
        return _begun && IsUnderWay;
    }

    /// <summary>As <see cref="ByteStream.Receive"/>, of what has come; null: there is nothing, nor anything under way.</summary>
    public int? Take(Span<byte> buffer, Deadline deadline)
    {
        if (_begun)
        {
            if (IsUnderWay)
            {
                if (deadline.IsNow)
                    return ByteStream.TimedOut;
                // Whose thread waits receives by an operation of its own.
                Cancel();
                if (!IsOverSoon())
                    return ByteStream.TimedOut;
            }
            _begun = false;
            var count = _stream.ResultOf(_operation);
            if (count == ByteStream.TimedOut)
                return null;
            if (count == 0)
                return 0;
            (_from, _to) = (0, count);
        }
        if (_from == _to)
            return null;
        var given = Math.Min(buffer.Length, _to - _from);
        new ReadOnlySpan<byte>(Room + _from, given).CopyTo(buffer);
        _from += given;
        return given;
    }

    /// <summary>Gives up what is under way. Any thread, any time.</summary>
    public void Cancel()
    {
        lock (_endLock)
        {
            if (!_isFreed && IsUnderWay)
                _stream.CancelReceive(_operation);
        }
    }

    private bool IsOverSoon() => SpinWait.SpinUntil(() => !IsUnderWay, OverlappedStream.LongestEndMilliseconds);

    /// <summary>Nobody receives any more.</summary>
    public void Dispose()
    {
        End();
        GC.SuppressFinalize(this);
    }

    private void End()
    {
        if (_wait is null)
            return; // it was not made whole
        _wait.Dispose();
        Cancel();
        // What the system does not give up by then it may still write to.
        if (IsOverSoon())
        {
            lock (_endLock)
            {
                NativeMemory.Free(_operation);
                _isFreed = true;
            }
        }
        _over.Dispose();
    }
}
