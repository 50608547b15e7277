using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Messages in turn, docs/wire-formats.md: how the peer learns what has been read without being told by the positions.</summary>
internal sealed partial class ShmRingReader
{
    private bool _peerWentBack; // since this side last wrote a message in turn
    private bool _expectsTwo;   // the next message most likely takes two slots: its second line is asked for whenever the first one is looked at

    /// <summary>Whether the record, in slots, is one in turn.</summary>
    public bool IsInTurn => (_kindAndFlags & ShmRingMemory.InTurn) != 0;

    /// <summary>To be called before a message in turn is written, which lets the peer write again to all slots that have been read, and to the
    /// <paramref name="held"/> slots of the message that is held. False: it must not be one in turn, because there are slots to be owned, which
    /// can wait; but if the peer has gone back to its ring's first slot it soon needs to hear of it, so they are owned at once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryTell(ulong held = 0)
    {
        if (_owns)
        {
            if (!_peerWentBack)
                return false;
            OwnSlots();
        }
        _peerWentBack = false;
        _ownFrom = _slotPosition + held;
        return true;
    }

    /// <summary>Whether the peer may write again to the slots of the message that is held as soon as its answer is there.</summary>
    public bool IsToldByItsAnswer
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => IsInTurn && HeldSlots <= MostSlotsNotOwned;
    }

    /// <summary>Of the message that is held.</summary>
    public ulong HeldSlots
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ShmRingMemory.SlotsFor(_length);
    }

    // The next message is most likely as long. Only in turn: another writer may be far ahead, or at work on that line.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ExpectAlike(ulong count, uint flags) => _expectsTwo = count == 2 && (flags & ShmRingMemory.InTurn) != 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ComeBack()
    {
        if (_owns)
            OwnSlots();
        var start = _memory.NextStart(_slotPosition);
        _ownFrom = start;
        _portionBegin += start - _slotPosition; // a portion is of slots that were used
        _slotPosition = start;
        _peerWentBack = true;
    }
}
