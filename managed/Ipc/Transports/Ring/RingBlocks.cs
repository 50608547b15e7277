using System.Runtime.CompilerServices;

namespace Ipc;

internal enum RingOrder : uint { Fifo = 1, Lifo = 2 }

internal enum RingSide { Readers, Writers }

/// <summary>What a block's state word says of it.</summary>
internal enum RingPhase
{
    /// <summary>Nobody's; a writer may claim it.</summary>
    Free = 1,
    Writing = 2,
    /// <summary>Holds a message.</summary>
    Full = 3,
    Reading = 4,
    /// <summary>Its writer died: there is no message here.</summary>
    Skip = 5,
}

/// <summary>How an attempt to claim a block ended.</summary>
internal enum RingClaim
{
    Taken,
    /// <summary>The ring is full, or empty; perhaps because of one block's owner.</summary>
    Blocked,
    /// <summary>Others were faster so often that the clock should be looked at.</summary>
    Contended,
    /// <summary>The next message is longer than the reader's buffer; it stays.</summary>
    TooSmall,
    /// <summary>Words that no writer or reader of ours leaves.</summary>
    Damaged,
}

/// <summary>A block's state: who has it, for what, and at which turn, in one word, so that claiming and signing are one atomic step.
/// The turn is the position (fifo) or a count of changes (lifo), 48 bits of it: it is what keeps a late exchange out.</summary>
internal static class RingState
{
    public const ulong TurnMask = (1UL << 48) - 1;
    public const uint MostOwners = 4095; // 0 is nobody

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Of(ulong turn, uint owner, RingPhase phase) => (turn << 16) | ((ulong)owner << 4) | (uint)phase;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Turn(ulong state) => state >> 16;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Owner(ulong state) => (uint)(state >> 4) & MostOwners;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RingPhase Phase(ulong state) => (RingPhase)(state & 15);

    public static bool IsKnown(RingPhase phase) => phase is >= RingPhase.Free and <= RingPhase.Skip;

    /// <summary>Whether somebody has to finish what the word says: a dead owner's block must be finished for it.</summary>
    public static bool IsClaimed(ulong state) => Phase(state) is RingPhase.Writing or RingPhase.Reading;
}

/// <summary>The memory of a ring, docs/wire-formats.md "ring"; twin of native/src/transports/ring/{layout,memory}.hpp.</summary>
/// <remarks>Every exchange is a full fence: what publishes is followed by a look at the parked word, and who parks does it the other
/// way round, so that one of the two sees the other.</remarks>
internal readonly unsafe struct RingBlocks
{
    public const uint Magic = 0x52435049; // "IPCR"
    public const uint Version = 1;
    public const int HeaderBytes = 4096;
    public const int BlockHeaderBytes = 16;
    public const uint MostBlocks = 1 << 16; // what a list's head has bits for
    public const uint LargestBlock = 1 << 30;

    // Offsets in the header; each word that many change has a line, and its neighbour, of its own.
    private const int WriteEndOffset = 128, WriteStartOffset = 256, ReadEndOffset = 384, ReadStartOffset = 512;
    private const int FreeHeadOffset = 640, FullHeadOffset = 768;
    /// <summary>Windows: 16 random bytes, the names of what is slept on.</summary>
    public const int WakeNameOffset = 64;
    private const int ParkedReadersOffset = 896, ParkedWritersOffset = 1024;

    private readonly byte* _memory;
    private readonly nuint _stride;

    public RingBlocks(byte* memory, uint count, uint blockBytes)
    {
        _memory = memory;
        _stride = (nuint)Stride(blockBytes);
        Count = count;
        BlockBytes = blockBytes;
    }

    public uint Count { get; }
    public uint BlockBytes { get; }

    public ulong* WriteEnd => (ulong*)(_memory + WriteEndOffset);
    public ulong* WriteStart => (ulong*)(_memory + WriteStartOffset);
    public ulong* ReadEnd => (ulong*)(_memory + ReadEndOffset);
    public ulong* ReadStart => (ulong*)(_memory + ReadStartOffset);
    public ulong* FreeHead => (ulong*)(_memory + FreeHeadOffset);
    public ulong* FullHead => (ulong*)(_memory + FullHeadOffset);

    public uint* Parked(RingSide side) => ParkedIn(_memory, side);

    /// <summary>The word this side sleeps on; behind it, on Windows, how often all who sleep there were woken.</summary>
    public static uint* ParkedIn(byte* memory, RingSide side) => (uint*)(memory + (side == RingSide.Readers ? ParkedReadersOffset : ParkedWritersOffset));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Block(uint index) => _memory + HeaderBytes + (index * _stride);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong* State(uint index) => (ulong*)Block(index);

    public uint* Length(uint index) => (uint*)(Block(index) + 8);

    /// <summary>Lifo: 1 + index of the block below in its list; 0 for none.</summary>
    public uint* Next(uint index) => (uint*)(Block(index) + 12);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Payload(uint index) => Block(index) + BlockHeaderBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Load(ulong* word) => Volatile.Read(ref *word);

    /// <summary>Compare-and-swap; a full fence.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Swap(ulong* word, ulong expected, ulong desired) => Interlocked.CompareExchange(ref *word, desired, expected) == expected;

    /// <summary>After something was published that this side may wait for: wakes one of those who sleep, if any does.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Wake(RingSide side)
    {
        var word = Parked(side);
        if (Volatile.Read(ref *word) != 0)
            WakeOne(word);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void WakeOne(uint* word)
    {
        if (Interlocked.Exchange(ref *word, 0) != 0)
            _ = SharedWord.WakeOne(word);
    }

    /// <summary>Bytes from one block to the next: header and payload in whole cache lines.</summary>
    public static ulong Stride(uint blockBytes) => (BlockHeaderBytes + (ulong)blockBytes + 63) & ~63UL;

    /// <summary>Bytes of the whole file; 0 if the numbers are impossible.</summary>
    public static ulong FileBytes(uint count, uint blockBytes) =>
        count is >= 2 and <= MostBlocks && uint.IsPow2(count) && blockBytes is > 0 and <= LargestBlock ? HeaderBytes + (count * Stride(blockBytes)) : 0;

    /// <summary>Writes the words of a ring in which nothing waits, into memory that is zero.</summary>
    /// <param name="memory">The whole file.</param>
    /// <param name="order">Which order.</param>
    /// <param name="count">Number of blocks.</param>
    /// <param name="blockBytes">Bytes of each.</param>
    /// <param name="first">The position of the first message, 0 but in tests.</param>
    public static void Format(byte* memory, RingOrder order, uint count, uint blockBytes, ulong first = 0)
    {
        ReadOnlySpan<uint> header = [Magic, Version, (uint)order, count, blockBytes];
        header.CopyTo(new Span<uint>(memory, header.Length));
        var blocks = new RingBlocks(memory, count, blockBytes);
        *blocks.WriteEnd = *blocks.WriteStart = *blocks.ReadEnd = *blocks.ReadStart = first;
        for (uint i = 0; i < count; i++)
        {
            var turn = unchecked(first + i);
            var index = (uint)turn & (count - 1);
            *blocks.State(index) = RingState.Of(turn, 0, RingPhase.Free);
            *blocks.Next(index) = index + 1 < count ? index + 2 : 0;
        }
        *blocks.FreeHead = RingHead.Of(0, 1, 0, RingStep.None);
        *blocks.FullHead = RingHead.Of(0, 0, 0, RingStep.None);
    }
}
