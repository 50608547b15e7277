using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The publisher's table of its readers.</summary>
/// <remarks>
/// Their pages lie side by side in memory that stays mapped as long as the table, so that the publishing thread may look at any
/// page at any time; what is said of "present" readers alone counts. A reader can write anything into its page: the cursor is
/// copied once and checked, the rest can only cost a wake-up.
/// </remarks>
[SupportedOSPlatform("linux")]
internal sealed unsafe class BroadcastReaders : IDisposable
{
    private const ulong RegionBytes = BroadcastLayout.MostReaders * BroadcastLayout.PageBytes;

    private readonly MappedMemory _region;
    private readonly byte* _pages;
    private readonly ulong[] _cursors = new ulong[BroadcastLayout.MostReaders];
    private readonly Descriptor?[] _sockets = new Descriptor?[BroadcastLayout.MostReaders]; // the admitting thread's
    private ulong _present; // bit per place, as the next three
    private ulong _parking; // present, and may sleep
    private ulong _waitedFor; // present, with policy wait
    private ulong _taken; // not to be given away yet

    public BroadcastReaders()
    {
        // Some memory of zeros holds the addresses until readers' own pages take its place.
        using var zeros = SealedMemory.Create(RegionBytes);
        _region = SealedMemory.Map(zeros, RegionBytes, writable: true);
        _pages = _region.Pointer;
    }

    /// <summary>Held for letting readers in and out and for finding room, which is not needed for every message.</summary>
    public Lock Gate { get; } = new();

    public int Count => BitOperations.PopCount(Volatile.Read(ref _present));

    public bool MayPark
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _parking) != 0;
    }

    public BroadcastPage Page(int place) => new(_pages + (place * BroadcastLayout.PageBytes));

    /// <summary>Whether somebody sleeps and must be woken. Call after publishing and a full fence: either this sees that a reader
    /// sleeps or the reader sees what was published. Takes the sleepers' marks away, so that the messages published until
    /// they run again cost no further wake-up.</summary>
    public bool TakeParked()
    {
        var any = false;
        for (var left = Volatile.Read(ref _parking); left != 0; left &= left - 1)
        {
            var parked = Page(BitOperations.TrailingZeroCount(left)).Parked;
            if (Volatile.Read(ref *parked) != 0)
                any |= Interlocked.Exchange(ref *parked, 0) != 0;
        }
        return any;
    }

    /// <summary>Whether a reader that set the limit at this cursor has read on or is gone: without it there is no need to look again.</summary>
    public bool HasMoved(int place, ulong cursor) =>
        (Volatile.Read(ref _present) >> place & 1) == 0 || Volatile.Read(ref *Page(place).Cursor) != cursor;

    /// <summary>A place for a reader, which counts from now on; -1 when all are taken. With the gate held.</summary>
    public int Admit(in BroadcastJoin join, Descriptor pageFile, ulong position, Descriptor socket)
    {
        var place = BitOperations.TrailingZeroCount(~_taken);
        if (place == BroadcastLayout.MostReaders)
            return -1;
        SealedMemory.MapOver(_pages + (place * BroadcastLayout.PageBytes), pageFile, BroadcastLayout.PageBytes);
        var bit = 1UL << place;
        _taken |= bit;
        if (join.Policy == BroadcastLayout.PolicyWait)
            _waitedFor |= bit;
        _cursors[place] = position;
        _sockets[place] = socket;
        *Page(place).Cursor = position;
        if (join.WaitsBy != SharedMemoryLayout.WaitsBySpinning)
            Interlocked.Or(ref _parking, bit);
        Interlocked.Or(ref _present, bit);
        return place;
    }

    /// <summary>With the gate held.</summary>
    public void Remove(int place)
    {
        Forget(place);
        _taken &= ~(1UL << place);
        _sockets[place] = null;
        // The page stays mapped until the next reader gets the place; the publisher may be asleep on it.
        WakePublisher();
    }

    /// <summary>Wakes the publishing thread, should it wait for some reader's room.</summary>
    public void WakePublisher()
    {
        for (var place = 0; place < BroadcastLayout.MostReaders; place++)
        {
            var wanted = Page(place).RoomWanted;
            if (Interlocked.Exchange(ref *wanted, 0) != 0)
                Libc.WakeAll(wanted);
        }
    }

    /// <summary>Up to where may be written without overwriting what is still to be read, and the reader that sets this limit (-1: none
    /// does). A reader whose cursor goes backwards or beyond what was published is no longer waited for, and loses its
    /// connection. With the gate held.</summary>
    public ulong Limit(ulong published, ulong ringBytes, out int slowest)
    {
        var limit = published + ringBytes;
        slowest = -1;
        for (var left = _waitedFor; left != 0; left &= left - 1)
        {
            var place = BitOperations.TrailingZeroCount(left);
            // Acquire: the reader's copying is over before its bytes are overwritten.
            var cursor = Volatile.Read(ref *Page(place).Cursor);
            if (cursor - _cursors[place] > published - _cursors[place])
            {
                Forget(place);
                LocalSocket.ShutDown(_sockets[place]!); // the admitting thread finds the end and removes it
                continue;
            }
            _cursors[place] = cursor;
            if (slowest < 0 || BroadcastLayout.Ahead(cursor + ringBytes, limit) < 0)
                (limit, slowest) = (cursor + ringBytes, place);
        }
        return limit;
    }

    /// <summary>Once nobody is inside any more.</summary>
    public void Dispose() => _region.Dispose();

    private void Forget(int place)
    {
        var others = ~(1UL << place);
        _waitedFor &= others;
        Interlocked.And(ref _parking, others);
        Interlocked.And(ref _present, others);
    }
}
