using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read, so
/// that the reader's line is fetched only when the ring seems full.</summary>
internal sealed unsafe partial class ShmRingWriter
{
    private readonly SharedMemorySegment _segment;
    private readonly ShmRingMemory _memory;
    private readonly RingControl _control;
    private readonly SpinBudget _spinBudget = new();
    private ulong _slotPosition;
    private ulong _dataPosition;
    private ulong _slotsRead; // as far as is known
    private ulong _slotsGivenBack; // as last seen in the ring
    private ulong _dataRead;
    private SuspectSlots _suspects;
    private byte* _slot;      // the next one
    private ulong _freeHere;  // slots from there that are free for certain and come before the boundary
    private ulong _boundary;  // where the writer next decides how to go on: every ShortLap slots
    private ulong _received;  // slots of the other ring that this side had given back when it last earned short laps
    private ulong _shortLaps; // that it has earned and not made

    /// <param name="segment">The mapping; this side's own ring is written.</param>
    /// <param name="firstSlot">Both sides' starting position, 0 but in tests.</param>
    /// <param name="firstData">The same in the data area, a multiple of 64.</param>
    public ShmRingWriter(SharedMemorySegment segment, ulong firstSlot = 0, ulong firstData = 0)
    {
        _segment = segment;
        _memory = new ShmRingMemory(segment, segment.Side);
        _control = segment.Outgoing;
        LongestInSlots = _memory.LongestInSlots;
        (_slotPosition, _slotsRead, _dataPosition, _dataRead) = (firstSlot, firstSlot, firstData, firstData);
        (_slotsGivenBack, _turnEnd) = (firstSlot, firstSlot);
        _suspects = new SuspectSlots(_memory.SlotCount, firstSlot);
        _boundary = (firstSlot | (_memory.ShortLap - 1)) + 1;
        LookAhead();
    }

    public int LargestRecord => _memory.LargestRecord;
    public int LongestInSlots { get; }

    /// <summary>True once the reader has said it read what was never written.</summary>
    public bool IsDamaged { get; private set; }

    // ---- messages in slots: length <= LongestInSlots

    /// <summary>Waits until the slots for so many bytes are free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult WaitForSlots(int length, Deadline deadline)
    {
        if (_segment.PeerHasClosed)
            return WaitResult.PeerGone;
        var count = ShmRingMemory.SlotsFor(length);
        if (count > _freeHere)
            return WaitLongerForSlots(count, deadline);
        Lend(count);
        return WaitResult.Ready;
    }

    /// <summary>As WaitForSlots, if they are there at once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasSlotsNow(int length)
    {
        var count = ShmRingMemory.SlotsFor(length);
        if (_segment.PeerHasClosed || count > _freeHere || IsDamaged)
            return false;
        Lend(count);
        return true;
    }

    /// <summary>After WaitForSlots: the place of the message's bytes.</summary>
    public byte* SlotRoom => _slot + ShmRingMemory.HeaderBytes;

    /// <summary>Makes a message visible whose bytes are in place, and wakes the reader if it sleeps.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PublishInSlots(uint kind, uint id, int length)
    {
        var count = ShmRingMemory.SlotsFor(length);
        PutHeader(kind, id, length, count);
        Advance(count);
        _segment.WakeIfParked(_control.ReaderParked);
    }

    /// <summary>Copies in messages that lie back to back, as many as there is room for now, and makes them visible together. Returns
    /// how many; stops at one that does not go into slots or has fewer bytes than its length says, and where a run lacks room in the data
    /// area: so many bytes are wanted there then, else 0.</summary>
    public int PublishMany(uint kind, ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, out int wanted)
    {
        wanted = 0;
        if (_segment.PeerHasClosed)
            return 0;
        byte* first = null;
        var firstWord = 0UL;
        var done = 0;
        while (done < lengths.Length)
        {
            var length = lengths[done];
            if ((uint)length > (uint)LongestInSlots || length > messages.Length)
                break;
            var together = PutRun(messages, lengths[done..], out wanted);
            if (wanted != 0)
                break;
            var (flags, slots) = (ShmRingMemory.InData | ShmRingMemory.Run, 1UL);
            if (together == 0)
            {
                slots = ShmRingMemory.SlotsFor(length);
                if (!MakesWay(slots))
                    break;
                Lend(slots);
                ShmRingMemory.Copy(ref MemoryMarshal.GetReference(messages), ref _slot[ShmRingMemory.HeaderBytes], length);
                (together, flags) = (1, 0);
            }
            var bytes = together * length;
            Invalidate(_slotPosition + slots);
            *(ulong*)(_slot + 8) = kind | flags;
            var word = ((ulong)(uint)bytes << 32) | ShmRingMemory.Sequence(_slotPosition);
            // The reader waits at the first record's sequence. That comes last, so that the reader does not come after each
            // single line while the next ones are being written.
            if (first == null)
            {
                first = _slot;
                firstWord = word;
            }
            else
            {
                Volatile.Write(ref *(ulong*)_slot, word);
            }
            Advance(slots);
            messages = messages[bytes..];
            done += together;
        }
        if (first != null)
        {
            Volatile.Write(ref *(ulong*)first, firstWord);
            _segment.WakeIfParked(_control.ReaderParked);
        }
        return done;
    }

    // Puts messages of one length into the data area as one record, which the caller publishes: two 32-byte messages then share a
    // line, and the lot is copied at once on both sides. Returns how many; 0: too few of one length, no slot, or so many bytes wanted
    // in the data area.
    private int PutRun(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, out int wanted)
    {
        wanted = 0;
        var length = lengths[0];
        if (length == 0 || length * ShmRingMemory.FewestOfRun > ShmRingMemory.MostBytesOfRun)
            return 0;
        var most = Math.Min(lengths.Length, Math.Min(ShmRingMemory.MostBytesOfRun, messages.Length) / length);
        var alike = 1;
        while (alike < most && lengths[alike] == length)
            alike++;
        if (alike < ShmRingMemory.FewestOfRun)
            return 0;
        var bytes = alike * length;
        if (!MakesWay(1))
            return 0;
        if (!MakesWayForData(bytes))
        {
            wanted = bytes;
            return 0;
        }
        messages[..bytes].CopyTo(new Span<byte>(DataRoom(bytes), bytes));
        *(uint*)SlotRoom = (uint)length;
        _dataPosition = _memory.EndOf(_dataPosition, bytes);
        return alike;
    }

    // ---- records in the data area

    /// <summary>Waits until a slot and so many contiguous bytes are free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult WaitForData(int length, Deadline deadline)
    {
        if (_segment.PeerHasClosed)
            return WaitResult.PeerGone;
        return _freeHere != 0 && HasData(length) ? WaitResult.Ready : WaitLongerForData(length, deadline);
    }

    /// <summary>The place of a record's bytes in the data area, after waiting for at least as many.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* DataRoom(int length) => _memory.Data(_memory.Place(_dataPosition, length));

    /// <summary>In the first record of several: the whole message's length.</summary>
    public void PutTotal(int length) => *(ulong*)SlotRoom = (ulong)length;

    /// <summary>Makes a record visible whose bytes are in place, and wakes the reader if it sleeps.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PublishInData(uint kindAndFlags, uint id, int length)
    {
        _dataPosition = _memory.EndOf(_dataPosition, length);
        PutHeader(kindAndFlags | ShmRingMemory.InData, id, length, 1);
        Advance(1);
        _segment.WakeIfParked(_control.ReaderParked);
    }

    // ----

    // `count`: slots from this record to the next.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PutHeader(uint kindAndFlags, uint id, int length, ulong count)
    {
        Invalidate(_slotPosition + count);
        StoreHeader(kindAndFlags, id, length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void StoreHeader(uint kindAndFlags, uint id, int length)
    {
        var slot = _slot;
        *(ulong*)(slot + 8) = ((ulong)id << 32) | kindAndFlags;
        // Release: whoever sees the sequence sees all of the record.
        Volatile.Write(ref *(ulong*)slot, ((ulong)(uint)length << 32) | ShmRingMemory.Sequence(_slotPosition));
    }

    // Bytes of the next message may be written into so many slots.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Lend(ulong count)
    {
        if (count > 1)
            _suspects.Add(_slotPosition + 1, _slotPosition + count);
    }

    // The reader looks at the slot behind the last record, and at no other. There the sequence that is due must not stand already: a message
    // that went on through that slot, a lap ago, may have left it, or a record 2^32 slots ago. The reader comes there after the record before it,
    // which is released later.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Invalidate(ulong position)
    {
        var word = (ulong*)_memory.Slot(position);
        if ((uint)*word == ShmRingMemory.Sequence(position))
            *word = ShmRingMemory.Sequence(position - 1);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool HasSlots(ulong count) => _slotPosition + count - _slotsRead <= _memory.SlotCount;

    // What the next message needs to know is worked out here, after one has been published and before the next one comes.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Advance(ulong count)
    {
        _slotPosition += count;
        _slot = _memory.Slot(_slotPosition);
        _freeHere -= count;
    }

    private void LookAhead()
    {
        _slot = _memory.Slot(_slotPosition);
        _freeHere = Math.Min(_memory.SlotCount - (_slotPosition - _slotsRead), _boundary - _slotPosition);
    }

    // Whether so many slots are free, with those to pass over when the ring's end is too near.
    private bool Fits(ulong count)
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        return HasSlots(count <= toEnd ? count : toEnd + count);
    }

    private bool HasData(int length) =>
        _memory.EndOf(_dataPosition, length) - _dataRead <= _memory.DataBytes;

    // A message of `count` slots, for which there is room, does not end before the boundary.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CrossBoundary(ulong count)
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        var end = _slotPosition + toEnd;
        var atStart = toEnd == _memory.SlotCount;
        // The message does not go before the ring's end. Or the reader has done with the first slots, which are in its cache and ours: back
        // to them.
        if (!atStart && (count > toEnd || (end - _boundary == _memory.SlotCount - _memory.ShortLap && ShortLapPays() && HasFirstSlots(toEnd + count))))
            SkipToStart();
        else
            _boundary += _memory.ShortLap;
        _suspects.ComeTo(_slotPosition);
        LookAhead();
    }

    // Short laps keep the messages of a dialogue in the nearest caches. But after one the ring has no more room than that until the reader
    // has come past its end. Who only sends gains nothing by them and may get far ahead of its reader at any time: it has all of the ring. So
    // each short lap is earned, by SlotsForALap slots that this side has received meanwhile and told its peer of. The peer can write to that
    // word, too: laps of another length are all that it gets by it.
    private bool ShortLapPays()
    {
        const ulong SlotsForALap = 4, Most = 8;
        var received = Volatile.Read(ref *_segment.Incoming.SlotsRead);
        var earned = (received - _received) / SlotsForALap;
        if (earned != 0)
            (_received, _shortLaps) = (received, Math.Min(Most, _shortLaps + earned));
        if (_shortLaps == 0)
            return false;
        _shortLaps--;
        return true;
    }

    private bool HasFirstSlots(ulong count)
    {
        LookAtReader();
        return HasSlots(count);
    }

    // Goes on at the ring's first slot. A message is never split at the ring's end: what is left there is passed over. No wake-up:
    // the message follows.
    private void SkipToStart()
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        PutHeader(ShmRingMemory.Skip, 0, 0, toEnd);
        ComeToStart(_slotPosition + toEnd);
    }

    // Whether so many slots are free now and come before the boundary.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MakesWay(ulong count) => count <= _freeHere || MakesWayElsewhere(count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MakesWayElsewhere(ulong count)
    {
        if (!Fits(count))
        {
            LookAtReader();
            if (IsDamaged || !Fits(count))
                return false;
        }
        if (count > _freeHere)
            CrossBoundary(count);
        return true;
    }

    private bool MakesWayForData(int length)
    {
        if (HasData(length))
            return true;
        LookAtReader();
        return !IsDamaged && HasData(length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLongerForSlots(ulong count, Deadline deadline)
    {
        var result = WaitLonger(new RoomCondition(this, count, 0), count, deadline);
        if (result == WaitResult.Ready && !IsDamaged)
            Lend(count);
        return result;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLongerForData(int length, Deadline deadline) => WaitLonger(new RoomCondition(this, 1, length), 1, deadline);

    private WaitResult WaitLonger(RoomCondition condition, ulong count, Deadline deadline)
    {
        if (Volatile.Read(ref _turnCame))
            LearnOfTurn();
        LookAhead();
        var result = condition.IsMetAsKnown ? WaitResult.Ready : Wait(condition, deadline);
        if (result == WaitResult.Ready && !IsDamaged && count > _freeHere)
            CrossBoundary(count);
        return result;
    }

    private WaitResult Wait(RoomCondition condition, Deadline deadline)
    {
        var result = _segment.Wait(condition, _control.WriterParked, _spinBudget, deadline);
        return IsDamaged ? WaitResult.Ready : result;
    }

    // Takes the reader's positions over. They are its to write, so they may be nonsense: never back, never beyond ours.
    private void LookAtReader()
    {
        var slots = Volatile.Read(ref *_control.SlotsRead);
        var data = Volatile.Read(ref *_control.DataRead);
        if (slots - _slotsGivenBack > _slotPosition - _slotsGivenBack || data - _dataRead > _dataPosition - _dataRead)
        {
            IsDamaged = true;
            return;
        }
        (_slotsGivenBack, _dataRead) = (slots, data);
        NoteRead(slots); // a message in turn may have told of more
        LookAhead();
    }

    // Room in so many slots and for a record of so many bytes in the data area.
    private readonly struct RoomCondition(ShmRingWriter writer, ulong slots, int dataBytes) : IWaitCondition
    {
        public bool IsMetAsKnown => writer.Fits(slots) && (dataBytes == 0 || writer.HasData(dataBytes));

        public bool IsMet()
        {
            writer.LookAtReader();
            return writer.IsDamaged || IsMetAsKnown;
        }
    }
}
