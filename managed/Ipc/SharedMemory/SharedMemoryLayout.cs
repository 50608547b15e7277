namespace Ipc;

/// <summary>The mapping's common header, docs/wire-formats.md "Shared-memory handover".</summary>
internal static class SharedMemoryLayout
{
    public const uint HandoverMagic = 0x53435049; // "IPCS"
    public const uint MappingMagic = 0x4D435049;  // "IPCM"
    public const int HeaderBytes = 4096;
    public const int SlotBytes = 64;

    public const uint Slots = 1; // layout of `shm`
    public const uint Event = 2; // layout of `shm-event`

    /// <summary>Of what goes over a mapping, where nothing has changed since.</summary>
    public const uint Version = 1;

    /// <summary>Version 3 of slots: messages in turn. Version 2: a writer invalidates the slot behind its record. In version 1 the reader
    /// invalidated what it gave back.</summary>
    public static uint VersionOf(uint layout) => layout == Slots ? 3u : Version;

    public const uint WaitsBySpinning = 1;
    public const uint WaitsByParking = 2;

    private const uint MostSlots = 1 << 20;
    private const ulong MostDataBytes = 1UL << 40;

    public static ulong PageUp(ulong bytes) => (bytes + 4095) & ~4095UL;

    /// <summary>Bytes of the whole mapping; 0 if the numbers are impossible for the layout.</summary>
    public static ulong MappingBytes(uint layout, uint slotCount, ulong dataBytes)
    {
        if (slotCount > MostSlots || dataBytes == 0 || dataBytes > MostDataBytes || dataBytes % 4096 != 0)
            return 0;
        // Rings take positions apart with masks; a single block each way can have any number of pages.
        var sound = layout == Slots ? ulong.IsPow2(dataBytes) && uint.IsPow2(slotCount) : slotCount == 0;
        return sound ? HeaderBytes + PageUp(2UL * slotCount * SlotBytes) + (2 * dataBytes) : 0;
    }
}

/// <summary>One ring's words in the header. Each word that one side writes while the other reads has a line of its own.</summary>
internal readonly unsafe struct RingControl(byte* memory, int ring)
{
    private readonly byte* _at = memory + 256 + (512 * ring);

    public ulong* SlotsRead => (ulong*)_at;
    public ulong* DataRead => (ulong*)(_at + 8);
    public uint* ReaderParked => (uint*)(_at + 128);
    public uint* WriterParked => (uint*)(_at + 256);
    /// <summary>How the side that writes this ring waits.</summary>
    public uint* WaitsBy => (uint*)(_at + 384);
    /// <summary>1 once the side that writes this ring has closed in order.</summary>
    public uint* Closed => (uint*)(_at + 388);
}
