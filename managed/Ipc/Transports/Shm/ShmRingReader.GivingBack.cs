using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>How what has been read goes back to the writer.</summary>
internal sealed unsafe partial class ShmRingReader
{
    // Whether the writer can be told of this portion with a later one. It is far ahead then, all round the ring, and asks for the line with
    // the positions again and again as soon as the ring is full. Each time that it gets that line our stores wait until it is back here: far
    // apart half of all time went into this (docs/experiments.md, "One way"). But a slow reader tells of each portion, or its writer's
    // time-outs would pass although there is room; so does everyone whose writer sleeps.
    private bool MayKeepMore() =>
        (_slotPosition & (_memory.SlotCount - 1)) >= _memory.ShortLap && _slotPosition - _slotsGivenBack < _memory.SlotCount / 4
        && Volatile.Read(ref *_control.WriterParked) == 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EndPortion()
    {
        if (!MayKeepMore())
        {
            GiveBackAndWake();
            return;
        }
        var now = Environment.TickCount64;
        if (now != _givenBackTicks)
        {
            _givenBackTicks = now;
            GiveBackAndWake();
            return;
        }
        BeginPortion();
    }

    private void BeginPortion()
    {
        if (_owns)
            OwnSlots();
        (_portionBegin, _ownFrom) = (_slotPosition, _slotPosition);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void GiveBackAndWake()
    {
        GiveBack();
        _segment.WakeIfParked(_control.WriterParked);
    }

    // A line that the reader has only read is slow to write for the writer a lap later; one that the reader has written is not. So the reader
    // stores a word into each line that it gives back, which nobody reads: docs/experiments.md, "Whose a line is". Not after calls of a line
    // or two, which gain nothing. What is stored in a slot is this lap's sequence, which is due at no later one.
    private void OwnSlots()
    {
        _owns = false;
        var end = _slotPosition; // a copy: the stores might be to it, for all that the compiler knows
        for (var position = _ownFrom; position != end; position++)
            *(ulong*)_memory.Slot(position) = ShmRingMemory.Sequence(position);
        _ownFrom = end;
    }

    private void OwnData(int length)
    {
        if (length > MostBytesOwned)
            return;
        var begin = _memory.Data(_memory.Place(_dataPosition, length));
        for (var at = 0; at < length; at += SharedMemoryLayout.SlotBytes)
            *(ulong*)(begin + at) = 0;
    }

    private void GiveBack()
    {
        BeginPortion();
        (_slotsGivenBack, _dataGivenBack) = (_slotPosition, _dataPosition);
        // Release: our reading is over before the writer sees the room given back.
        Volatile.Write(ref *_control.DataRead, _dataPosition);
        Volatile.Write(ref *_control.SlotsRead, _slotPosition);
    }
}
