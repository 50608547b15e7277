using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Messages in turn, docs/wire-formats.md: what two sides write that wait for each other, as a caller and its server do.</summary>
internal sealed unsafe partial class ShmRingWriter
{
    private ulong _turnEnd; // behind the last message in turn
    private bool _turnCame; // set by the reading thread while another one may write

    /// <summary>As PublishInSlots, with <see cref="ShmRingMemory.InTurn"/>: the caller has read the peer's last message with this flag.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void PublishInTurn(uint kind, uint id, int length)
    {
        if (Volatile.Read(ref _turnCame))
            LearnOfTurn();
        var count = ShmRingMemory.SlotsFor(length);
        if (count <= ShmRingMemory.MostSlotsInTurn)
        {
            PutInTurn(kind, id, length, count);
        }
        else
        {
            PutHeader(kind | ShmRingMemory.InTurn, id, length, count);
            Advance(count);
        }
        _turnEnd = _slotPosition;
        _segment.WakeIfParked(_control.ReaderParked);
    }

    /// <summary>The other ring brought a message in turn: its writer has read ours. May be called by the reading thread while another one
    /// writes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void TurnCame() => Volatile.Write(ref _turnCame, true);

    // The reader waits where the next message will begin or soon will, so that line is at the reader: nothing is loaded from it, which would
    // only make it cross twice more (docs/experiments.md, "What a call waits for").
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PutInTurn(uint kind, uint id, int length, ulong count)
    {
        var next = _slotPosition + count;
        // Everything before has been read, so the first slots are free by the time that the answer has come.
        if (_slotsRead == _slotPosition && _memory.SlotInRing(next - 1) + 1 >= ShmRingMemory.SlotsOfTurns)
        {
            var start = _memory.NextStart(next);
            InvalidateIfSuspect(start);
            StoreHeader(kind | ShmRingMemory.TurnFlags, id, length);
            ComeToStart(start);
            LookAhead();
        }
        else
        {
            InvalidateIfSuspect(next);
            StoreHeader(kind | ShmRingMemory.InTurn, id, length);
            Advance(count);
        }
    }

    private void ComeToStart(ulong start)
    {
        _slotPosition = start;
        _boundary = start + _memory.ShortLap;
        _suspects.ComeTo(start);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void LearnOfTurn()
    {
        Volatile.Write(ref _turnCame, false);
        NoteRead(_turnEnd);
        LookAhead();
    }

    // Never back, never beyond what is written.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void NoteRead(ulong position)
    {
        if (position - _slotsRead <= _slotPosition - _slotsRead)
            _slotsRead = position;
    }

    // As Invalidate, without a look at a slot that is not suspect.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void InvalidateIfSuspect(ulong position)
    {
        if (_suspects.Has(position))
            InvalidateSuspect(position);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void InvalidateSuspect(ulong position)
    {
        _suspects.Remove(position); // the next record begins there
        Invalidate(position);
    }
}
