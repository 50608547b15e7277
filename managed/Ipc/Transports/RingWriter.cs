using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The writer's half of a ring: knows how far it has written and, as of its last look, how far the reader has read, so
/// that the reader's line is fetched only when the ring seems full.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class RingWriter
{
    private readonly SharedMemoryLink _link;
    private readonly RingMemory _memory;
    private readonly RingControl _control;
    private ulong _slotPosition;
    private ulong _dataPosition;
    private ulong _slotsRead;
    private ulong _dataRead;

    /// <param name="link">The mapping; this side's own ring is written.</param>
    /// <param name="firstSlot">Both sides' starting position, 0 but in tests.</param>
    /// <param name="firstData">The same in the data area, a multiple of 64.</param>
    public RingWriter(SharedMemoryLink link, ulong firstSlot = 0, ulong firstData = 0)
    {
        _link = link;
        _memory = new RingMemory(link, link.Side);
        _control = link.Outgoing;
        (_slotPosition, _slotsRead, _dataPosition, _dataRead) = (firstSlot, firstSlot, firstData, firstData);
    }

    public int LargestRecord => _memory.LargestRecord;

    /// <summary>True once the reader has said it read what was never written.</summary>
    public bool IsDamaged { get; private set; }

    /// <summary>Waits until a slot and room for a record of so many bytes in the data area are free; 0: the slot alone.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult WaitForRoom(int length, Deadline deadline)
    {
        if (_link.PeerHasClosed)
            return WaitResult.PeerGone;
        return HasRoom(length) ? WaitResult.Ready : WaitLonger(length, deadline);
    }

    /// <summary>The payload's place in the next slot: <see cref="RingMemory.InlineBytes"/> bytes.</summary>
    public byte* InlineRoom => _memory.Slot(_slotPosition) + 16;

    /// <summary>The place of a record's bytes in the data area, after waiting for at least as many.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* DataRoom(int length) => _memory.Data(_memory.Place(_dataPosition, length));

    /// <summary>Makes a record visible whose bytes are in place, and wakes the reader if it sleeps.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Publish(uint kindAndFlags, uint id, int length, bool inData)
    {
        if (inData)
            _dataPosition = _memory.Place(_dataPosition, length) + RingMemory.Footprint(length);
        var slot = _memory.Slot(_slotPosition);
        *(int*)(slot + 4) = length;
        *(uint*)(slot + 8) = kindAndFlags;
        *(uint*)(slot + 12) = id;
        // Release: whoever sees the stamp sees all of the record.
        Volatile.Write(ref *(uint*)slot, (uint)(_slotPosition + 1));
        _slotPosition++;
        _link.WakeIfParked(_control.ReaderParked);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool HasRoom(int length)
    {
        if (_slotPosition - _slotsRead >= _memory.SlotCount)
            return false;
        return length == 0 || _memory.Place(_dataPosition, length) + RingMemory.Footprint(length) - _dataRead <= _memory.DataBytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLonger(int length, Deadline deadline)
    {
        var result = _link.Wait(new RoomCondition(this, length), _control.WriterParked, _control.ReaderParked, deadline);
        return IsDamaged ? WaitResult.Ready : result;
    }

    // Takes the reader's positions over. They are its to write, so they may be nonsense: never back, never beyond ours.
    private void LookAtReader()
    {
        var slots = Volatile.Read(ref *_control.SlotsRead);
        var data = Volatile.Read(ref *_control.DataRead);
        if (slots - _slotsRead > _slotPosition - _slotsRead || data - _dataRead > _dataPosition - _dataRead)
            IsDamaged = true;
        else
            (_slotsRead, _dataRead) = (slots, data);
    }

    private readonly struct RoomCondition(RingWriter writer, int length) : IWaitCondition
    {
        public bool IsMet()
        {
            writer.LookAtReader();
            return writer.IsDamaged || writer.HasRoom(length);
        }
    }
}
