using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>The receiver's half.</summary>
internal sealed unsafe partial class ShmChannel
{
    // What Wait finds stays where it is for NextFrame to read.
    protected override bool AwaitFrame(Deadline deadline) => _hasFrame || _toSkip > 0 || _reader.Wait(deadline) != WaitResult.TimedOut;

    protected override FrameInfo NextFrame(Deadline deadline)
    {
        if (_hasFrame)
            return _frame;
        if (_toSkip > 0)
            SkipRest(deadline);
        var result = _reader.Wait(deadline);
        if (result != WaitResult.Ready)
            throw CannotReceive(result, false, deadline);
        if (_reader.IsDamaged || _reader.Kind - 1 > 3 || (_reader.Flags & ShmRingMemory.Continues) != 0)
            throw Damaged();
        _inSeveral = (_reader.Flags & ShmRingMemory.More) != 0;
        var length = _inSeveral ? CheckedTotal() : _reader.Length;
        if (length > MaxMessageLength)
            throw TooLarge((ulong)length);
        // Kept field by field and returned from registers: reading the three fields back as one block would stall on their stores.
        if (_reader.IsInTurn)
            _writer.TurnCame();
        var frame = new FrameInfo((FrameKind)_reader.Kind, _reader.Id, length);
        _frame = frame;
        _hasFrame = true;
        return frame;
    }

    private int CheckedTotal()
    {
        _gathered.Clear();
        if (_reader.TotalLength > (ulong)MaxMessageLength)
            throw TooLarge(_reader.TotalLength);
        return (int)_reader.TotalLength;
    }

    protected override void TakeFrame(Span<byte> buffer, Deadline deadline)
    {
        if (_inSeveral)
        {
            TakeSeveral(buffer, deadline);
            return;
        }
        // The base class gives exactly the room of the frame that NextFrame told of.
        ShmRingMemory.Copy(ref MemoryMarshal.GetReference(_reader.Bytes), ref MemoryMarshal.GetReference(buffer), _frame.Length);
        _reader.Consume();
        _hasFrame = false;
        IsConsumed(_frame.Id);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void IsConsumed(uint id)
    {
        if (id == _awaited)
            _awaited = 0;
    }

    protected override bool TryTakeNext(FrameKind kind, uint id, bool awaited, Span<byte> buffer, out int length)
    {
        if (awaited)
            _reader.Settle();
        length = 0;
        if (_hasFrame || _toSkip != 0)
            return false;
        var room = buffer.Length > MaxMessageLength ? buffer[..MaxMessageLength] : buffer;
        if (!_reader.TryTakeNext((uint)kind, id, awaited, room, out length, out var inTurn))
            return false;
        if (inTurn)
            _writer.TurnCame();
        IsConsumed(id);
        return true;
    }

    protected override bool HasNothingNow() => !_hasFrame && _toSkip == 0 && _reader.HasNothingNow();

    protected override bool TryViewNext(FrameKind kind, bool awaited, out ReadOnlySpan<byte> payload, out uint id)
    {
        if (_hasFrame || _toSkip != 0 || !_reader.TryLook((uint)kind, awaited, MaxMessageLength))
        {
            payload = default;
            id = 0;
            return false;
        }
        if (_reader.IsInTurn)
            _writer.TurnCame();
        id = _reader.Id;
        _inSeveral = false;
        _frame = new FrameInfo(kind, id, _reader.Length);
        _hasFrame = true;
        payload = _reader.Bytes;
        return true;
    }

    protected override bool TryReleaseNow()
    {
        ReleaseFrame();
        return true;
    }

    protected override int TakeMany(Span<byte> buffer, Span<int> lengths) =>
        _hasFrame || _toSkip > 0 ? 0 : _reader.TakeMany((uint)FrameKind.Message, buffer[..Math.Min(buffer.Length, MaxMessageLength)], lengths);

    private void TakeSeveral(Span<byte> buffer, Deadline deadline)
    {
        _gathered.Bytes.CopyTo(buffer);
        var have = _gathered.Count;
        while (have < buffer.Length)
        {
            if (!TryFragment(have, deadline))
            {
                // The buffer is its owner's again: what has come is kept here for the next attempt.
                _gathered.Clear();
                _gathered.Append(buffer[..have]);
                throw CannotReceive(WaitResult.TimedOut, true, deadline);
            }
            _reader.Bytes.CopyTo(buffer[have..]);
            have += _reader.Length;
            _reader.Consume();
        }
        _hasFrame = false;
        IsConsumed(_frame.Id);
    }

    protected override ReadOnlySpan<byte> ViewFrame(Deadline deadline)
    {
        if (!_inSeveral)
            return _reader.Bytes;
        if (!TryGather(deadline))
            throw CannotReceive(WaitResult.TimedOut, true, deadline);
        return _gathered.Bytes;
    }

    // Waits until all of a message in several records is here. False: timed out.
    private bool TryGather(Deadline deadline)
    {
        while (_gathered.Count < _frame.Length)
        {
            if (!TryFragment(_gathered.Count, deadline))
                return false;
            _gathered.Append(_reader.Bytes);
            _reader.Consume();
        }
        return true;
    }

    // Waits for the record after the first `have` bytes of a message in several, unless it is the first one, which is here.
    // False: timed out.
    private bool TryFragment(int have, Deadline deadline)
    {
        if (have > 0)
        {
            var result = _reader.Wait(deadline);
            if (result == WaitResult.TimedOut)
                return false;
            if (result != WaitResult.Ready)
                throw CannotReceive(result, true, deadline);
        }
        var rest = _frame.Length - have;
        var flags = ShmRingMemory.InData | (have > 0 ? ShmRingMemory.Continues : 0) | (_reader.Length < rest ? ShmRingMemory.More : 0);
        if (_reader.IsDamaged || _reader.Flags != flags || _reader.Length == 0 || _reader.Length > rest)
            throw Damaged();
        return true;
    }

    protected override void ReleaseFrame()
    {
        if (!_hasFrame)
            return;
        _hasFrame = false;
        if (!_inSeveral)
        {
            _reader.Consume();
            IsConsumed(_frame.Id);
            return;
        }
        _toSkip = _frame.Length - _gathered.Count;
        if (_toSkip == 0)
            IsConsumed(_frame.Id);
    }

    private void SkipRest(Deadline deadline)
    {
        while (_toSkip > 0)
        {
            if (!TryFragment(_frame.Length - _toSkip, deadline))
                throw CannotReceive(WaitResult.TimedOut, true, deadline);
            _toSkip -= _reader.Length;
            _reader.Consume();
        }
        IsConsumed(_frame.Id);
    }

    private IpcException Damaged() => Fail(IpcStatus.NotOurProtocol, $"the peer at {Name} wrote a damaged record: reconnect");
}
