using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>The reader's half of a ring. A record is looked at, then consumed; its room goes back to the writer in portions.</summary>
internal sealed unsafe partial class ShmRingReader
{
    private const ulong MostSlotsNotOwned = 2; // calls of so few are as fast without
    // A message that is copied comes in records that are no longer; one lent in place may, and lending costs the same whatever its length.
    private const int MostBytesOwned = 64 * 1024;

    private readonly SharedMemorySegment _segment;
    private readonly ShmRingMemory _memory;
    private readonly RingControl _control;
    private ulong _slotPosition;
    private ulong _dataPosition;
    private ulong _portionBegin;
    private ulong _ownFrom; // the slots before are owned, or not worth it, or already the peer's to write again
    private ulong _slotsGivenBack;
    private ulong _dataGivenBack;
    private long _givenBackTicks; // the tick of the clock in which a portion was last given back for being slow
    private bool _owns; // what came since the last giving back is worth it: plain messages, or long ones
    private readonly SpinBudget _spinBudget = new();
    private readonly int _iterations; // between two readings of the clock
    private readonly int _longestInSlots;
    private byte* _slot;      // the next one
    private int _longestHere; // bytes that a message there can have in slots, whatever its writer says

    // The run that is being read.
    private int _runBytes; // of the whole record; 0: none is begun
    private int _runEach;  // of one message
    private int _runTaken; // of those consumed

    // The record at the read position, copied once out of the shared memory.
    private byte* _bytes;
    private int _length;
    private uint _kindAndFlags;

    /// <param name="segment">The mapping; the peer's ring is read.</param>
    /// <param name="firstSlot">Both sides' starting position, 0 but in tests.</param>
    /// <param name="firstData">The same in the data area, a multiple of 64.</param>
    public ShmRingReader(SharedMemorySegment segment, ulong firstSlot = 0, ulong firstData = 0)
    {
        _segment = segment;
        _memory = new ShmRingMemory(segment, segment.Side ^ 1);
        _control = segment.Incoming;
        _iterations = segment.SpinIterations;
        _longestInSlots = _memory.LongestInSlots;
        (_slotPosition, _dataPosition) = (firstSlot, firstData);
        (_portionBegin, _ownFrom, _slotsGivenBack, _dataGivenBack) = (firstSlot, firstSlot, firstSlot, firstData);
        LookAhead();
        if (firstSlot != 0 || firstData != 0)
            GiveBack();
    }

    public uint Kind => _kindAndFlags & ShmRingMemory.KindMask;
    public uint Flags => _kindAndFlags & ~ShmRingMemory.KindMask;
    public uint Id { get; private set; }
    public int Length => _length;
    /// <summary>The record's bytes, which the peer can still change.</summary>
    public ReadOnlySpan<byte> Bytes => new(_bytes, _length);
    /// <summary>In the first record of several: the whole message's length as the writer claims it.</summary>
    public ulong TotalLength { get; private set; }

    /// <summary>True once the writer has made a record that no writer of ours makes; it must not be touched further.</summary>
    public bool IsDamaged { get; private set; }

    /// <summary>Waits for the record at the read position and takes its header over. Its length is within what a record may
    /// have unless <see cref="IsDamaged"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public WaitResult Wait(Deadline deadline)
    {
        var slot = _slot;
        if (!LookForIt(slot, deadline.IsNow ? 1 : _iterations, out var word))
        {
            var result = WaitLonger(new SequenceCondition((ulong*)slot, ShmRingMemory.Sequence(_slotPosition)), deadline);
            if (result != WaitResult.Ready)
                return result;
            word = Volatile.Read(ref *(ulong*)slot);
        }
        // Each word is read once: the writer may change it while it is being checked.
        _length = (int)(word >> 32);
        var kindAndId = *(ulong*)(slot + 8);
        _kindAndFlags = (uint)kindAndId;
        Id = (uint)(kindAndId >> 32);
        _bytes = slot + ShmRingMemory.HeaderBytes;
        return IsInSlots && (uint)_length <= (uint)_longestHere ? WaitResult.Ready : FindElsewhere(slot, deadline);
    }

    /// <summary>Takes the next message if it is one of exactly this kind and id, lies in slots and fits, in the fewest steps between its
    /// arrival and its use; <paramref name="inTurn"/>: whether it was one in turn. One that is <paramref name="awaited"/> may arrive within the
    /// spin iterations, as the answer does that a caller spins for; otherwise it has to be there, as the next one of a stream is. False: nothing
    /// was touched.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryTakeNext(uint kind, uint id, bool awaited, Span<byte> to, out int length, out bool inTurn)
    {
        (length, inTurn) = (0, false);
        var slot = _slot;
        if (!LookForIt(slot, awaited ? _iterations : 1, out var word))
            return false;
        // No other flags than these, which would stand beside the kind.
        var kindAndId = *(ulong*)(slot + 8);
        if ((kindAndId & ~(ulong)ShmRingMemory.TurnFlags) != (((ulong)id << 32) | kind))
            return false;
        var bytes = (int)(word >> 32);
        if ((uint)bytes > (uint)to.Length || bytes > _longestHere)
            return false;
        ShmRingMemory.Copy(ref slot[ShmRingMemory.HeaderBytes], ref MemoryMarshal.GetReference(to), bytes);
        length = bytes;
        inTurn = (kindAndId & ShmRingMemory.InTurn) != 0;
        PassSlots(ShmRingMemory.SlotsFor(bytes), (uint)kindAndId);
        if (awaited)
            return true;
        _owns = true;
        if (HasPortion)
            EndPortion();
        return true;
    }

    /// <summary>Whether there is no record, nothing to give back to the writer, and no sign of its end that a look would have to confirm.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool HasNothingNow() => _slotsGivenBack == _slotPosition && _segment.NeedsNoLook() && !LookForIt(_slot, 1, out _);

    /// <summary>Gives back what is due. After what was awaited it is left for this: who awaits an answer has something better to do when it has
    /// come, and nothing when it has sent its next question.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Settle()
    {
        if (HasPortion)
            EndPortion();
    }

    /// <summary>As <see cref="Wait"/>, if the next message is of this kind, lies in slots and is not longer than <paramref name="limit"/>: within a
    /// moment if it is <paramref name="awaited"/>, otherwise at once. False: nothing was taken over.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryLook(uint kind, bool awaited, int limit)
    {
        var slot = _slot;
        if (!LookForIt(slot, awaited ? _iterations : 1, out var word))
            return false;
        // Each word is read once: the writer may change it while it is being checked.
        var length = (int)(word >> 32);
        var kindAndId = *(ulong*)(slot + 8);
        if (((uint)kindAndId & ~ShmRingMemory.TurnFlags) != kind || (uint)length > (uint)Math.Min(limit, _longestHere))
            return false;
        (_length, _kindAndFlags) = (length, (uint)kindAndId);
        Id = (uint)(kindAndId >> 32);
        _bytes = slot + ShmRingMemory.HeaderBytes;
        return true;
    }

    // Looks for the next record at most so often; _looks is how often a wait does before it first reads the clock. Here rather than in
    // the wait, so that no way back from a method lies between a record's arrival and its use.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool LookForIt(byte* slot, int iterations, out ulong word)
    {
        var sequence = ShmRingMemory.Sequence(_slotPosition);
        for (; ; SharedMemoryWait.Relax())
        {
            // Acquire: pairs with the writer's release of the sequence.
            word = Volatile.Read(ref *(ulong*)slot);
            if (_expectsTwo)
                SharedMemoryWait.FetchLineToRead(slot + SharedMemoryLayout.SlotBytes);
            if ((uint)word == sequence)
                return true;
            if (--iterations <= 0)
                return false;
        }
    }

    // What the next message's reading needs to know is worked out here, after one has been read and before the next one comes.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void LookAhead()
    {
        _slot = _memory.Slot(_slotPosition);
        var toEnd = _memory.SlotsToEnd(_slotPosition) * SharedMemoryLayout.SlotBytes;
        _longestHere = (int)Math.Min((ulong)_longestInSlots, toEnd - ShmRingMemory.HeaderBytes);
    }

    private bool IsInSlots
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => (_kindAndFlags & ~(ShmRingMemory.KindMask | ShmRingMemory.TurnFlags)) == 0;
    }

    /// <summary>The record is done with. Its memory may be written again from here on.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Consume()
    {
        if (IsInSlots)
        {
            _owns |= Id == 0; // a plain message, most likely one of a stream
            ConsumeSlots(ShmRingMemory.SlotsFor(_length), _kindAndFlags);
        }
        else if ((_kindAndFlags & ShmRingMemory.Run) != 0)
        {
            ConsumeOfRun(1);
        }
        else
        {
            ConsumeData(_length);
        }
    }

    /// <summary>Takes messages that are there already and are plain ones of this kind, in slots or in runs: back to back into
    /// <paramref name="to"/>, as long as the next one fits whole. Returns how many.</summary>
    public int TakeMany(uint kind, Span<byte> to, Span<int> lengths)
    {
        var count = 0;
        while (count < lengths.Length)
        {
            var slot = _slot;
            var word = Volatile.Read(ref *(ulong*)slot);
            if ((uint)word != ShmRingMemory.Sequence(_slotPosition))
                break;
            var length = (int)(word >> 32);
            // The id of a plain message is 0 and its flags are none; anything else is for the caller to look at in peace.
            var kindAndFlags = *(uint*)(slot + 8);
            var (taken, bytes) = (1, length);
            if (kindAndFlags == kind)
            {
                if ((uint)length > (uint)to.Length || length > _longestHere)
                    break;
                ShmRingMemory.Copy(ref slot[ShmRingMemory.HeaderBytes], ref MemoryMarshal.GetReference(to), length);
                lengths[count] = length;
                _owns = true;
                ConsumeSlots(ShmRingMemory.SlotsFor(length), 0);
            }
            else if (kindAndFlags == (kind | ShmRingMemory.InData | ShmRingMemory.Run) && OpensRun(length))
            {
                var each = _runEach;
                taken = TakeOfRun(to, lengths[count..]);
                if (taken == 0)
                    break;
                bytes = taken * each;
            }
            else if (kindAndFlags == ShmRingMemory.Skip && PassesOverRest())
            {
                continue;
            }
            else
            {
                break;
            }
            count += taken;
            to = to[bytes..];
        }
        return count;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void ConsumeSlots(ulong count, uint flags)
    {
        PassSlots(count, flags);
        if (HasPortion)
            EndPortion();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PassSlots(ulong count, uint flags)
    {
        _slotPosition += count;
        _owns |= count > MostSlotsNotOwned;
        ExpectAlike(count, flags);
        if ((flags & ShmRingMemory.Back) != 0)
            ComeBack();
        LookAhead();
    }

    // In portions, so that in a stream of messages the line with the positions seldom crosses between the processors.
    private bool HasPortion
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _slotPosition - _portionBegin >= _memory.ShortLap / 4;
    }

    // The writer goes on at the ring's first slot. False at the first slot, so that a peer cannot lead us round for ever.
    private bool PassesOverRest()
    {
        var toEnd = _memory.SlotsToEnd(_slotPosition);
        if (toEnd == _memory.SlotCount)
            return false;
        // Before the position moves on: slots that are passed over need not be owned.
        if (_owns)
            OwnSlots();
        _slotPosition += toEnd;
        LookAhead();
        GiveBackAndWake();
        return true;
    }

    private void ConsumeData(int length)
    {
        OwnData(length);
        _owns = true;
        _slotPosition++;
        LookAhead();
        _dataPosition = _memory.EndOf(_dataPosition, length);
        if (_dataPosition - _dataGivenBack >= _memory.DataBytes / 4)
            GiveBackAndWake();
        else if (HasPortion)
            EndPortion();
    }

    // While this run is copied and used, the next one is on its way: most likely one of the same length, if there is one already.
    // The look at its sequence delays nothing: the processor goes on as if it were right.
    private void FetchNextRun()
    {
        if (_memory.SlotsToEnd(_slotPosition) == 1)
            return;
        if ((uint)*(ulong*)(_slot + SharedMemoryLayout.SlotBytes) != ShmRingMemory.Sequence(_slotPosition + 1))
            return;
        var next = _memory.EndOf(_dataPosition, _runBytes);
        SharedMemoryWait.FetchToRead(_memory.Data(_memory.Place(next, _runBytes)), Math.Min(_runBytes, ShmRingMemory.MostBytesOfRun));
    }

    // Takes over what the record at the read position says of itself, once, when it is begun. False: no writer of ours wrote it.
    private bool OpensRun(int length)
    {
        if (_runBytes != 0)
            return true;
        var each = *(int*)(_slot + ShmRingMemory.HeaderBytes);
        if (length <= 0 || each <= 0 || length > _memory.LargestRecord || length % each != 0)
            return false;
        (_runBytes, _runEach, _runTaken) = (length, each, 0);
        FetchNextRun();
        return true;
    }

    // The first message of it that has not been consumed.
    private byte* NextOfRun => _memory.Data(_memory.Place(_dataPosition, _runBytes)) + _runTaken;

    private void ConsumeOfRun(int messages)
    {
        _runTaken += messages * _runEach;
        if (_runTaken != _runBytes)
            return;
        var bytes = _runBytes;
        _runBytes = 0;
        ConsumeData(bytes);
    }

    // As many messages of the run at the read position as are asked for and fit.
    private int TakeOfRun(Span<byte> to, Span<int> lengths)
    {
        var each = _runEach;
        var count = Math.Min(Math.Min((_runBytes - _runTaken) / each, to.Length / each), lengths.Length);
        new ReadOnlySpan<byte>(NextOfRun, count * each).CopyTo(to);
        lengths[..count].Fill(each);
        if (count != 0)
            ConsumeOfRun(count);
        return count;
    }

    // A record that is no message in slots; a peer may have written anything.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult FindElsewhere(byte* slot, Deadline deadline)
    {
        if (Flags == ShmRingMemory.Skip)
        {
            if (PassesOverRest())
                return Wait(deadline);
        }
        else if (Flags == (ShmRingMemory.InData | ShmRingMemory.Run))
        {
            if (OpensRun(_length))
            {
                _bytes = NextOfRun;
                _length = _runEach;
                return WaitResult.Ready;
            }
        }
        else if ((Flags & ShmRingMemory.InData) != 0 && (Flags & ~(ShmRingMemory.InData | ShmRingMemory.More | ShmRingMemory.Continues)) == 0
                 && (uint)_length <= (uint)_memory.LargestRecord)
        {
            _bytes = _memory.Data(_memory.Place(_dataPosition, _length));
            TotalLength = Flags == (ShmRingMemory.InData | ShmRingMemory.More) ? *(ulong*)(slot + ShmRingMemory.HeaderBytes) : (ulong)_length;
            return WaitResult.Ready;
        }
        IsDamaged = true;
        return WaitResult.Ready;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private WaitResult WaitLonger(SequenceCondition condition, Deadline deadline)
    {
        // The writer may be waiting for the room we still hold, and we are about to wait for it.
        if (_slotsGivenBack != _slotPosition)
            GiveBackAndWake();
        return _segment.Wait(condition, _control.ReaderParked, _spinBudget, deadline);
    }

    private readonly struct SequenceCondition(ulong* word, uint sequence) : IWaitCondition
    {
        // Acquire: pairs with the writer's release of the sequence.
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => (uint)Volatile.Read(ref *word) == sequence;
    }
}
