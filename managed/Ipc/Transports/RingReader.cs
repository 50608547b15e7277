using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The reader's half of a ring. A record is looked at, then consumed; its room goes back to the writer in portions.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class RingReader
{
    private readonly SharedMemoryLink _link;
    private readonly RingMemory _memory;
    private readonly RingControl _control;
    private ulong _slotPosition;
    private ulong _dataPosition;
    private ulong _slotsGivenBack;
    private ulong _dataGivenBack;

    // The record at the read position, copied once out of the shared memory.
    private byte* _bytes;
    private int _length;
    private uint _kindAndFlags;
    private bool _inData;

    /// <param name="link">The mapping; the peer's ring is read.</param>
    /// <param name="firstSlot">Both sides' starting position, 0 but in tests.</param>
    /// <param name="firstData">The same in the data area, a multiple of 64.</param>
    public RingReader(SharedMemoryLink link, ulong firstSlot = 0, ulong firstData = 0)
    {
        _link = link;
        _memory = new RingMemory(link, link.Side ^ 1);
        _control = link.Incoming;
        (_slotPosition, _dataPosition) = (firstSlot, firstData);
        if (firstSlot != 0 || firstData != 0)
            GiveBack();
    }

    public uint Kind => _kindAndFlags & RingMemory.KindMask;
    public uint Flags => _kindAndFlags & ~RingMemory.KindMask;
    public uint Id { get; private set; }
    public int Length => _length;
    /// <summary>The record's bytes, which the peer can still change.</summary>
    public ReadOnlySpan<byte> Bytes => new(_bytes, _length);
    /// <summary>In the first record of several: the whole message's length as the writer claims it.</summary>
    public ulong TotalLength { get; private set; }

    /// <summary>Waits for the record at the read position and takes its header over. Its length is within what a record may
    /// have when <see cref="IsSound"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult Wait(Deadline deadline)
    {
        var slot = _memory.Slot(_slotPosition);
        var condition = new StampCondition((uint*)slot, (uint)(_slotPosition + 1));
        if (!condition.IsMet())
        {
            var result = WaitLonger(condition, deadline);
            if (result != WaitResult.Ready)
                return result;
        }
        ReadHeader(slot);
        return WaitResult.Ready;
    }

    /// <summary>False for a record no writer of ours makes; it must not be touched further.</summary>
    public bool IsSound { get; private set; }

    /// <summary>The record is done with. Its memory may be written again from here on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Consume()
    {
        _slotPosition++;
        if (_inData)
            _dataPosition = _memory.Place(_dataPosition, _length) + RingMemory.Footprint(_length);
        // In portions, so that in a stream of messages the line with the positions seldom crosses between the processors.
        if (_slotPosition - _slotsGivenBack >= _memory.SlotCount / 4 || _dataPosition - _dataGivenBack >= _memory.DataBytes / 4)
        {
            GiveBack();
            _link.WakeIfParked(_control.WriterParked);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ReadHeader(byte* slot)
    {
        _length = *(int*)(slot + 4);
        _kindAndFlags = *(uint*)(slot + 8);
        Id = *(uint*)(slot + 12);
        _inData = (uint)_length > RingMemory.InlineBytes || Flags != 0;
        IsSound = true;
        if (_inData)
            ReadPlace(slot);
        else
            _bytes = slot + 16;
    }

    private void ReadPlace(byte* slot)
    {
        IsSound = (uint)_length <= (uint)_memory.LargestRecord && (Flags & ~(RingMemory.More | RingMemory.Continues)) == 0;
        if (!IsSound)
            return;
        _bytes = _memory.Data(_memory.Place(_dataPosition, _length));
        TotalLength = Flags == RingMemory.More ? *(ulong*)(slot + 16) : (ulong)_length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLonger(StampCondition condition, Deadline deadline)
    {
        // The writer may be waiting for the room we still hold, and we are about to wait for it.
        if (_slotsGivenBack != _slotPosition)
            GiveBack();
        return _link.Wait(condition, _control.ReaderParked, _control.WriterParked, deadline);
    }

    private void GiveBack()
    {
        (_slotsGivenBack, _dataGivenBack) = (_slotPosition, _dataPosition);
        // Release: our reading is over before the writer sees the room given back.
        Volatile.Write(ref *_control.DataRead, _dataPosition);
        Volatile.Write(ref *_control.SlotsRead, _slotPosition);
    }

    private readonly struct StampCondition(uint* stamp, uint expected) : IWaitCondition
    {
        // Acquire: pairs with the writer's release of the stamp.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => Volatile.Read(ref *stamp) == expected;
    }
}
