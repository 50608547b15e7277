using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The memory and the messages of `broadcast`, docs/wire-formats.md.</summary>
internal static class BroadcastLayout
{
    public const uint Layout = 3; // beside SharedMemoryLayout.Slots and Event
    public const uint JoinMagic = 0x4A435049; // "IPCJ"
    public const int HeaderBytes = 4096;
    public const int PageBytes = 4096;
    public const int MostReaders = 64;

    public const uint PolicyWait = 1; // the publisher waits for this reader
    public const uint PolicyDrop = 2;

    public const uint Welcome = 0; // answers to a join
    public const uint Full = 1;

    public const int RecordHeaderBytes = 16; // 0 length, 8 number: 1, 2, 3 ... , which tells a reader how many it has lost
    private const ulong SmallestRing = 64 * 1024;
    private const ulong LargestRing = 1UL << 32;

    /// <summary>What a record takes in the ring: a multiple of 16 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Footprint(int length) => RecordHeaderBytes + (((ulong)(uint)length + 15) & ~15UL);

    /// <summary>Positions count bytes since the start and may wrap: only differences mean something.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long Ahead(ulong position, ulong of) => (long)(position - of);

    public static int LargestMessage(ulong ringBytes) => (int)Math.Min(ringBytes / 2, int.MaxValue);

    /// <summary>A record is never split: the ring is followed by half as much again, into which the last record of a lap runs on.</summary>
    public static ulong DataFileBytes(ulong ringBytes) => HeaderBytes + ringBytes + (ringBytes / 2) + 4096;

    public static bool IsRingSize(ulong bytes) => bytes is >= SmallestRing and <= LargestRing && ulong.IsPow2(bytes);
}

/// <summary>What a subscriber says first, and the only thing it ever says on the socket.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct BroadcastJoin
{
    public uint Magic;
    public uint Version;
    public uint Policy;
    public uint WaitsBy;
}

/// <summary>What the publisher answers, with two descriptors if welcome: the data, and the subscriber's own page.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct BroadcastGreeting
{
    public uint Magic;
    public uint Version;
    public uint Layout;
    public uint Answer;
    /// <summary>Where the first message for this subscriber will begin.</summary>
    public ulong Position;
    public ulong Number;
}

/// <summary>The data's first page. The publisher alone can write to the data; subscribers have it mapped for reading.</summary>
[SupportedOSPlatform("linux")]
internal readonly unsafe struct BroadcastHeader(byte* memory)
{
    private readonly byte* _at = memory;

    public ulong* RingBytes => (ulong*)(_at + 16);
    /// <summary>How the publisher waits.</summary>
    public uint* WaitsBy => (uint*)(_at + 24);
    /// <summary>Every record below is complete.</summary>
    public ulong* Published => (ulong*)(_at + 128);
    /// <summary>Every byte below (this - ring bytes) may be overwritten at any time.</summary>
    public ulong* Claimed => (ulong*)(_at + 136);
    /// <summary>A record's beginning, where an overtaken reader goes on.</summary>
    public ulong* Resume => (ulong*)(_at + 144);
    /// <summary>Futex word of all readers: changes when sleepers are to look again.</summary>
    public uint* Wakes => (uint*)(_at + 256);
    /// <summary>1 once the publisher has closed in order.</summary>
    public uint* Closed => (uint*)(_at + 384);
}

/// <summary>A subscriber's own page, which no other subscriber can reach: what it does there harms nobody else.</summary>
[SupportedOSPlatform("linux")]
internal readonly unsafe struct BroadcastPage(byte* memory)
{
    private readonly byte* _at = memory;

    /// <summary>By the reader: everything below has been read.</summary>
    public ulong* Cursor => (ulong*)_at;
    /// <summary>The reader sets 1 and sleeps on <see cref="BroadcastHeader.Wakes"/>; the publisher sets 0 and wakes.</summary>
    public uint* Parked => (uint*)(_at + 128);
    /// <summary>Futex word: the publisher sets 1 and sleeps, the reader sets 0 and wakes.</summary>
    public uint* RoomWanted => (uint*)(_at + 256);
}
