using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Which slots may hold a sequence that comes due although no record has been written there: what the writer of a ring knows of its
/// own past, so that it need not look into the slot. That line is at the reader, which is waiting there or soon will be, and looking would fetch
/// it right before a message is to go out (docs/experiments.md, "What a call waits for"). Twin of native SuspectSlots.</summary>
/// <remarks>A slot is suspect after bytes of a message have gone through it, and whatever it holds is once in 2^31 slots, before sequences come
/// again; a record that begins there ends the suspicion.</remarks>
internal struct SuspectSlots
{
    // Sequences have 32 bits. Whatever a slot holds, an era ends before that comes due.
    private const int EraBits = 31;

    private readonly ulong _mask;
    private readonly ulong[] _bits;
    private ulong _era;

    public SuspectSlots(ulong slotCount, ulong position)
    {
        _mask = slotCount - 1;
        _bits = new ulong[Math.Max(1, slotCount / 64)];
        _era = 0;
        ComeTo(position); // in tests, which begin anywhere
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool Has(ulong position)
    {
        var slot = position & _mask;
        return ((_bits[slot / 64] >> (int)(slot % 64)) & 1) != 0;
    }

    public readonly void Remove(ulong position)
    {
        var slot = position & _mask;
        _bits[slot / 64] &= ~(1UL << (int)(slot % 64));
    }

    /// <summary>Positions of one lap, one or more.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly void Add(ulong first, ulong end)
    {
        if (end - first > 1)
        {
            AddSeveral(first, end);
            return;
        }
        var slot = first & _mask;
        _bits[slot / 64] |= 1UL << (int)(slot % 64);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private readonly void AddSeveral(ulong first, ulong end)
    {
        var slot = first & _mask;
        for (var left = end - first; left != 0;)
        {
            var here = Math.Min(left, 64 - (slot % 64));
            _bits[slot / 64] |= (ulong.MaxValue >> (int)(64 - here)) << (int)(slot % 64);
            slot += here;
            left -= here;
        }
    }

    /// <summary>To be told once a lap at least.</summary>
    public void ComeTo(ulong position)
    {
        if (position >> EraBits == _era)
            return;
        _era = position >> EraBits;
        _bits.AsSpan().Fill(ulong.MaxValue);
    }
}
