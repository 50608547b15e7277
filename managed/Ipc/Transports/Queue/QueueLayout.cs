using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The file of a queue, docs/wire-formats.md "Queues": a header in its first page, then the data area.</summary>
internal static class QueueLayout
{
    public const uint Magic = 0x51435049; // "IPCQ"
    public const uint Version = 1;
    public const uint HeaderBytes = 4096;
    public const uint SmallestSize = 64 * 1024;
    public const uint LargestSize = 1u << 30;

    /// <summary>In a record: its length, its own position; then the message, up to the next multiple of 8.</summary>
    public const uint RecordHeaderBytes = 8;
    /// <summary>In place of a length: nothing more up to the end of the area, go on at its beginning.</summary>
    public const uint SkipToStart = 0xFFFFFFFF;

    public const int FormatBytes = 16; // magic, version, size of the data area, 0

    /// <summary>Windows: 16 random bytes, the names of what is slept on.</summary>
    public const int WakeName = 64;

    // Offsets of the words that change.
    public const int NextParticipant = 128;
    public const int WriterLock = 256;
    public const int HeadSeen = 260;
    public const int Tail = 384;
    public const int ReadersParked = 512;
    public const int ReadersWoken = 516; // Windows: how often all of them were woken
    public const int ReaderLock = 640;
    public const int TailSeen = 644;
    public const int Head = 768;
    public const int WritersParked = 896;
    public const int WritersWoken = 900;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Footprint(uint length) => (RecordHeaderBytes + length + 7) & ~7u;

    /// <summary>The longest message: its record fits into one half, so that it always fits into an empty queue, wherever that stands.</summary>
    public static uint LongestMessage(uint size) => (size / 2) - RecordHeaderBytes;

    public static bool IsSize(long size) => size is >= SmallestSize and <= LargestSize && long.IsPow2(size);
}
