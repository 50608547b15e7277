using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>One opener's handle on a ring: messages copied in and out, waiting, and finishing for the dead; twin of
/// native/src/transports/ring/ring_queue.cpp.</summary>
internal sealed unsafe class RingQueue : IpcQueue
{
    private static readonly long s_slice = SharedMemoryWait.SliceMilliseconds * Stopwatch.Frequency / 1000;

    private readonly RingFile _file;
    private readonly RingBlocks _blocks;
    private readonly RingFifo _fifo;
    private readonly RingLifo _lifo;
    private readonly WaitPolicy _policy;
    private readonly bool _inOrder;
    private readonly uint _me;
    private long _lastReclaim;
    private HandleGate<ThreadDoors> _gate;
    private volatile bool _closed;

    /// <param name="file">Owned from now on.</param>
    /// <param name="policy">How this handle waits.</param>
    /// <param name="limit">The handle's own limit on messages, if smaller than a block.</param>
    public RingQueue(RingFile file, WaitPolicy policy, int limit)
    {
        _file = file;
        _blocks = new RingBlocks(file.Memory, file.BlockCount, file.BlockBytes);
        _fifo = new RingFifo(_blocks);
        _lifo = new RingLifo(_blocks);
        _policy = policy;
        _inOrder = file.Order == RingOrder.Fifo;
        _me = file.Number;
        MaxMessageLength = Math.Min(limit, (int)file.BlockBytes);
        Sweep(true);
    }

    public override int MaxMessageLength { get; }

    public override bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        ref var door = ref _gate.Doors.Mine(out var isMine);
        if (isMine && door.TryEnter())
        {
            // Nothing here can throw, so no try block is paid for.
            var claim = RingClaim.Blocked;
            if (!_closed && message.Length <= MaxMessageLength && timeoutMilliseconds >= Timeout.Infinite)
                claim = new Writing(this, message).Try();
            door.Leave();
            if (claim == RingClaim.Taken)
                return true;
            if (claim == RingClaim.Damaged)
                throw Damaged();
        }
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        return Enqueue(message, timeoutMilliseconds, CancellationToken.None);
    }

    internal override bool TryEnqueue(ReadOnlySpan<byte> message, CancellationToken cancellation)
    {
        using var waking = cancellation.UnsafeRegister(ring => ((RingQueue)ring!).WakeAllHere(), this);
        return Enqueue(message, Timeout.Infinite, cancellation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool Enqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds, CancellationToken cancellation)
    {
        if (message.Length > MaxMessageLength)
            throw TooLarge(message.Length);
        using var visit = new ThreadVisit(ref _gate);
        if (_closed)
            throw IsClosed();
        var attempt = new Writing(this, message);
        var claim = attempt.Try();
        if (claim != RingClaim.Taken)
            claim = WaitLonger(ref attempt, RingSide.Writers, claim, timeoutMilliseconds, cancellation);
        return claim switch
        {
            RingClaim.Taken => true,
            RingClaim.Blocked or RingClaim.Contended => false,
            _ => throw Damaged(),
        };
    }

    public override bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var status = Take(buffer, out length, timeoutMilliseconds);
        if (status == IpcStatus.BufferTooSmall)
        {
            var needed = length;
            length = 0;
            throw new IpcException(IpcStatus.BufferTooSmall,
                $"the next message of {_file.Address} has {needed} bytes, the buffer {buffer.Length}: ask again with room for it");
        }
        return status == IpcStatus.Ok;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal override IpcStatus Take(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        ref var door = ref _gate.Doors.Mine(out var isMine);
        if (isMine && door.TryEnter())
        {
            // Nothing here can throw, so no try block is paid for.
            var attempt = new Reading(this, buffer);
            var claim = _closed ? RingClaim.Blocked : attempt.Try();
            door.Leave();
            length = (int)attempt.Length;
            if (claim == RingClaim.Taken)
                return IpcStatus.Ok;
            if (claim == RingClaim.Damaged)
                throw Damaged();
        }
        return Dequeue(buffer, out length, timeoutMilliseconds, CancellationToken.None);
    }

    internal override IpcStatus Take(Span<byte> buffer, out int length, CancellationToken cancellation)
    {
        using var waking = cancellation.UnsafeRegister(ring => ((RingQueue)ring!).WakeAllHere(), this);
        return Dequeue(buffer, out length, Timeout.Infinite, cancellation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private IpcStatus Dequeue(Span<byte> buffer, out int length, int timeoutMilliseconds, CancellationToken cancellation)
    {
        using var visit = new ThreadVisit(ref _gate);
        if (_closed)
            throw IsClosed();
        var attempt = new Reading(this, buffer);
        var claim = attempt.Try();
        if (claim != RingClaim.Taken)
            claim = WaitLonger(ref attempt, RingSide.Readers, claim, timeoutMilliseconds, cancellation);
        length = claim is RingClaim.Taken or RingClaim.TooSmall ? (int)attempt.Length : 0;
        return claim switch
        {
            RingClaim.Taken => IpcStatus.Ok,
            RingClaim.Blocked or RingClaim.Contended => IpcStatus.TimedOut,
            RingClaim.TooSmall => IpcStatus.BufferTooSmall,
            _ => throw Damaged(),
        };
    }

    public override void Close()
    {
        _closed = true;
        WakeAllHere();
    }

    // Our own threads may be among the sleepers; the others find nothing changed and sleep on. The exchange is a full fence
    // between what our threads are to see and looking, so that nobody goes to sleep unseen.
    private void WakeAllHere()
    {
        if (!_gate.TryEnterBeside())
            return;
        foreach (var side in (ReadOnlySpan<RingSide>)[RingSide.Readers, RingSide.Writers])
        {
            if (Interlocked.Exchange(ref *_blocks.Parked(side), 0) != 0)
                SharedWord.WakeAll(_blocks.Parked(side));
        }
        _gate.LeaveBeside();
    }

    protected override void Dispose(bool disposing)
    {
        Close();
        if (!_gate.TryEnd())
            return;
        _gate.AwaitEmpty();
        _file.Dispose();
    }

    /// <summary>One attempt of a writer or of a reader, which claims, copies and finishes. Structs, so that waiting is compiled for
    /// each and allocates nothing.</summary>
    private interface IAttempt
    {
        RingClaim Try();
        /// <summary>After Blocked, in fifo order: the state of the block in the way.</summary>
        ulong Blocker { get; }
    }

    private ref struct Writing(RingQueue ring, ReadOnlySpan<byte> message) : IAttempt
    {
        private readonly RingQueue _ring = ring;
        private readonly ReadOnlySpan<byte> _message = message;
        private ulong _blocker;

        public readonly ulong Blocker => _blocker;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public RingClaim Try()
        {
            if (!_ring._inOrder)
                return TryUnordered();
            var claim = _ring._fifo.ClaimWrite(_ring._me, out var position, out _blocker);
            if (claim != RingClaim.Taken)
                return claim;
            _message.CopyTo(new Span<byte>(_ring._blocks.Payload((uint)position & (_ring._blocks.Count - 1)), _message.Length));
            return _ring._fifo.FinishWrite(position, _ring._me, (uint)_message.Length) ? RingClaim.Taken : RingClaim.Damaged;
        }

        private readonly RingClaim TryUnordered()
        {
            var claim = _ring._lifo.ClaimWrite(_ring._me, out var index);
            if (claim != RingClaim.Taken)
                return claim;
            _message.CopyTo(new Span<byte>(_ring._blocks.Payload(index), _message.Length));
            return _ring._lifo.FinishWrite(index, _ring._me, (uint)_message.Length) ? RingClaim.Taken : RingClaim.Damaged;
        }
    }

    private ref struct Reading(RingQueue ring, Span<byte> buffer) : IAttempt
    {
        private readonly RingQueue _ring = ring;
        private readonly Span<byte> _buffer = buffer;
        private ulong _blocker;
        private uint _length;

        public readonly ulong Blocker => _blocker;
        public readonly uint Length => _length;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public RingClaim Try()
        {
            if (!_ring._inOrder)
                return TryUnordered();
            var claim = _ring._fifo.ClaimRead(_ring._me, _buffer.Length, out var position, out _length, out _blocker);
            if (claim != RingClaim.Taken)
                return claim;
            new ReadOnlySpan<byte>(_ring._blocks.Payload((uint)position & (_ring._blocks.Count - 1)), (int)_length).CopyTo(_buffer);
            return _ring._fifo.FinishRead(position, _ring._me) ? RingClaim.Taken : RingClaim.Damaged;
        }

        private RingClaim TryUnordered()
        {
            var claim = _ring._lifo.ClaimRead(_ring._me, _buffer.Length, out var index, out _length);
            if (claim != RingClaim.Taken)
                return claim;
            new ReadOnlySpan<byte>(_ring._blocks.Payload(index), (int)_length).CopyTo(_buffer);
            return _ring._lifo.FinishRead(index, _ring._me) ? RingClaim.Taken : RingClaim.Damaged;
        }
    }

    private static bool Waits(RingClaim claim) => claim is RingClaim.Blocked or RingClaim.Contended;

    // Repeats the attempt until it no longer waits or the time is over, when its last outcome comes back. Throws when closed.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private RingClaim WaitLonger<T>(ref T attempt, RingSide side, RingClaim claim, int timeoutMilliseconds, CancellationToken cancellation)
        where T : IAttempt, allows ref struct
    {
        if (!Waits(claim))
            return claim;
        var deadline = new Deadline(timeoutMilliseconds);
        // Also a caller that only polls gets past the dead.
        if (deadline.Expired && Reclaim(side, attempt.Blocker))
            claim = attempt.Try();
        if (_policy.Mode != WaitMode.Block)
            claim = Spin(ref attempt, side, claim, deadline, cancellation);
        if (!Waits(claim))
            return claim;
        if (_closed)
            throw IsClosed();
        // Somebody who only polls must not make the other side believe that a sleeper is to be woken.
        return deadline.Expired ? claim : Park(ref attempt, side, deadline, cancellation);
    }

    private RingClaim Spin<T>(ref T attempt, RingSide side, RingClaim claim, Deadline deadline, CancellationToken cancellation) where T : IAttempt,
        allows ref struct
    {
        long start = 0, spun = 0;
        while (Waits(claim) && !deadline.Expired)
        {
            for (var iteration = 0; iteration < SharedMemoryWait.SpinIterations && Waits(claim); iteration++)
            {
                SharedMemoryWait.Relax();
                claim = attempt.Try();
            }
            if (!Waits(claim) || _closed || cancellation.IsCancellationRequested)
                break;
            var now = Stopwatch.GetTimestamp();
            if (start == 0)
                start = now;
            else
                spun = now - start;
            if (_policy.Mode == WaitMode.Adaptive && spun >= _policy.SpinTicks)
                break;
            // Something else may need the processor, whoever we wait for first of all.
            if (SharedMemoryWait.OneProcessor || spun >= SharedMemoryWait.YieldAfter)
                SharedWord.YieldProcessor();
            if (spun >= s_slice)
                Reclaim(side, attempt.Blocker);
        }
        return claim;
    }

    // Parking: set the word, try again, and only then sleep; whoever publishes does it the other way round, clears the word and
    // wakes one. The one may find that another was faster, or take one message while more came; and the clearing may have been
    // meant for one who was not asleep yet, whose word somebody else has set again. So whoever leaves sets the word for those who
    // still sleep, looks, and hands the wake-up on.
    private RingClaim Park<T>(ref T attempt, RingSide side, Deadline deadline, CancellationToken cancellation) where T : IAttempt, allows ref struct
    {
        var parked = _blocks.Parked(side);
        var slept = false;
        RingClaim claim;
        while (true)
        {
            Interlocked.Exchange(ref *parked, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
            claim = attempt.Try();
            if (!Waits(claim) || _closed || deadline.Expired || cancellation.IsCancellationRequested)
                break;
            if (claim == RingClaim.Contended)
                continue;
            // Not only after a whole slice: traffic behind a dead owner's block may wake us again and again.
            if (slept && Reclaim(side, attempt.Blocker))
            {
                slept = false;
                continue;
            }
            SharedWord.SleepOn(parked, 1, deadline.SliceMilliseconds(SharedMemoryWait.SliceMilliseconds));
            slept = true;
        }
        Interlocked.Exchange(ref *parked, 1);
        if (_inOrder ? _fifo.IsWorthTrying(side) : _lifo.IsWorthTrying(side))
            _blocks.Wake(side);
        return Waits(claim) && _closed ? throw IsClosed() : claim;
    }

    // Finishes for owners that died with a block in the way. At most once in 50 ms: it asks the kernel. True if a block was freed
    // or skipped.
    private bool Reclaim(RingSide side, ulong blocker)
    {
        // A dead writer's block in a list keeps nobody from reading the others.
        if (_inOrder ? !RingState.IsClaimed(blocker) : side == RingSide.Readers)
            return false;
        var last = Volatile.Read(ref _lastReclaim);
        var now = Stopwatch.GetTimestamp();
        if ((last != 0 && now - last < s_slice - (s_slice / 10)) || Interlocked.CompareExchange(ref _lastReclaim, now, last) != last)
            return false;
        return _inOrder ? !_file.IsAlive(RingState.Owner(blocker)) && _fifo.Recover(blocker) : Sweep(false);
    }

    // Everything the dead have: in lifo order, where a dead owner's block is in nobody's way but missing; and on opening, what an
    // earlier holder of our own number left.
    private bool Sweep(bool ownNumber)
    {
        uint alive = 0; // neighbours often have the same owner: ask the kernel once
        var any = false;
        // The dead may have announced a claim that no state shows yet; completed later, it would look like ours.
        if (!_inOrder && !_lifo.Settle())
            return false;
        for (uint index = 0; index < _blocks.Count; index++)
        {
            var state = RingBlocks.Load(_blocks.State(index));
            var owner = RingState.Owner(state);
            if (!RingState.IsClaimed(state) || (ownNumber ? owner != _me : owner == alive))
                continue;
            if (!ownNumber && _file.IsAlive(owner))
            {
                alive = owner;
                continue;
            }
            any |= _inOrder ? _fifo.Recover(state) : _lifo.Recover(index, state, _me);
        }
        return any;
    }

    private IpcException IsClosed() => new(IpcStatus.Closed, $"this handle on {_file.Address} was closed here");

    private IpcException TooLarge(int length) => new(IpcStatus.MessageTooLarge,
        $"a message of {length} bytes does not fit into {_file.Address}, whose blocks have {_blocks.BlockBytes} (this handle's limit is "
            + $"{MaxMessageLength}): make the ring with a larger block=");

    private IpcException Damaged() => new(IpcStatus.NotOurProtocol,
        $"the shared memory of {_file.Address} holds what no writer or reader leaves there: end all processes that have it open and start again");
}
