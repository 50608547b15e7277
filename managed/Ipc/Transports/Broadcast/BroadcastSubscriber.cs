using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One reader of `broadcast`. It trusts nothing it reads: a publisher can write anything at any time, and one that need not wait
/// for this reader overwrites what is being read as a matter of course. So a message is copied out first and then found
/// good, by a look at how far the publisher has claimed the ring.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe partial class BroadcastSubscriber : Subscriber
{
    // A call that may not wait still gets over being overtaken, and over another time while it does that.
    private const int MostAttemptsInTime = 8;

    private readonly string _address;
    private readonly LocalName _name;
    private readonly WaitPolicy _waitPolicy;
    private readonly bool _waitedFor;
    private readonly bool _publisherMayPark;
    private readonly int _limit;
    private readonly Descriptor _socket;
    private readonly MappedMemory _data;
    private readonly MappedMemory _ownPage;
    private readonly BroadcastHeader _header;
    private readonly BroadcastPage _page;
    private readonly byte* _ring;
    private readonly ulong _ringBytes;
    private HandleGate<OneDoor> _gate;
    private int _closeStarted;
    private volatile bool _closed;

    // The receiving thread's.
    private ulong _position;
    private ulong _number; // of the next message, if none is lost
    private bool _overtaken; // messages were lost since the last one delivered
    private bool _publisherGone;
    private bool _publisherForgotten; // its name looked after
    private IpcStatus _broken;
    private SpinTimer _lastLook;

    /// <summary>Joins over a connection, which it then owns, also when this throws.</summary>
    public BroadcastSubscriber(IpcAddress address, LocalName name, Descriptor connection, Deadline deadline)
    {
        (_address, _name, _socket, _waitPolicy, _limit) = (address.ToString(), name, connection, WaitPolicy.Of(address), address.MaxMessageLength);
        _waitedFor = address.Option("policy") != "drop";
        try
        {
            Descriptor[] files = [];
            try
            {
                var greeting = Join(deadline, out files);
                (_data, _ownPage) = Map(files[0], files[1]);
                (_position, _number) = (greeting.Position, greeting.Number);
            }
            finally
            {
                foreach (var file in files)
                    file.Dispose();
            }
            _header = new BroadcastHeader(_data.Pointer);
            _page = new BroadcastPage(_ownPage.Pointer);
            _ring = _data.Pointer + BroadcastLayout.HeaderBytes;
            // Read once: the publisher can change it while we check.
            _ringBytes = Volatile.Read(ref *_header.RingBytes);
            _publisherMayPark = Volatile.Read(ref *_header.WaitsBy) != SharedMemoryLayout.WaitsBySpinning;
            ReadOnlySpan<uint> beginning = [SharedMemoryLayout.MappingMagic, SharedMemoryLayout.Version, BroadcastLayout.Layout];
            if (!new ReadOnlySpan<uint>(_data.Pointer, 3).SequenceEqual(beginning) || !BroadcastLayout.IsRingSize(_ringBytes) ||
                _data.Bytes != BroadcastLayout.DataFileBytes(_ringBytes) || _position % 16 != 0)
                throw NotTheForm();
        }
        catch (Exception e)
        {
            if (e is IpcException { Status: IpcStatus.PeerClosed })
                LocalSocket.ForgetDeadServer(name, connection, deadline);
            _data?.Dispose();
            _ownPage?.Dispose();
            connection.Dispose();
            throw;
        }
    }

    public override int Receive(Span<byte> buffer, out long lost, int timeoutMilliseconds = Timeout.Infinite)
    {
        if (ReceiveNow(buffer, out var length, out lost, timeoutMilliseconds) ||
            ReceiveOrWait(buffer, out length, out lost, timeoutMilliseconds, out var outrun))
            return length;
        throw TimedOut(outrun);
    }

    // A time-out costs no exception: a loop that looks at several subscriptions in turn meets one after the other.
    public override bool TryReceive(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds = 0) =>
        ReceiveNow(buffer, out length, out lost, timeoutMilliseconds) || ReceiveOrWait(buffer, out length, out lost, timeoutMilliseconds, out _);

    // False: nothing was touched.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool ReceiveNow(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds)
    {
        (length, lost) = (0, 0);
        ref var door = ref _gate.Doors.Only;
        if (!door.TryEnter())
            return false;
        // Nothing here can throw, so no try block is paid for.
        var taken = IsAllowed(timeoutMilliseconds) && HasMessage && TryTakeNow(buffer, out length, out lost);
        door.Leave();
        GC.KeepAlive(this);
        return taken;
    }

    // False: the time is over.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool ReceiveOrWait(Span<byte> buffer, out int length, out long lost, int timeoutMilliseconds, out bool outrun)
    {
        var byTheDoor = _gate.Enter(ref _gate.Doors.Only);
        try
        {
            if (!IsAllowed(timeoutMilliseconds))
                throw Refusal(timeoutMilliseconds);
            outrun = false;
            return (HasMessage && TryTake(buffer, out length, out lost)) ||
                ReceiveSlowly(buffer, out length, out lost, new Deadline(timeoutMilliseconds), out outrun);
        }
        finally
        {
            _gate.Leave(ref _gate.Doors.Only, byTheDoor);
            GC.KeepAlive(this);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsAllowed(int timeoutMilliseconds) => !_closed && _broken == IpcStatus.Ok && timeoutMilliseconds >= Timeout.Infinite;

    public override void Close()
    {
        _closed = true;
        if (!_gate.TryEnterBeside())
            return;
        if (Interlocked.Exchange(ref _closeStarted, 1) == 0)
        {
            // All readers share the word they sleep on, and it cannot be written here: wake them all, they look and sleep again.
            // A thread of our own on its way to sleep misses that, and looks around after a slice.
            Interlocked.MemoryBarrier();
            Libc.WakeAll(_header.Wakes);
            LocalSocket.ShutDown(_socket);
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
        _data.Dispose();
        _ownPage.Dispose();
        _socket.Dispose();
    }

    // ---- receiving

    private bool HasMessage
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref *_header.Published) != _position;
    }

    // Call after reading from the ring: whether what was read was still whole then.
    private bool IsStillThere
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            Volatile.ReadBarrier();
            return Volatile.Read(ref *_header.Claimed) - _position <= _ringBytes;
        }
    }

    // The same as TryTake for what is whole, right and fits, which is nearly always; false, and nothing touched, for all else.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTakeNow(Span<byte> buffer, out int length, out long lost)
    {
        var record = _ring + (_position & (_ringBytes - 1));
        // Copied once: the publisher may change them while we check.
        length = Volatile.Read(ref *(int*)record);
        var number = Volatile.Read(ref *(ulong*)(record + 8));
        lost = (long)(number - _number);
        if (!IsStillThere || !IsRight(length, number) || length > Math.Min(_limit, buffer.Length))
            return false;
        new ReadOnlySpan<byte>(record + BroadcastLayout.RecordHeaderBytes, length).CopyTo(buffer);
        if (!IsStillThere)
            return false;
        PassOver(length, number);
        return true;
    }

    // Copies the message at the position out; false: the publisher has overtaken this reader, which goes on elsewhere.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTake(Span<byte> buffer, out int length, out long lost)
    {
        var record = _ring + (_position & (_ringBytes - 1));
        // Copied once: the publisher may change them while we check.
        length = Volatile.Read(ref *(int*)record);
        var number = Volatile.Read(ref *(ulong*)(record + 8));
        if (IsStillThere)
        {
            Check(length, number);
            if (length > buffer.Length)
                ThrowTooSmall(length, buffer.Length);
            new ReadOnlySpan<byte>(record + BroadcastLayout.RecordHeaderBytes, length).CopyTo(buffer);
            if (IsStillThere)
            {
                lost = (long)(number - _number);
                PassOver(length, number);
                return true;
            }
        }
        GoOnElsewhere();
        lost = 0;
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void PassOver(int length, ulong number)
    {
        _number = number + 1;
        _overtaken = false;
        _position += BroadcastLayout.Footprint(length);
        if (_waitedFor)
            GiveBack();
    }

    // False: the time is over; outrun: because the publisher was always faster, and not for want of messages.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool ReceiveSlowly(Span<byte> buffer, out int length, out long lost, Deadline deadline, out bool outrun)
    {
        (length, lost, outrun) = (0, 0, false);
        for (var attempts = 1; ; attempts++)
        {
            if (_closed || _broken != IpcStatus.Ok)
                throw Refusal(0);
            if (!HasMessage && !WaitForMessage(deadline))
                return false;
            if (TryTake(buffer, out length, out lost))
                return true;
            outrun = attempts >= MostAttemptsInTime && deadline.Expired;
            if (outrun)
            {
                length = 0; // what was read of a message that was overwritten meanwhile
                return false;
            }
        }
    }

    // What a record says of itself, once it is known to be whole; no publisher of ours writes anything that fails here.
    private void Check(int length, ulong number)
    {
        if (!IsRight(length, number))
            Break(IpcStatus.NotOurProtocol);
        if (length > _limit)
            Break(IpcStatus.PeerTooLarge);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsRight(int length, ulong number) =>
        (ulong)(uint)length <= _ringBytes / 2 && BroadcastLayout.Footprint(length) <= Volatile.Read(ref *_header.Published) - _position &&
        (_overtaken ? BroadcastLayout.Ahead(number, _number) > 0 : number == _number);

    // Goes on where the publisher says an overtaken reader should, or at the newest when even that is gone.
    private void GoOnElsewhere()
    {
        if (_waitedFor)
        {
            // The publisher has given this reader up: because it closed or broke the contract.
            if (ReasonToStop(true) is { } reason)
                throw Ended(reason, new Deadline(0));
            Break(IpcStatus.NotOurProtocol);
        }
        _overtaken = true;
        var resume = Volatile.Read(ref *_header.Resume);
        var good = BroadcastLayout.Ahead(resume, _position) > 0 && resume % 16 == 0 && Volatile.Read(ref *_header.Claimed) - resume <= _ringBytes;
        _position = good ? resume : Volatile.Read(ref *_header.Published);
        if (_position % 16 != 0)
            Break(IpcStatus.NotOurProtocol);
    }

    // Tells the publisher, which alone needs to know, how far this reader is.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void GiveBack()
    {
        // Release: our copying is over before the publisher may overwrite.
        Volatile.Write(ref *_page.Cursor, _position);
        if (!_publisherMayPark)
            return;
        // Either the publisher sees the cursor or we see that it sleeps.
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref *_page.RoomWanted) != 0 && Interlocked.Exchange(ref *_page.RoomWanted, 0) != 0)
            Libc.WakeAll(_page.RoomWanted);
    }

    // ---- waiting and ending

    // False: the time is over.
    private bool WaitForMessage(Deadline deadline)
    {
        var result = SharedMemoryWait.Until(new Message(this), _waitPolicy, null, deadline);
        if (result is not (WaitResult.Ready or WaitResult.TimedOut))
            throw Ended(result, deadline);
        return result == WaitResult.Ready;
    }

    private IpcException TimedOut(bool outrun) => new(IpcStatus.TimedOut, outrun
        ? $"{_address} is overwritten faster than this subscriber can copy: raise size= at the publisher"
        : $"nothing was published at {_address} within the time-out");

    private WaitResult? ReasonToStop(bool look)
    {
        var ended = look && !_publisherGone && Libc.Poll(_socket, Libc.POLLIN, 0) != 0;
        // Asked after the look, because closing here looks like the publisher's end.
        if (_closed)
            return WaitResult.ClosedHere;
        if (_publisherGone || Volatile.Read(ref *_header.Closed) != 0)
            return WaitResult.PeerGone;
        if (!ended)
            return null;
        _publisherGone = true;
        return WaitResult.PeerGone;
    }

    private IpcException Ended(WaitResult reason, Deadline deadline)
    {
        if (_publisherGone && !_publisherForgotten)
        {
            _publisherForgotten = true;
            LocalSocket.ForgetDeadServer(_name, _socket, deadline);
        }
        return Ended(reason);
    }

    private IpcException Ended(WaitResult reason) => reason == WaitResult.ClosedHere
        ? new IpcException(IpcStatus.Closed, $"the subscriber of {_address} was closed here")
        : new IpcException(IpcStatus.PeerClosed, $"the publisher at {_address} closed or died, or has ended this subscription");

    private IpcException Refusal(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            return Deadline.NotATimeout(timeoutMilliseconds);
        if (_closed)
            return Ended(WaitResult.ClosedHere);
        return _broken == IpcStatus.PeerTooLarge
            ? new IpcException(_broken, $"the publisher at {_address} published a message over this side's limit of {_limit} bytes: raise it with max=")
            : new IpcException(_broken, $"the publisher at {_address} wrote a damaged message: open it again");
    }

    [DoesNotReturn]
    private void Break(IpcStatus status)
    {
        _broken = status;
        throw Refusal(0);
    }

    [DoesNotReturn]
    private static void ThrowTooSmall(int length, int capacity) => throw new IpcException(IpcStatus.BufferTooSmall,
        $"the message has {length} bytes and the buffer {capacity}: ask again with room for it");

    private readonly struct Message(BroadcastSubscriber subscriber) : IWaiting
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => subscriber.HasMessage;

        public WaitResult? ReasonToStop(bool look) => subscriber.ReasonToStop(look);

        public bool LookIsDue() => subscriber._lastLook.IsDue();

        public bool Sleep(int milliseconds)
        {
            var parked = subscriber._page.Parked;
            // Full fence: whoever publishes after our look sees the 1.
            Interlocked.Exchange(ref *parked, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
            // Seen before the last look: whoever publishes after that look changes it, and then there is no sleep.
            var wakes = Volatile.Read(ref *subscriber._header.Wakes);
            var quiet = !IsMet() && Volatile.Read(ref *subscriber._header.Closed) == 0 && !subscriber._closed;
            var whole = quiet && !Libc.SleepOn(subscriber._header.Wakes, wakes, milliseconds);
            Volatile.Write(ref *parked, 0);
            return whole;
        }
    }
}
