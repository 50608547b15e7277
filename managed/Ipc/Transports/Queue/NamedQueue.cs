using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>
/// Many writers, many readers, one byte ring. Writers take turns by one lock, readers by another. A message becomes part of the
/// queue by the single store of `tail` and leaves it by the single store of `head`: before and after each of them the queue is
/// sound, so a participant may die at any instruction and there is nothing to repair (docs/wire-formats.md, "Queues").
/// </summary>
/// <remarks>Nothing between taking a lock and giving it back can throw: the memory is the mapping's and the caller's span, every
/// offset has been checked. Waiting is in the other half of this class.</remarks>
[SuppressMessage("Naming", "CA1711", Justification = "It is one.")]
internal sealed unsafe partial class NamedQueue : IpcQueue
{
    private enum Found { Yes, No, Damage }

    private readonly QueueFile _file;
    private readonly string _address;
    private readonly WaitPolicy _policy;
    private readonly OwnerLock _writers;
    private readonly OwnerLock _readers;
    private readonly byte* _data;
    private readonly uint* _tail;
    private readonly uint* _tailSeen;
    private readonly uint* _head;
    private readonly uint* _headSeen;
    private readonly uint* _readersParked;
    private readonly uint* _writersParked;
    private readonly uint _size;
    private readonly uint _mask;
    private HandleGate<ThreadDoors> _gate;
    private bool _closed;

    /// <param name="file">Owned from now on.</param>
    /// <param name="address">Its limit and its ways of waiting; for error messages.</param>
    public NamedQueue(QueueFile file, IpcAddress address)
    {
        (_file, _address, _policy) = (file, address.ToString(), WaitPolicy.Of(address).ParkOnOneProcessor());
        _data = file.Memory + QueueLayout.HeaderBytes;
        _tail = Word(QueueLayout.Tail);
        _tailSeen = Word(QueueLayout.TailSeen);
        _head = Word(QueueLayout.Head);
        _headSeen = Word(QueueLayout.HeadSeen);
        _readersParked = Word(QueueLayout.ReadersParked);
        _writersParked = Word(QueueLayout.WritersParked);
        _writers = new OwnerLock(Word(QueueLayout.WriterLock), file);
        _readers = new OwnerLock(Word(QueueLayout.ReaderLock), file);
        _size = file.Size;
        _mask = file.Size - 1;
        MaxMessageLength = (int)Math.Min((uint)address.MaxMessageLength, QueueLayout.LongestMessage(file.Size));

        uint* Word(int offset) => (uint*)(file.Memory + offset);
    }

    public override int MaxMessageLength { get; }

    public override bool TryEnqueue(ReadOnlySpan<byte> message, int timeoutMilliseconds = 0)
    {
        ref var door = ref _gate.Doors.Mine(out var isMine);
        if (isMine && door.TryEnter())
        {
            // Nothing here can throw, so no try block is paid for.
            var put = !Volatile.Read(ref _closed) && message.Length <= MaxMessageLength && PutNow(message, QueueLayout.Footprint((uint)message.Length));
            door.Leave();
            if (put)
                return true;
        }
        return EnqueueOrWait(message, timeoutMilliseconds, CancellationToken.None);
    }

    internal override bool TryEnqueue(ReadOnlySpan<byte> message, CancellationToken cancellation)
    {
        using var waking = cancellation.UnsafeRegister(queue => ((NamedQueue)queue!).WakeAllHere(), this);
        return EnqueueOrWait(message, Timeout.Infinite, cancellation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool EnqueueOrWait(ReadOnlySpan<byte> message, int timeoutMilliseconds, CancellationToken cancellation)
    {
        using var visit = new ThreadVisit(ref _gate);
        if (Volatile.Read(ref _closed))
            throw ClosedHere();
        if (message.Length > MaxMessageLength)
            throw TooLarge(message.Length);
        var footprint = QueueLayout.Footprint((uint)message.Length);
        return PutNow(message, footprint) || EnqueueSlowly(message, footprint, timeoutMilliseconds, cancellation);
    }

    // False: another writer is at it, or there is no room, or damage; nothing was touched.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool PutNow(ReadOnlySpan<byte> message, uint footprint)
    {
        if (!_writers.TryTake())
            return false;
        var found = Put(message, footprint);
        _writers.GiveBack();
        if (found != Found.Yes)
            return false;
        Parking.WakeOne(_readersParked);
        return true;
    }

    public override bool TryDequeue(Span<byte> buffer, out int length, int timeoutMilliseconds = 0)
    {
        var status = Take(buffer, out length, timeoutMilliseconds);
        if (status == IpcStatus.BufferTooSmall)
            throw BufferTooSmall(length, buffer.Length);
        return status == IpcStatus.Ok;
    }

    internal override IpcStatus Take(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        ref var door = ref _gate.Doors.Mine(out var isMine);
        if (isMine && door.TryEnter())
        {
            // Nothing here can throw, so no try block is paid for.
            length = 0;
            var taken = !Volatile.Read(ref _closed) && TakeNow(buffer, out length);
            door.Leave();
            if (taken)
                return IpcStatus.Ok;
        }
        return TakeOrWait(buffer, out length, timeoutMilliseconds, CancellationToken.None);
    }

    // False: nothing was touched.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TakeNow(Span<byte> buffer, out int length)
    {
        length = 0;
        if (!MayHaveMessage() || !_readers.TryTake())
            return false;
        var found = Get(buffer, out length);
        _readers.GiveBack();
        if (found != Found.Yes || length > buffer.Length)
            return false;
        // All: how much room each of them needs is not known here.
        Parking.WakeAll(_writersParked);
        return true;
    }

    internal override IpcStatus Take(Span<byte> buffer, out int length, CancellationToken cancellation)
    {
        using var waking = cancellation.UnsafeRegister(queue => ((NamedQueue)queue!).WakeAllHere(), this);
        return TakeOrWait(buffer, out length, Timeout.Infinite, cancellation);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private IpcStatus TakeOrWait(Span<byte> buffer, out int length, int timeoutMilliseconds, CancellationToken cancellation)
    {
        using var visit = new ThreadVisit(ref _gate);
        if (Volatile.Read(ref _closed))
            throw ClosedHere();
        return TakeSlowly(buffer, out length, timeoutMilliseconds, cancellation);
    }

    public override void Close()
    {
        Volatile.Write(ref _closed, true);
        WakeAllHere();
    }

    // Everybody's waiters wake and look around; those of other handles go back to sleep.
    private void WakeAllHere()
    {
        if (!_gate.TryEnterBeside())
            return;
        Interlocked.MemoryBarrier();
        Parking.WakeAll(_readersParked);
        Parking.WakeAll(_writersParked);
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool EnqueueSlowly(ReadOnlySpan<byte> message, uint footprint, int timeoutMilliseconds, CancellationToken cancellation)
    {
        var deadline = DeadlineOf(timeoutMilliseconds);
        while (true)
        {
            if (!TakeLock(_writers, deadline, cancellation))
                return false;
            var found = Put(message, footprint);
            _writers.GiveBack();
            if (found == Found.Yes)
            {
                Parking.WakeOne(_readersParked);
                return true;
            }
            if (found == Found.Damage)
                throw Damaged();
            if (!IsReady(Wait(new RoomCondition(this, footprint), _writersParked, deadline, cancellation)))
                return false;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private IpcStatus TakeSlowly(Span<byte> buffer, out int length, int timeoutMilliseconds, CancellationToken cancellation)
    {
        var deadline = DeadlineOf(timeoutMilliseconds);
        while (true)
        {
            length = 0;
            if (!IsReady(Wait(new MessageCondition(this), _readersParked, deadline, cancellation)) || !TakeLock(_readers, deadline, cancellation))
                return IpcStatus.TimedOut;
            var found = Get(buffer, out length);
            _readers.GiveBack();
            if (found == Found.Damage)
                throw Damaged();
            if (found == Found.No)
                continue;
            if (length <= buffer.Length)
            {
                Parking.WakeAll(_writersParked);
                return IpcStatus.Ok;
            }
            // We may be the one that was woken for this message, and leave it: another shall come for it.
            Parking.WakeOne(_readersParked);
            return IpcStatus.BufferTooSmall;
        }
    }

    // Under the writers' lock: puts the message in if there is room.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Found Put(ReadOnlySpan<byte> message, uint footprint)
    {
        var tail = *_tail; // only the lock's holder changes it
        // The readers' word is on a line that they write all the time: it is looked at only when the room known of is used up.
        var used = tail - *_headSeen;
        if (used > _size || (tail & 7) != 0 || !Fits(used, tail, footprint, out var skipped))
        {
            var found = LookForRoom(tail, footprint, out skipped);
            if (found != Found.Yes)
                return found;
        }
        if (skipped != 0)
            WriteHeader(tail, QueueLayout.SkipToStart);
        var position = tail + skipped;
        var record = WriteHeader(position, (uint)message.Length);
        message.CopyTo(new Span<byte>(record + QueueLayout.RecordHeaderBytes, message.Length));
        // Release: whoever sees the new tail sees the whole record. This store is the moment the message exists.
        Volatile.Write(ref *_tail, position + footprint);
        return Found.Yes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Found LookForRoom(uint tail, uint footprint, out uint skipped)
    {
        // Acquire: pairs with the release of head; the readers are done with what we are about to overwrite.
        var head = Volatile.Read(ref *_head);
        var used = tail - head;
        skipped = 0;
        if (used > _size || ((tail | head) & 7) != 0)
            return Found.Damage;
        *_headSeen = head;
        return Fits(used, tail, footprint, out skipped) ? Found.Yes : Found.No;
    }

    // skipped: bytes up to the end of the area that the record does not fit into, else 0.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Fits(uint used, uint tail, uint footprint, out uint skipped)
    {
        var toEnd = _size - (tail & _mask);
        skipped = footprint > toEnd ? toEnd : 0;
        // No sum overflows: each of the three is at most 2^30.
        return used + skipped + footprint <= _size;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private byte* WriteHeader(uint position, uint length)
    {
        var record = At(position);
        *(uint*)record = length;
        *(uint*)(record + 4) = position;
        return record;
    }

    // Under the readers' lock: takes the oldest message out if it fits the buffer; else only its length is told.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Found Get(Span<byte> buffer, out int length)
    {
        length = 0;
        var position = *_head; // only the lock's holder changes it
        var filled = *_tailSeen - position;
        if (filled == 0 || filled > _size)
        {
            // Acquire: pairs with the release of tail. (For a tail that an earlier holder saw, the lock hands its acquire on.)
            var tail = Volatile.Read(ref *_tail);
            filled = tail - position;
            if (filled > _size)
                return Found.Damage;
            *_tailSeen = tail;
            if (filled == 0)
                return Found.No;
        }
        if (((position | filled) & 7) != 0 || !ReadHeader(position, out var bytes))
            return Found.Damage;
        if (bytes == QueueLayout.SkipToStart)
        {
            var toEnd = _size - (position & _mask);
            if (filled <= toEnd)
                return Found.Damage; // a skip is published together with its record
            position += toEnd;
            filled -= toEnd;
            if (!ReadHeader(position, out bytes))
                return Found.Damage;
        }
        if (bytes > QueueLayout.LongestMessage(_size))
            return Found.Damage;
        var footprint = QueueLayout.Footprint(bytes);
        if (footprint > filled || footprint > _size - (position & _mask))
            return Found.Damage;
        length = (int)bytes;
        if (length > buffer.Length)
            return Found.Yes;
        new ReadOnlySpan<byte>(At(position) + QueueLayout.RecordHeaderBytes, length).CopyTo(buffer);
        // Release: our reading is over before a writer sees the room. This store is the moment the message is ours.
        Volatile.Write(ref *_head, position + footprint);
        return Found.Yes;
    }

    // Each word is read exactly once: others may write there meanwhile.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool ReadHeader(uint position, out uint length)
    {
        var record = At(position);
        length = Volatile.Read(ref *(uint*)record);
        return Volatile.Read(ref *(uint*)(record + 4)) == position;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private byte* At(uint position) => _data + (position & _mask);
}
