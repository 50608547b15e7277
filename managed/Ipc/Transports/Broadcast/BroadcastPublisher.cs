using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The one writer of `broadcast`. A message costs the copying, one store that shows it, and a look at the pages of the readers
/// that may be asleep. The readers' cursors are looked at only when what was claimed ahead is used up: every 16th of the ring.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class BroadcastPublisher : Publisher
{
    private readonly string _address;
    private readonly WaitPolicy _policy;
    private readonly MappedMemory _memory;
    private readonly BroadcastHeader _header;
    private readonly byte* _ring;
    private readonly ulong _ringBytes;
    private readonly BroadcastReaders _readers = new();
    private readonly BroadcastAdmission _admission;
    private HandleGate<OneDoor> _gate;
    private int _closeStarted;
    private volatile bool _closed;

    // The publishing thread's.
    private ulong _position;
    private ulong _number;
    private ulong _claimed; // what the header says
    private ulong _nextResume;
    private ulong _limit; // when it was last looked for, and the reader that set it
    private int _slowest;

    // The number of the next message, stored before and after a message is shown: equal, they go with Published.
    private ulong _numberBefore;
    private ulong _numberAfter;

    /// <param name="address">What the user wrote.</param>
    /// <param name="name">The socket's.</param>
    /// <param name="ringBytes">Checked.</param>
    /// <param name="first">Position (a multiple of 16) and number of the first message; anything but 0 and 1 is for tests.</param>
    public BroadcastPublisher(IpcAddress address, LocalName name, ulong ringBytes, BroadcastStart first)
    {
        (_address, _ringBytes, _policy) = (address.ToString(), ringBytes, WaitPolicy.Of(address));
        MaxMessageLength = Math.Min(address.MaxMessageLength, BroadcastLayout.LargestMessage(ringBytes));
        _position = _claimed = _nextResume = first.Position;
        _number = _numberBefore = _numberAfter = first.Number;
        Descriptor? forReaders = null;
        try
        {
            var bytes = BroadcastLayout.DataFileBytes(ringBytes);
            using var file = SealedMemory.Create(bytes);
            _memory = SealedMemory.Map(file, bytes, writable: true);
            forReaders = SealedMemory.FreezeWriters(file);
            _header = new BroadcastHeader(_memory.Pointer);
            _ring = _memory.Pointer + BroadcastLayout.HeaderBytes;
            ReadOnlySpan<uint> beginning = [SharedMemoryLayout.MappingMagic, SharedMemoryLayout.Version, BroadcastLayout.Layout];
            beginning.CopyTo(new Span<uint>(_memory.Pointer, 3));
            *_header.RingBytes = ringBytes;
            *_header.WaitsBy = _policy.Mode == WaitMode.Spin ? SharedMemoryLayout.WaitsBySpinning : SharedMemoryLayout.WaitsByParking;
            *_header.Published = *_header.Claimed = *_header.Resume = first.Position;
            _admission = new BroadcastAdmission(name, forReaders, _readers, Start);
        }
        catch
        {
            forReaders?.Dispose();
            _memory?.Dispose();
            _readers.Dispose();
            throw;
        }
    }

    public override int MaxMessageLength { get; }

    public override int Subscribers => _closed ? 0 : _readers.Count;

    public override void Publish(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite)
    {
        ref var door = ref _gate.Doors.Only;
        if (door.TryEnter())
        {
            var end = _position + BroadcastLayout.Footprint(message.Length);
            // Nothing here can throw, so no try block is paid for.
            var now = IsAllowed(message.Length, timeoutMilliseconds) && BroadcastLayout.Ahead(end, _claimed) <= 0;
            if (now)
                Write(message, end);
            door.Leave();
            if (now)
            {
                GC.KeepAlive(this);
                return;
            }
        }
        PublishOrWait(message, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void PublishOrWait(ReadOnlySpan<byte> message, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(ref _gate.Doors.Only);
        try
        {
            if (!IsAllowed(message.Length, timeoutMilliseconds))
                throw Refusal(message.Length, timeoutMilliseconds);
            var end = _position + BroadcastLayout.Footprint(message.Length);
            if (BroadcastLayout.Ahead(end, _claimed) > 0)
                Claim(end, timeoutMilliseconds);
            Write(message, end);
        }
        finally
        {
            _gate.Leave(ref _gate.Doors.Only, byTheDoor);
        }
        GC.KeepAlive(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsAllowed(int length, int timeoutMilliseconds) => length <= MaxMessageLength && !_closed && timeoutMilliseconds >= Timeout.Infinite;

    // Up to `end`, which is claimed.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Write(ReadOnlySpan<byte> message, ulong end)
    {
        var record = _ring + (_position & (_ringBytes - 1));
        *(int*)record = message.Length;
        *(ulong*)(record + 8) = _number;
        message.CopyTo(new Span<byte>(record + BroadcastLayout.RecordHeaderBytes, message.Length));
        Volatile.Write(ref _numberBefore, ++_number);
        // Release: whoever sees this position sees the record whole, and _numberBefore.
        Volatile.Write(ref *_header.Published, end);
        Volatile.Write(ref _numberAfter, _number);
        _position = end;
        if (_readers.MayPark)
            WakeReaders();
    }

    public override void Close()
    {
        _closed = true;
        if (!_gate.TryEnterBeside())
            return;
        if (Interlocked.Exchange(ref _closeStarted, 1) == 0)
        {
            Interlocked.Exchange(ref *_header.Closed, 1);
            _admission.Close();
            Interlocked.Increment(ref *_header.Wakes);
            Libc.WakeAll(_header.Wakes);
            _readers.WakePublisher();
        }
        _gate.LeaveBeside();
    }

    protected override void Dispose(bool disposing)
    {
        if (!disposing)
            return;
        Close();
        if (!_gate.TryEnd())
            return;
        _gate.AwaitEmpty();
        _admission.Join(); // its thread uses the rest
        _readers.Dispose();
        _memory.Dispose();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void WakeReaders()
    {
        // Between our publishing and the look: either the reader sees what we published or we see that it sleeps.
        Interlocked.MemoryBarrier();
        if (!_readers.TakeParked())
            return;
        // Readers sleep on the value they saw before their last look, so that a change between the two keeps them awake.
        Interlocked.Increment(ref *_header.Wakes);
        Libc.WakeAll(_header.Wakes);
    }

    // Position and number at one moment, seen from the admitting thread while the publishing one goes on.
    private BroadcastStart Start()
    {
        while (true)
        {
            var after = Volatile.Read(ref _numberAfter);
            var position = Volatile.Read(ref *_header.Published);
            if (Volatile.Read(ref _numberBefore) == after)
                return new BroadcastStart(position, after);
            SharedMemoryWait.Relax();
        }
    }

    // Raises what may be overwritten to `end` and, to do so seldom, somewhat beyond. Behind the gate, so that a reader that is
    // let in starts where nothing is claimed that it has still to read.
    private bool TryToClaim(ulong end)
    {
        lock (_readers.Gate)
        {
            // Closing ends the readers' connections, and nobody is waited for any more; but what they have not read is still theirs.
            if (_closed)
                return false;
            _limit = _readers.Limit(_position, _ringBytes, out _slowest);
            if (BroadcastLayout.Ahead(end, _limit) > 0)
                return false;
            var wished = _position + (_ringBytes / 16);
            _claimed = BroadcastLayout.Ahead(wished, end) <= 0 ? end : BroadcastLayout.Ahead(wished, _limit) <= 0 ? wished : _limit;
            MoveResume();
            Volatile.Write(ref *_header.Claimed, _claimed);
            // A reader that sees any byte written from here on sees the claim too, in its look after copying.
            Interlocked.MemoryBarrier();
            return true;
        }
    }

    // An overtaken reader goes on a quarter to a half of the ring behind: far enough ahead of what is overwritten next, and
    // without losing more than it must.
    private void MoveResume()
    {
        if (_position - _nextResume < _ringBytes / 4)
            return;
        Volatile.Write(ref *_header.Resume, _nextResume);
        _nextResume = _position;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Claim(ulong end, int timeoutMilliseconds)
    {
        _slowest = -1;
        if (TryToClaim(end))
            return;
        // Without a reader that sets the limit there is always room, but in a publisher that is closed.
        if (_slowest < 0)
            throw ClosedHere();
        var result = SharedMemoryWait.Until(new Room(this, end), _policy, null, new Deadline(timeoutMilliseconds));
        if (result != WaitResult.Ready)
            throw result == WaitResult.ClosedHere
                ? ClosedHere()
                : new IpcException(IpcStatus.TimedOut,
                    $"a subscriber of {_address} that asked to be waited for made no room within the time-out; nothing was published");
    }

    private IpcException Refusal(int length, int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            return Deadline.NotATimeout(timeoutMilliseconds);
        return _closed
            ? ClosedHere()
            : new IpcException(IpcStatus.MessageTooLarge,
                $"a message of {length} bytes is over the limit of {MaxMessageLength} at {_address}: raise size= (a message may have half of it) or max=");
    }

    private IpcException ClosedHere() => new(IpcStatus.Closed, $"the publisher at {_address} was closed here");

    private readonly struct Room(BroadcastPublisher publisher, ulong end) : IWaiting
    {
        // The gate is left to the admitting thread, which may have a dead reader to remove, until there is news.
        public bool IsMet() => BroadcastLayout.Ahead(end, publisher._claimed) <= 0 ||
            (publisher._readers.HasMoved(publisher._slowest, publisher._limit - publisher._ringBytes) && publisher.TryToClaim(end));

        public WaitResult? ReasonToStop(bool look) => publisher._closed ? WaitResult.ClosedHere : null;

        public bool LookIsDue() => false; // the admitting thread sees readers go

        public bool Sleep(int milliseconds)
        {
            var asked = publisher._slowest;
            var wanted = publisher._readers.Page(asked).RoomWanted;
            // Full fence: the reader that moves its cursor after our look sees the 1.
            Interlocked.Exchange(ref *wanted, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
            // Another reader may have become the slowest meanwhile: then there is news, and the wait starts anew.
            if (IsMet() || publisher._slowest != asked || publisher._closed)
                return false;
            return !Libc.SleepOn(wanted, 1, milliseconds);
        }
    }
}
