using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The memory of one ring of `shm`, as its reader or its writer finds its way in it. docs/wire-formats.md, "slots and data".</summary>
[SupportedOSPlatform("linux")]
internal readonly unsafe struct RingMemory
{
    public const int InlineBytes = 48;
    public const uint KindMask = 0xFFFF;
    public const uint More = 1 << 16;      // more records of this message follow
    public const uint Continues = 2 << 16; // this record continues a message

    private readonly byte* _slots;
    private readonly byte* _data;
    private readonly ulong _slotMask;
    private readonly ulong _dataMask;

    public RingMemory(SharedMemoryLink link, int ring)
    {
        var slotsBytes = (ulong)link.SlotCount * SharedMemoryLayout.SlotBytes;
        var slots = link.Memory + SharedMemoryLayout.HeaderBytes;
        _slots = slots + ((ulong)ring * slotsBytes);
        _data = slots + SharedMemoryLayout.PageUp(2 * slotsBytes) + ((ulong)ring * link.DataBytes);
        _slotMask = link.SlotCount - 1;
        _dataMask = link.DataBytes - 1;
    }

    public ulong SlotCount => _slotMask + 1;
    public ulong DataBytes => _dataMask + 1;
    public int LargestRecord => (int)Math.Min(DataBytes / 2, int.MaxValue);

    /// <summary>Offsets in a slot: 0 stamp, 4 length, 8 kind and flags, 12 id, 16 payload.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Slot(ulong position) => _slots + ((position & _slotMask) * SharedMemoryLayout.SlotBytes);

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

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Footprint(int length) => ((ulong)(uint)length + 63) & ~63UL;
}
