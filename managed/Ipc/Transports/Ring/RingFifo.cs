using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The circular list of blocks with four cursors, oldest message first; twin of native/src/transports/ring/fifo.hpp.</summary>
/// <remarks>
/// A block's state word decides everything: the exchange that claims it also says whose it is, so there is no moment in which a
/// killed process has a block that does not bear its name. The cursors only follow: whoever finds one behind the states moves it
/// on. A cursor therefore tells where to look first, never what may be done.
/// </remarks>
internal readonly unsafe struct RingFifo(RingBlocks blocks)
{
    private enum Lap { Previous, Same, Next, Other }

    private readonly RingBlocks _blocks = blocks;
    private readonly uint _mask = blocks.Count - 1;

    /// <summary>A writer's claim of the next free block. Blocked: <paramref name="blocker"/> is the state of the block in the way.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public RingClaim ClaimWrite(uint owner, out ulong position, out ulong blocker)
    {
        var at = RingBlocks.Load(_blocks.WriteEnd);
        var state = _blocks.State(Index(at));
        var free = RingState.Of(at, 0, RingPhase.Free);
        if (RingBlocks.Load(state) == free && RingBlocks.Swap(state, free, RingState.Of(at, owner, RingPhase.Writing)))
        {
            RingBlocks.Swap(_blocks.WriteEnd, at, at + 1);
            position = at;
            blocker = 0;
            return RingClaim.Taken;
        }
        return ClaimWriteSlowly(owner, out position, out blocker);
    }

    /// <summary>The claimed block holds its message. False if somebody changed a word that was ours.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool FinishWrite(ulong position, uint owner, uint length)
    {
        *_blocks.Length(Index(position)) = length; // published by the exchange
        if (!RingBlocks.Swap(_blocks.State(Index(position)), RingState.Of(position, owner, RingPhase.Writing), RingState.Of(position, 0, RingPhase.Full)))
            return false;
        _blocks.Wake(RingSide.Readers);
        Follow(_blocks.WriteStart, _blocks.WriteEnd, true);
        return true;
    }

    /// <summary>A reader's claim of the oldest message. Taken and TooSmall: <paramref name="length"/> is its length.</summary>
    public RingClaim ClaimRead(uint owner, int capacity, out ulong position, out uint length, out ulong blocker)
    {
        (position, length, blocker) = (0, 0, 0);
        for (var attempts = Attempts; attempts > 0; attempts--)
        {
            var at = RingBlocks.Load(_blocks.ReadEnd);
            var word = _blocks.State(Index(at));
            var state = RingBlocks.Load(word);
            if (state == RingState.Of(at, 0, RingPhase.Full))
            {
                // Read before the claim, because a message too long for the buffer must stay; valid if the word still stands.
                length = Volatile.Read(ref *_blocks.Length(Index(at)));
                if (length > _blocks.BlockBytes || length > (uint)capacity)
                {
                    if (RingBlocks.Load(word) == state)
                        return length > _blocks.BlockBytes ? RingClaim.Damaged : RingClaim.TooSmall;
                    continue;
                }
                if (!RingBlocks.Swap(word, state, RingState.Of(at, owner, RingPhase.Reading)))
                    continue;
                RingBlocks.Swap(_blocks.ReadEnd, at, at + 1);
                position = at;
                return RingClaim.Taken;
            }
            var lap = LapOf(state, at);
            var phase = RingState.Phase(state);
            if (state == RingState.Of(at, 0, RingPhase.Skip))
            {
                PassOver(state);
            }
            else if ((lap == Lap.Same && phase == RingPhase.Reading) || lap == Lap.Next)
            {
                RingBlocks.Swap(_blocks.ReadEnd, at, at + 1);
            }
            else if (NothingToRead(lap, phase))
            {
                blocker = state;
                return RingClaim.Blocked;
            }
            else if (RingBlocks.Load(_blocks.ReadEnd) == at)
            {
                return RingClaim.Damaged; // not even a cursor read long ago explains this word
            }
        }
        return RingClaim.Contended;
    }

    /// <summary>The claimed message has been copied out. False if somebody changed a word that was ours.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool FinishRead(ulong position, uint owner)
    {
        if (!RingBlocks.Swap(_blocks.State(Index(position)), RingState.Of(position, owner, RingPhase.Reading),
            RingState.Of(position + _blocks.Count, 0, RingPhase.Free)))
            return false;
        _blocks.Wake(RingSide.Writers);
        Follow(_blocks.ReadStart, _blocks.ReadEnd, false);
        return true;
    }

    /// <summary>Finishes what a dead owner left in this state. True if this call did it.</summary>
    public bool Recover(ulong state)
    {
        var turn = RingState.Turn(state);
        if (RingState.Phase(state) != RingPhase.Writing)
            return RingState.Phase(state) == RingPhase.Reading && PassOver(state); // the message counts as delivered to the dead
        // Never reported as sent: there is no message.
        if (!RingBlocks.Swap(_blocks.State(Index(turn)), state, RingState.Of(turn, 0, RingPhase.Skip)))
            return false;
        _blocks.Wake(RingSide.Readers);
        Follow(_blocks.WriteStart, _blocks.WriteEnd, true);
        return true;
    }

    /// <summary>Whether an attempt is worth making, for whoever hands a wake-up on.</summary>
    public bool IsWorthTrying(RingSide side)
    {
        var at = RingBlocks.Load(side == RingSide.Readers ? _blocks.ReadEnd : _blocks.WriteEnd);
        var state = RingBlocks.Load(_blocks.State(Index(at)));
        var lap = LapOf(state, at);
        var phase = RingState.Phase(state);
        return side == RingSide.Readers ? !NothingToRead(lap, phase) : lap != Lap.Previous || phase == RingPhase.Skip;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private RingClaim ClaimWriteSlowly(uint owner, out ulong position, out ulong blocker)
    {
        (position, blocker) = (0, 0);
        for (var attempts = Attempts; attempts > 0; attempts--)
        {
            var at = RingBlocks.Load(_blocks.WriteEnd);
            var word = _blocks.State(Index(at));
            var state = RingBlocks.Load(word);
            if (state == RingState.Of(at, 0, RingPhase.Free))
            {
                if (!RingBlocks.Swap(word, state, RingState.Of(at, owner, RingPhase.Writing)))
                    continue;
                RingBlocks.Swap(_blocks.WriteEnd, at, at + 1);
                position = at;
                return RingClaim.Taken;
            }
            var lap = LapOf(state, at);
            var phase = RingState.Phase(state);
            var inUse = RingState.IsKnown(phase) && phase != RingPhase.Free;
            if ((lap == Lap.Same && inUse) || (lap == Lap.Next && phase == RingPhase.Free))
            {
                RingBlocks.Swap(_blocks.WriteEnd, at, at + 1); // claimed before
            }
            else if (lap == Lap.Previous && phase == RingPhase.Skip)
            {
                PassOver(state); // a full ring need not wait for a reader to find out that there is nothing to read
            }
            else if (lap == Lap.Previous && inUse)
            {
                blocker = state;
                return RingClaim.Blocked;
            }
            else if (RingBlocks.Load(_blocks.WriteEnd) == at)
            {
                return RingClaim.Damaged;
            }
        }
        return RingClaim.Contended;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private uint Index(ulong position) => (uint)position & _mask;

    // More steps than any honest mixture of helping and losing takes; a hostile one only makes us look at the clock.
    private uint Attempts => (4 * _blocks.Count) + 64;

    // Which lap of the ring the state belongs to, seen from the position.
    private Lap LapOf(ulong state, ulong position)
    {
        var ahead = (RingState.Turn(state) - position) & RingState.TurnMask;
        if (ahead == 0)
            return Lap.Same;
        if (ahead == _blocks.Count)
            return Lap.Next;
        return ahead == RingState.TurnMask + 1 - _blocks.Count ? Lap.Previous : Lap.Other;
    }

    // The block at the readers' end is still to be written, or its reader of the lap before has not finished.
    private static bool NothingToRead(Lap lap, RingPhase phase) =>
        (lap == Lap.Same && phase is (RingPhase.Free or RingPhase.Writing)) || (lap == Lap.Previous && phase == RingPhase.Reading);

    // Gives a block back that holds no message any more.
    private bool PassOver(ulong state)
    {
        var turn = RingState.Turn(state);
        if (!RingBlocks.Swap(_blocks.State(Index(turn)), state, RingState.Of(turn + _blocks.Count, 0, RingPhase.Free)))
            return false;
        _blocks.Wake(RingSide.Writers);
        Follow(_blocks.ReadStart, _blocks.ReadEnd, false);
        return true;
    }

    // Moves a start past every block that is done. Any of those who finish may be the one that finds the first done; because it
    // marks its own block before it looks, no done block is overlooked by all.
    private void Follow(ulong* start, ulong* end, bool writing)
    {
        for (uint moved = 0; moved <= _blocks.Count; moved++)
        {
            var at = RingBlocks.Load(start);
            if (at == RingBlocks.Load(end))
                return;
            var state = RingBlocks.Load(_blocks.State(Index(at)));
            var lap = LapOf(state, at);
            if (lap != Lap.Next && !(writing && lap == Lap.Same && RingState.Phase(state) is not (RingPhase.Free or RingPhase.Writing)))
                return;
            RingBlocks.Swap(start, at, at + 1);
        }
    }
}
