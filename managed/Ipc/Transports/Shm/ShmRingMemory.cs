using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The memory of one ring of `shm`, as its reader or its writer finds its way in it. docs/wire-formats.md, "slots and data";
/// twin of native ShmRingMemory and Slot.</summary>
/// <remarks>
/// A message begins in a slot, behind the slot's header, and goes on through the slots that follow: its bytes are contiguous, and
/// up to 48 of them share the header's cache line, so that a short message crosses between processors as one line and a longer one
/// as neighbouring lines, which are fetched together.
/// </remarks>
internal readonly unsafe partial struct ShmRingMemory
{
    public const int FirstBytes = 48; // of payload in the slot that has the header
    public const int HeaderBytes = SharedMemoryLayout.SlotBytes - FirstBytes;
    public const uint KindMask = 0xFFFF;
    public const uint More = 1 << 16;      // more records of this message follow
    public const uint Continues = 2 << 16; // this record continues a message
    public const uint InData = 4 << 16;    // the bytes lie in the data area
    public const uint Skip = 8 << 16;      // no message: go on at the ring's first slot
    public const uint Run = 16 << 16;      // messages of one length back to back in the data area
    // Of messages in slots: its writer had read the other ring's last record with this flag, and reads the next one before it writes another.
    public const uint InTurn = 32 << 16;
    public const uint Back = 64 << 16;     // with InTurn: the next record begins in the ring's first slot
    public const uint TurnFlags = InTurn | Back;

    // Of one run. Fewer than FewestOfRun go into slots of their own, where each is one line.
    public const int MostBytesOfRun = 4096;
    public const int FewestOfRun = 4;

    // The writer goes round in so many slots, few enough to stay in the first-level caches of both sides, as long as the reader
    // keeps up with that; when it does not, through all of the ring.
    private const ulong MostSlotsOfShortLap = 128;

    // Calls of messages of up to MostSlotsInTurn slots stay in the ring's first SlotsOfTurns. Fewer are as fast; more leave room for some
    // requests behind one that is not read.
    public const ulong MostSlotsInTurn = 2;
    public const ulong SlotsOfTurns = 8;

    // Longer messages go through the data area, which costs them a line: a few of them would fill the first slots, in which calls
    // stay near (MostSlotsOfShortLap).
    private const int MostBytesInSlots = FirstBytes + (31 * SharedMemoryLayout.SlotBytes);

    private readonly byte* _slots;
    private readonly byte* _data;
    private readonly ulong _slotMask;
    private readonly ulong _dataMask;

    public ShmRingMemory(SharedMemorySegment segment, int ring)
    {
        var slotsBytes = (ulong)segment.SlotCount * SharedMemoryLayout.SlotBytes;
        var slots = segment.Memory + SharedMemoryLayout.HeaderBytes;
        _slots = slots + ((ulong)ring * slotsBytes);
        _data = slots + SharedMemoryLayout.PageUp(2 * slotsBytes) + ((ulong)ring * segment.DataBytes);
        _slotMask = segment.SlotCount - 1;
        _dataMask = segment.DataBytes - 1;
    }

    public ulong SlotCount => _slotMask + 1;
    public ulong ShortLap => Math.Min(SlotCount, MostSlotsOfShortLap);
    public ulong DataBytes => _dataMask + 1;
    public int LargestRecord => (int)Math.Min(DataBytes / 2, int.MaxValue);
    /// <summary>The longest message, in bytes, that goes into slots: half of them must do.</summary>
    public int LongestInSlots => (int)Math.Min(MostBytesInSlots, (SlotCount / 2 * SharedMemoryLayout.SlotBytes) - HeaderBytes);

    /// <summary>Offsets in a slot: 0 sequence, 4 length, 8 kind and flags, 12 id, 16 payload.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Slot(ulong position) => _slots + ((position & _slotMask) * SharedMemoryLayout.SlotBytes);

    /// <summary>The sequence, in the low half of a slot's first word, with which a record at this position becomes the reader's.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Sequence(ulong position) => (uint)(position + 1);

    /// <summary>How many slots a message in slots takes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong SlotsFor(int length) => ((ulong)(uint)length + HeaderBytes + SharedMemoryLayout.SlotBytes - 1) / SharedMemoryLayout.SlotBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong SlotInRing(ulong position) => position & _slotMask;

    /// <summary>Where the first slot comes next, or this position if that is it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong NextStart(ulong position) => (position + _slotMask) & ~_slotMask;

    /// <summary>Slots from this position to the ring's end.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong SlotsToEnd(ulong position) => SlotCount - (position & _slotMask);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Data(ulong position) => _data + (position & _dataMask);

    /// <summary>Where a record of so many bytes begins when everything before <paramref name="position"/> is taken: it is never
    /// split at the end of the area.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Place(ulong position, int length)
    {
        var offset = position & _dataMask;
        return offset + Footprint(length) > DataBytes ? position - offset + DataBytes : position;
    }

    /// <summary>Where the next record may begin.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong EndOf(ulong position, int length) => Place(position, length) + Footprint(length);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Footprint(int length) => ((ulong)(uint)length + 63) & ~63UL;
}
