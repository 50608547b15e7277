using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read, so
/// that the reader's line is fetched only when the ring seems full.</summary>
internal sealed unsafe class ShmRingWriter
{
    private readonly SharedMemoryLink _link;
    private readonly ShmRingMemory _memory;
    private readonly RingControl _control;
    private readonly SpinBudget _spinBudget = new();
    private ulong _slotPosition;
    private ulong _dataPosition;
    private ulong _slotsRead;
    private ulong _dataRead;
    private byte* _slot;     // the next one
    private ulong _freeHere; // slots from there that are free for certain and come before the ring's end

    /// <param name="link">The mapping; this side's own ring is written.</param>
    /// <param name="firstSlot">Both sides' starting position, 0 but in tests.</param>
    /// <param name="firstData">The same in the data area, a multiple of 64.</param>
    public ShmRingWriter(SharedMemoryLink link, ulong firstSlot = 0, ulong firstData = 0)
    {
        _link = link;
        _memory = new ShmRingMemory(link, link.Side);
        _control = link.Outgoing;
        LongestInSlots = _memory.LongestInSlots;
        (_slotPosition, _slotsRead, _dataPosition, _dataRead) = (firstSlot, firstSlot, firstData, firstData);
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
        if (_link.PeerHasClosed)
            return WaitResult.PeerGone;
        var count = ShmRingMemory.SlotsFor(length);
        return count <= _freeHere ? WaitResult.Ready : WaitLongerForSlots(count, deadline);
    }

    /// <summary>After WaitForSlots: the place of the message's bytes.</summary>
    public byte* SlotRoom => _slot + ShmRingMemory.HeaderBytes;

    /// <summary>Makes a message visible whose bytes are in place, and wakes the reader if it sleeps.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PublishInSlots(uint kind, uint id, int length)
    {
        PutHeader(kind, id, length);
        Advance(ShmRingMemory.SlotsFor(length));
        _link.WakeIfParked(_control.ReaderParked);
    }

    /// <summary>Copies in messages that lie back to back, as many as there is room for now, and makes them visible together. Returns
    /// how many; stops at one that does not go into slots or has fewer bytes than its length says.</summary>
    public int PublishMany(uint kind, ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths)
    {
        if (_link.PeerHasClosed)
            return 0;
        byte* first = null;
        var firstWord = 0UL;
        var left = messages.Length;
        ref var from = ref MemoryMarshal.GetReference(messages);
        var done = 0;
        for (; done < lengths.Length; done++)
        {
            var length = lengths[done];
            if ((uint)length > (uint)LongestInSlots || length > left)
                break;
            var count = ShmRingMemory.SlotsFor(length);
            if (count > _freeHere && !MakesRoom(count))
                break;
            var slot = _slot;
            ShmRingMemory.Copy(ref from, ref slot[ShmRingMemory.HeaderBytes], length);
            *(ulong*)(slot + 8) = kind;
            var word = ((ulong)(uint)length << 32) | ShmRingMemory.Stamp(_slotPosition);
            // The reader waits at the first message's stamp. That comes last, so that the reader does not come after each
            // single line while the next ones are being written.
            if (first == null)
            {
                first = slot;
                firstWord = word;
            }
            else
            {
                Volatile.Write(ref *(ulong*)slot, word);
            }
            Advance(count);
            from = ref Unsafe.Add(ref from, length);
            left -= length;
        }
        if (first != null)
        {
            Volatile.Write(ref *(ulong*)first, firstWord);
            _link.WakeIfParked(_control.ReaderParked);
        }
        return done;
    }

    // ---- records in the data area

    /// <summary>Waits until a slot and so many contiguous bytes are free.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult WaitForData(int length, Deadline deadline)
    {
        if (_link.PeerHasClosed)
            return WaitResult.PeerGone;
        return HasRoomForData(length) ? WaitResult.Ready : WaitLongerForData(length, deadline);
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
        _dataPosition = _memory.Place(_dataPosition, length) + ShmRingMemory.Footprint(length);
        PutHeader(kindAndFlags | ShmRingMemory.InData, id, length);
        Advance(1);
        _link.WakeIfParked(_control.ReaderParked);
    }

    // ----

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PutHeader(uint kindAndFlags, uint id, int length)
    {
        var slot = _slot;
        *(ulong*)(slot + 8) = ((ulong)id << 32) | kindAndFlags;
        // Release: whoever sees the stamp sees all of the record.
        Volatile.Write(ref *(ulong*)slot, ((ulong)(uint)length << 32) | ShmRingMemory.Stamp(_slotPosition));
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
        _freeHere = Math.Min(_memory.SlotCount - (_slotPosition - _slotsRead), _memory.SlotsToEnd(_slotPosition));
    }

    // Whether so many slots are free, with those to pass over when the ring's end is too near.
    private bool Fits(ulong count)
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        return HasSlots(count <= toEnd ? count : toEnd + count);
    }

    private bool HasRoomForData(int length) =>
        _freeHere != 0 && _memory.Place(_dataPosition, length) + ShmRingMemory.Footprint(length) - _dataRead <= _memory.DataBytes;

    // A message is never split at the ring's end: what is left there is passed over. No wake-up: the message follows.
    private void SkipIfTooNearTheEnd(ulong count)
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        if (count <= toEnd)
            return;
        PutHeader(ShmRingMemory.Skip, 0, 0);
        _slotPosition += toEnd;
        LookAhead();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MakesRoom(ulong count)
    {
        LookAhead(); // the ring's end may have been passed since
        if (!Fits(count))
        {
            LookAtReader();
            if (IsDamaged || !Fits(count))
                return false;
        }
        SkipIfTooNearTheEnd(count);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLongerForSlots(ulong count, Deadline deadline)
    {
        LookAhead(); // the ring's end may have been passed since
        var result = Fits(count) ? WaitResult.Ready : Wait(new RoomCondition(this, count, -1), deadline);
        if (result == WaitResult.Ready && !IsDamaged)
            SkipIfTooNearTheEnd(count);
        return result;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLongerForData(int length, Deadline deadline)
    {
        LookAhead(); // as above
        return Wait(new RoomCondition(this, 0, length), deadline);
    }

    private WaitResult Wait(RoomCondition condition, Deadline deadline)
    {
        var result = _link.Wait(condition, _control.WriterParked, _spinBudget, deadline);
        return IsDamaged ? WaitResult.Ready : result;
    }

    // Takes the reader's positions over. They are its to write, so they may be nonsense: never back, never beyond ours.
    private void LookAtReader()
    {
        var slots = Volatile.Read(ref *_control.SlotsRead);
        var data = Volatile.Read(ref *_control.DataRead);
        if (slots - _slotsRead > _slotPosition - _slotsRead || data - _dataRead > _dataPosition - _dataRead)
        {
            IsDamaged = true;
            return;
        }
        (_slotsRead, _dataRead) = (slots, data);
        LookAhead();
    }

    // Room for a message in so many slots, or if those are 0 for a record of so many bytes in the data area.
    private readonly struct RoomCondition(ShmRingWriter writer, ulong slots, int dataBytes) : IWaitCondition
    {
        public bool IsMet()
        {
            writer.LookAtReader();
            return writer.IsDamaged || (slots != 0 ? writer.Fits(slots) : writer.HasRoomForData(dataBytes));
        }
    }
}
