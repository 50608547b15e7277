namespace Ipc;

/// <summary>What is under way at a list's head; whoever meets it completes it before doing anything else.</summary>
internal enum RingStep { None = 0, Pop = 1, Push = 2 }

/// <summary>A list's head: tag (33 bits, one more with every change), 1 + index of the first block or 0 for none (17 bits), who is
/// popping it (12 bits), step (2 bits). The tag keeps a late exchange out.</summary>
internal static class RingHead
{
    public static ulong Of(ulong tag, uint first, uint owner, RingStep step) => (tag << 31) | ((ulong)first << 14) | ((ulong)owner << 2) | (uint)step;
    public static ulong Tag(ulong head) => head >> 31;
    public static uint First(ulong head) => (uint)(head >> 14) & 0x1FFFF;
    public static uint Popper(ulong head) => (uint)(head >> 2) & RingState.MostOwners;
    public static RingStep Step(ulong head) => (RingStep)(head & 3);
}

/// <summary>Two single linked lists, of free and of full blocks, newest message first; twin of native/src/transports/ring/lifo.hpp.</summary>
/// <remarks>
/// A block is either in a list or has an owner in its state word. Moving it between the two changes two words, the list's head and
/// the state; so a move is first announced in the head (with the owner, by one exchange) and then completed by whoever comes by, in
/// steps that take effect once. A process killed in between has announced either nothing or everything there is to complete.
/// </remarks>
internal readonly unsafe struct RingLifo(RingBlocks blocks)
{
    private readonly RingBlocks _blocks = blocks;

    public RingClaim ClaimWrite(uint owner, out uint index) => Pop(false, owner, int.MaxValue, out index, out _);

    public RingClaim ClaimRead(uint owner, int capacity, out uint index, out uint length) => Pop(true, owner, capacity, out index, out length);

    public bool FinishWrite(uint index, uint owner, uint length)
    {
        *_blocks.Length(index) = length; // published by the exchange of the head
        if (!Push(true, index, owner))
            return false;
        _blocks.Wake(RingSide.Readers);
        return true;
    }

    public bool FinishRead(uint index, uint owner)
    {
        if (!Push(false, index, owner))
            return false;
        _blocks.Wake(RingSide.Writers);
        return true;
    }

    /// <summary>Completes what is under way at both heads, perhaps announced by the dead: afterwards the states tell what came of it.
    /// False for damage.</summary>
    public bool Settle()
    {
        var free = RingBlocks.Load(_blocks.FreeHead);
        if (RingHead.Step(free) != RingStep.None && !Complete(false, free))
            return false;
        var full = RingBlocks.Load(_blocks.FullHead);
        return RingHead.Step(full) == RingStep.None || Complete(true, full);
    }

    /// <summary>Takes over and frees the block that a dead owner left in this state. True if this call did it.</summary>
    public bool Recover(uint index, ulong state, uint me) =>
        Settle() &&
        // Ours by one step, so that our own death now is like any other.
        RingBlocks.Swap(_blocks.State(index), state, RingState.Of(RingState.Turn(state) + 1, me, RingPhase.Writing)) &&
        FinishRead(index, me);

    public bool IsWorthTrying(RingSide side) => RingHead.First(RingBlocks.Load(side == RingSide.Readers ? _blocks.FullHead : _blocks.FreeHead)) != 0;

    private ulong* Head(bool full) => full ? _blocks.FullHead : _blocks.FreeHead;
    private static RingPhase Resting(bool full) => full ? RingPhase.Full : RingPhase.Free;
    private static RingPhase Claimed(bool full) => full ? RingPhase.Reading : RingPhase.Writing;

    private RingClaim Pop(bool full, uint owner, int capacity, out uint index, out uint length)
    {
        (index, length) = (0, 0);
        for (var attempts = (4 * _blocks.Count) + 64; attempts > 0; attempts--)
        {
            var head = RingBlocks.Load(Head(full));
            if (RingHead.Step(head) != RingStep.None)
            {
                if (!Complete(full, head))
                    return RingClaim.Damaged;
                continue;
            }
            var first = RingHead.First(head);
            if (first == 0)
                return RingClaim.Blocked;
            if (first > _blocks.Count)
                return RingClaim.Damaged;
            if (full)
            {
                // Valid if the head still stands: until then the block is in the list.
                length = Volatile.Read(ref *_blocks.Length(first - 1));
                if (length > _blocks.BlockBytes || length > (uint)capacity)
                {
                    if (RingBlocks.Load(Head(full)) != head)
                        continue;
                    return length > _blocks.BlockBytes ? RingClaim.Damaged : RingClaim.TooSmall;
                }
            }
            var announced = RingHead.Of(RingHead.Tag(head) + 1, first, owner, RingStep.Pop);
            if (!RingBlocks.Swap(Head(full), head, announced))
                continue;
            index = first - 1;
            return Complete(full, announced) ? RingClaim.Taken : RingClaim.Damaged;
        }
        return RingClaim.Contended;
    }

    // Puts a block that the owner has into the list. False for damage.
    private bool Push(bool full, uint index, uint owner)
    {
        if (RingState.Owner(RingBlocks.Load(_blocks.State(index))) != owner)
            return false;
        while (true)
        {
            var head = RingBlocks.Load(Head(full));
            if (RingHead.Step(head) != RingStep.None)
            {
                if (!Complete(full, head))
                    return false;
                continue;
            }
            *_blocks.Next(index) = RingHead.First(head);
            var announced = RingHead.Of(RingHead.Tag(head) + 1, index + 1, 0, RingStep.Push);
            if (RingBlocks.Swap(Head(full), head, announced))
                return Complete(full, announced);
        }
    }

    // Completes the step that the head announces; many may do so at once. False for damage.
    private bool Complete(bool full, ulong head)
    {
        var first = RingHead.First(head);
        if (first == 0 || first > _blocks.Count || RingHead.Step(head) > RingStep.Push)
            return RingBlocks.Load(Head(full)) != head;
        var index = first - 1;
        var state = RingBlocks.Load(_blocks.State(index));
        // Unless the head has moved on, the state was read while the step was under way; its turn keeps us from changing a later one.
        if (RingBlocks.Load(Head(full)) != head)
            return true;
        var phase = RingState.Phase(state);
        var popping = RingHead.Step(head) == RingStep.Pop;
        var before = popping ? phase == Resting(full) : RingState.IsClaimed(state);
        var after = popping ? phase == Claimed(full) && RingState.Owner(state) == RingHead.Popper(head) : phase == Resting(full);
        if (before)
        {
            var turn = RingState.Turn(state) + 1;
            RingBlocks.Swap(_blocks.State(index), state,
                popping ? RingState.Of(turn, RingHead.Popper(head), Claimed(full)) : RingState.Of(turn, 0, Resting(full)));
        }
        else if (!after)
        {
            return false;
        }
        var stays = popping ? Volatile.Read(ref *_blocks.Next(index)) : first;
        if (stays > _blocks.Count)
            return RingBlocks.Load(Head(full)) != head;
        RingBlocks.Swap(Head(full), head, RingHead.Of(RingHead.Tag(head) + 1, stays, 0, RingStep.None));
        return true;
    }
}
