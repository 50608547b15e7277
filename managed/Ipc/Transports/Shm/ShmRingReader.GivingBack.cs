using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>How what has been read goes back to the writer.</summary>
internal sealed unsafe partial class ShmRingReader
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void GiveBackAndWake()
    {
        GiveBack();
        _segment.WakeIfParked(_control.WriterParked);
    }

    // A line that the reader has only read is slow to write for the writer a lap later; one that the reader has written is not. So the reader
    // stores a word into each line that it gives back, which nobody reads: docs/performance.md, "Whose a line is". Not after calls of a line
    // or two, which gain nothing. What is stored in a slot is this lap's sequence, which is due at no later one.
    private void OwnSlots()
    {
        _owns = false;
        for (var position = _slotsGivenBack; position != _slotPosition; position++)
            *(ulong*)_memory.Slot(position) = ShmRingMemory.Sequence(position);
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
        if (_owns)
            OwnSlots();
        (_slotsGivenBack, _dataGivenBack) = (_slotPosition, _dataPosition);
        // Release: our reading is over before the writer sees the room given back.
        Volatile.Write(ref *_control.DataRead, _dataPosition);
        Volatile.Write(ref *_control.SlotsRead, _slotPosition);
    }
}
