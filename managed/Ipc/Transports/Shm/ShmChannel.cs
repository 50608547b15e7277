using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Frames over one ring each way, docs/wire-formats.md "slots and data"; owns the segment.</summary>
internal sealed unsafe partial class ShmChannel : SharedMemoryChannel
{
    // Large enough that a record's fixed cost does not show, small enough that both sides copy at the same time.
    private const int RecordOfMany = 32 * 1024;
    private const int LongestSingleRecord = 64 * 1024;

    private enum Room { None, Slots, Data, Apart }

    // sender's half
    private readonly ShmRingWriter _writer;
    private readonly int _wholeRecord; // up to here a copied message is one record
    private Room _room;
    private int _roomLength;
    private byte[] _apart = [];

    // receiver's half
    private readonly ShmRingReader _reader;
    private bool _hasFrame;
    private FrameInfo _frame;
    private bool _inSeveral;
    // Of a message in several records: what has been copied and consumed so far, all of it once viewed.
    private readonly GatherBuffer _gathered = new();
    private int _toSkip; // bytes still to come of such a message that was released unseen

    /// <param name="segment">Owned from now on.</param>
    /// <param name="limit">Of messages, in bytes.</param>
    /// <param name="address">For error messages.</param>
    /// <param name="firstSlot">Starting position of both rings on both sides, 0 but in tests.</param>
    /// <param name="firstData">The same in the data areas.</param>
    public ShmChannel(SharedMemorySegment segment, int limit, string address, ulong firstSlot = 0, ulong firstData = 0) : base(segment, limit, address)
    {
        _writer = new ShmRingWriter(segment, firstSlot, firstData);
        _reader = new ShmRingReader(segment, firstSlot, firstData);
        _wholeRecord = Math.Min(LongestSingleRecord, _writer.LargestRecord);
    }

    // ---- sender's half

    protected override void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        if (payload.Length <= _writer.LongestInSlots)
        {
            CheckRoom(_writer.WaitForSlots(payload.Length, deadline));
            SendInSlots(kind, id, payload);
        }
        else if (payload.Length <= _wholeRecord)
        {
            CheckRoom(_writer.WaitForData(payload.Length, deadline));
            payload.CopyTo(new Span<byte>(_writer.DataRoom(payload.Length), payload.Length));
            _writer.PublishInData((uint)kind, id, payload.Length);
        }
        else
        {
            SendInRecords(kind, id, payload, deadline);
        }
    }

    protected override bool TrySendNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (payload.Length > _writer.LongestInSlots || !_writer.HasSlotsNow(payload.Length))
            return false;
        SendInSlots(kind, id, payload);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void SendInSlots(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        ShmRingMemory.Copy(ref MemoryMarshal.GetReference(payload), ref *_writer.SlotRoom, payload.Length);
        _writer.PublishInSlots((uint)kind, id, payload.Length);
    }

    protected override int SendMany(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, Deadline deadline)
    {
        var sent = _writer.PublishMany((uint)FrameKind.Message, messages, lengths, out var wanted);
        if (sent != 0 || wanted == 0)
            return sent;
        CheckRoom(_writer.WaitForData(wanted, deadline));
        return _writer.PublishMany((uint)FrameKind.Message, messages, lengths, out _);
    }

    // The same as in the base class, without its dispatch.
    protected override void AnswerFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        SendFrame(kind, id, payload, deadline);
        ReleaseFrame();
    }

    protected override bool TryAnswerNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (!TrySendNow(kind, id, payload))
            return false;
        ReleaseFrame();
        return true;
    }

    private void SendInRecords(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        var done = 0;
        if (!TrySendInRecords(kind, id, payload, ref done, deadline))
            throw SendFailed(WaitResult.TimedOut, done > 0, deadline);
    }

    // From the byte where an attempt before this one ended. False: timed out.
    private bool TrySendInRecords(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        var portion = Math.Min(RecordOfMany, _writer.LargestRecord);
        while (done < payload.Length)
        {
            var length = Math.Min(portion, payload.Length - done);
            var result = _writer.WaitForData(length, deadline);
            if (result == WaitResult.TimedOut && !_writer.IsDamaged)
                return false;
            if (result != WaitResult.Ready || _writer.IsDamaged)
                throw SendFailed(result, done > 0, deadline);
            payload.Slice(done, length).CopyTo(new Span<byte>(_writer.DataRoom(length), length));
            var first = done == 0;
            if (first)
                _writer.PutTotal(payload.Length);
            done += length;
            _writer.PublishInData((uint)kind | (done < payload.Length ? ShmRingMemory.More : 0) | (first ? 0 : ShmRingMemory.Continues), id, length);
        }
        return true;
    }

    // As much of one frame as goes until the deadline, from where the attempt before ended. False: not all of it is out.
    private bool TrySendPart(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        if (payload.Length > _wholeRecord)
            return TrySendInRecords(kind, id, payload, ref done, deadline);
        var inSlots = payload.Length <= _writer.LongestInSlots;
        var result = inSlots ? _writer.WaitForSlots(payload.Length, deadline) : _writer.WaitForData(payload.Length, deadline);
        if (result == WaitResult.TimedOut && !_writer.IsDamaged)
            return false;
        CheckRoom(result);
        if (inSlots)
        {
            SendInSlots(kind, id, payload);
            return true;
        }
        payload.CopyTo(new Span<byte>(_writer.DataRoom(payload.Length), payload.Length));
        _writer.PublishInData((uint)kind, id, payload.Length);
        return true;
    }

    private protected override bool TrySubmitSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline slice, Deadline whole) =>
        TrySendPart(kind, id, payload, ref done, slice);

    private protected override void BreakOff() => Segment.Close();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckRoom(WaitResult result)
    {
        if (result != WaitResult.Ready || _writer.IsDamaged)
            throw SendFailed(result, false, default);
    }

    private IpcException SendFailed(WaitResult result, bool begun, Deadline deadline)
    {
        if (_writer.IsDamaged)
            return Fail(IpcStatus.NotOurProtocol, $"the peer at {Name} says it has read what was never written: reconnect");
        if (result != WaitResult.TimedOut || !begun)
            return CannotSend(result, deadline);
        var failure = Fail(IpcStatus.TimedOut, $"the time-out passed half-way through a message to {Name}, so the channel is broken: reconnect");
        // The peer must not wait for a rest that will not come.
        Segment.Close();
        return failure;
    }

    protected override Span<byte> ReserveFrame(int length, Deadline deadline)
    {
        _room = Room.None;
        _roomLength = length;
        if (length > _writer.LargestRecord)
        {
            if (_apart.Length < length)
                _apart = GC.AllocateUninitializedArray<byte>(length);
            _room = Room.Apart;
            return _apart.AsSpan(0, length);
        }
        var inSlots = length <= _writer.LongestInSlots;
        CheckRoom(inSlots ? _writer.WaitForSlots(length, deadline) : _writer.WaitForData(length, deadline));
        _room = inSlots ? Room.Slots : Room.Data;
        return new Span<byte>(inSlots ? _writer.SlotRoom : _writer.DataRoom(length), length);
    }

    protected override bool TryReserveNow(int length, out Span<byte> room)
    {
        room = default;
        if (length > _writer.LongestInSlots || !_writer.HasSlotsNow(length))
            return false;
        (_room, _roomLength) = (Room.Slots, length);
        room = new Span<byte>(_writer.SlotRoom, length);
        return true;
    }

    protected override bool TryCommitNow(FrameKind kind, uint id, int length)
    {
        if (_room != Room.Slots)
            return false;
        _writer.PublishInSlots((uint)kind, id, length);
        _room = Room.None;
        return true;
    }

    protected override bool TryCommitAnswerNow(uint id, int length)
    {
        if (!TryCommitNow(FrameKind.Reply, id, length))
            return false;
        ReleaseFrame();
        return true;
    }

    protected override void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline)
    {
        if (_room == Room.Apart)
        {
            SendFrame(kind, id, _apart.AsSpan(0, length), deadline);
            return;
        }
        if (_room == Room.Slots)
        {
            _writer.PublishInSlots((uint)kind, id, length);
        }
        else
        {
            MoveToItsPlace(length);
            _writer.PublishInData((uint)kind, id, length);
        }
        _room = Room.None;
    }

    // Shorter than reserved, it may belong elsewhere: before the end of the area, where the longer one had no room.
    private void MoveToItsPlace(int length)
    {
        var written = _writer.DataRoom(_roomLength);
        var place = _writer.DataRoom(length);
        if (place != written)
            Buffer.MemoryCopy(written, place, length, length);
    }

    // ---- receiver's half

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
    }

    protected override bool TryTakeNext(FrameKind kind, uint id, bool awaited, Span<byte> buffer, out int length)
    {
        if (awaited)
            _reader.Settle();
        if (!_hasFrame && _toSkip == 0)
            return _reader.TryTakeNext((uint)kind, id, awaited, buffer.Length > MaxMessageLength ? buffer[..MaxMessageLength] : buffer, out length);
        length = 0;
        return false;
    }

    protected override bool TryViewNext(FrameKind kind, bool awaited, out ReadOnlySpan<byte> payload, out uint id)
    {
        if (_hasFrame || _toSkip != 0 || !_reader.TryLook((uint)kind, awaited, MaxMessageLength))
        {
            payload = default;
            id = 0;
            return false;
        }
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
            return;
        }
        _toSkip = _frame.Length - _gathered.Count;
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
    }

    private IpcException Damaged() => Fail(IpcStatus.NotOurProtocol, $"the peer at {Name} wrote a damaged record: reconnect");
}
