using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A message on its way into a pipe while no thread waits for that. The sending half's, but for what says otherwise.</summary>
/// <remarks>It goes in fragments, because the system may have to keep all of a write in memory of its own; of a pipe that keeps messages apart, in one. A
/// write cannot be taken back: what was begun goes on, or breaks the channel.</remarks>
[SupportedOSPlatform("windows")]
internal sealed unsafe class SendAhead : NamedReadiness, IDisposable
{
    private const int LeastRoom = 4096;
    private const int KeptRoom = 64 * 1024;   // a longer message's is given back when it is out

    private enum Step { Nothing, Given, Begun, Failed }

    private readonly PipeStream _pipe;
    private readonly int _longestFragment;
    private readonly Win32Handle _over = Win32.CreateEvent();
    private readonly NativeOverlapped* _operation = (NativeOverlapped*)NativeMemory.AllocZeroed((nuint)sizeof(NativeOverlapped));
    private readonly Lock _lock = new(); // guards the next three: the thread that begins, and the end
    private EventWait? _wait;
    private volatile Step _step;
    private bool _isFreed;
    private int _error; // why it could not be begun

    private byte* _message; // the system reads it
    private int _room;
    private int _length;
    private int _sent;

    public SendAhead(PipeStream pipe, int longestFragment) => (_pipe, _longestFragment) = (pipe, longestFragment);

    ~SendAhead() => End();

    private bool IsOver => _step switch
    {
        Step.Begun => Volatile.Read(ref _operation->InternalLow) != Win32.STATUS_PENDING,
        Step.Given => false,
        _ => true,
    };

    /// <summary>Takes a message, of which a copy is kept; the one before it must be out.</summary>
    public void Take(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body)
    {
        (_length, _sent) = (head.Length + body.Length, 0);
        if (_length > _room)
        {
            FreeRoom();
            var room = Math.Max(_length, LeastRoom);
            _message = (byte*)NativeMemory.Alloc((nuint)room);
            _room = room;
        }
        head.CopyTo(new Span<byte>(_message, head.Length));
        body.CopyTo(new Span<byte>(_message + head.Length, body.Length));
        BeginFragment();
    }

    /// <summary>Goes on with it. The length once all of it is in the pipe, 0 when nobody reads any more, or <see cref="ByteStream.TimedOut"/>.</summary>
    public int GoOn()
    {
        while (_sent < _length)
        {
            if (_step == Step.Nothing)
                BeginFragment();
            if (!IsOver)
                return ByteStream.TimedOut;
            var error = _step == Step.Failed ? _error : 0;
            _step = Step.Nothing;
            var count = _pipe.ResultOfSend(_operation, error);
            if (count <= 0)
                return 0;
            _sent += count;
        }
        if (_room > KeptRoom)
            FreeRoom();
        return _length;
    }

    private void BeginFragment()
    {
        _step = Step.Given;
        PipeWriteThread.Begin(this);
    }

    private void FreeRoom()
    {
        NativeMemory.Free(_message);
        _message = null;
        _room = 0;
    }

    /// <summary>For the thread that begins: what is to be told of is told here if it is over at once, and otherwise by the event.</summary>
    public void Begin()
    {
        lock (_lock)
        {
            if (_isFreed)
                return;
            *_operation = new NativeOverlapped { EventHandle = _over.DangerousGetHandle(), InternalLow = Win32.STATUS_PENDING };
            _error = _pipe.BeginSend(_message + _sent, Math.Min(_length - _sent, _longestFragment), _operation);
            _step = _error is 0 or Win32.ERROR_IO_PENDING ? Step.Begun : Step.Failed;
            _wait?.Dispose();
            _wait = IsOver ? null : new EventWait(_over, WaitingOperation.Wake, Waiting, once: true);
            if (_wait is not null)
                return;
        }
        Waiting.Take()?.Wake();
    }

    protected override bool Watch(ChannelOperation operation) => IsOver;

    /// <summary>Gives up what is under way. Any thread.</summary>
    public void Cancel()
    {
        lock (_lock)
        {
            if (!_isFreed && !IsOver && _step == Step.Begun)
                _pipe.CancelSend(_operation);
        }
    }

    /// <summary>Nobody sends any more.</summary>
    public void Dispose()
    {
        End();
        GC.SuppressFinalize(this);
    }

    private void End()
    {
        Cancel();
        _ = SpinWait.SpinUntil(() => _step != Step.Begun || IsOver, OverlappedStream.LongestEndMilliseconds);
        lock (_lock)
        {
            if (_isFreed)
                return;
            _isFreed = true;
            _wait?.Dispose();
            // What the system has not given up by then it may still use.
            if (_step == Step.Begun && !IsOver)
                return;
            NativeMemory.Free(_operation);
            FreeRoom();
        }
        _over.Dispose();
    }
}
