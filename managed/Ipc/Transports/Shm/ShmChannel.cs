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
    private uint _awaited; // the request in turn whose reply has not been consumed
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

    protected override void SendAwaitedFrame(uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        if (payload.Length > _writer.LongestInSlots || !TryTellByRequest())
        {
            SendFrame(FrameKind.Request, id, payload, deadline);
            return;
        }
        CheckRoom(_writer.WaitForSlots(payload.Length, deadline));
        SendInTurn(id, payload);
    }

    protected override bool TrySendAwaitedNow(uint id, ReadOnlySpan<byte> payload)
    {
        if (payload.Length > _writer.LongestInSlots || !_writer.HasSlotsNow(payload.Length))
            return false;
        if (TryTellByRequest())
            SendInTurn(id, payload);
        else
            SendInSlots(FrameKind.Request, id, payload);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTellByRequest() => _awaited == 0 && _reader.TryTell();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void SendInTurn(uint id, ReadOnlySpan<byte> payload)
    {
        ShmRingMemory.Copy(ref MemoryMarshal.GetReference(payload), ref *_writer.SlotRoom, payload.Length);
        _awaited = id;
        _writer.PublishInTurn((uint)FrameKind.Request, id, payload.Length);
    }

    protected override void AnswerFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        if (payload.Length <= _writer.LongestInSlots)
        {
            CheckRoom(_writer.WaitForSlots(payload.Length, deadline));
            AnswerInSlots(kind, id, payload);
        }
        else
        {
            SendFrame(kind, id, payload, deadline);
        }
        ReleaseFrame();
    }

    protected override bool TryAnswerNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (payload.Length > _writer.LongestInSlots || !_writer.HasSlotsNow(payload.Length))
            return false;
        AnswerInSlots(kind, id, payload);
        ReleaseFrame();
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void AnswerInSlots(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        ShmRingMemory.Copy(ref MemoryMarshal.GetReference(payload), ref *_writer.SlotRoom, payload.Length);
        PublishAnswer(kind, id, payload.Length);
    }

    // The reply to a request in turn, which is held, tells that the request has been read, if that was so short that nothing is left to be
    // done with its slots.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PublishAnswer(FrameKind kind, uint id, int length)
    {
        if (kind == FrameKind.Reply && _hasFrame && _frame.Id == id && _reader.IsToldByItsAnswer && _reader.TryTell(_reader.HeldSlots))
            _writer.PublishInTurn((uint)kind, id, length);
        else
            _writer.PublishInSlots((uint)kind, id, length);
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
        if (_room != Room.Slots)
            return false;
        PublishAnswer(FrameKind.Reply, id, length);
        _room = Room.None;
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
}
