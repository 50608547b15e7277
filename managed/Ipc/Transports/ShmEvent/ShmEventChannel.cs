using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Frames over one block each way, docs/wire-formats.md "one block each way"; owns the segment.</summary>
internal sealed unsafe partial class ShmEventChannel : SharedMemoryChannel
{
    private readonly SpinBudget _sendBudget = new();
    private readonly SpinBudget _receiveBudget = new();
    private const uint Empty = 0;
    private const uint Full = 1;

    private readonly EventBlock _out;
    private readonly EventBlock _in;
    private bool _hasFrame;
    private FrameInfo _frame;

    /// <param name="segment">Owned from now on.</param>
    /// <param name="limit">Of messages, in bytes; the server's blocks may be smaller, and then bound it.</param>
    /// <param name="address">For error messages.</param>
    public ShmEventChannel(SharedMemorySegment segment, int limit, string address) : base(segment, (int)Math.Min((ulong)limit, segment.DataBytes), address)
    {
        _out = new EventBlock(segment, segment.Side);
        _in = new EventBlock(segment, segment.Side ^ 1);
    }

    // ---- sender's half

    protected override void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        WaitUntilEmpty(deadline);
        Send(kind, id, payload);
    }

    // Into the block, which is empty.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Send(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        payload.CopyTo(_out.Room(payload.Length));
        _out.Fill(kind, id, payload.Length);
        Segment.WakeIfParked(Segment.Outgoing.ReaderParked);
    }

    // A message is one block.
    private protected override bool SendsAllOrNothing => true;

    protected override bool TrySendNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (!HasRoomNow)
            return false;
        Send(kind, id, payload);
        return true;
    }

    protected override bool TryReserveNow(int length, out Span<byte> room)
    {
        var hasRoom = HasRoomNow;
        room = hasRoom ? _out.Room(length) : default;
        return hasRoom;
    }

    protected override bool TryCommitNow(FrameKind kind, uint id, int length)
    {
        _out.Fill(kind, id, length);
        Segment.WakeIfParked(Segment.Outgoing.ReaderParked);
        return true;
    }

    protected override bool TryAnswerNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (!HasRoomNow)
            return false;
        payload.CopyTo(_out.Room(payload.Length));
        Exchange(kind, id, payload.Length);
        return true;
    }

    protected override bool TryCommitAnswerNow(uint id, int length)
    {
        Exchange(FrameKind.Reply, id, length);
        return true;
    }

    private bool HasRoomNow
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => !Segment.PeerHasClosed && Volatile.Read(ref *_out.State) == Empty;
    }

    protected override Span<byte> ReserveFrame(int length, Deadline deadline)
    {
        WaitUntilEmpty(deadline);
        return _out.Room(length);
    }

    protected override void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline)
    {
        _out.Fill(kind, id, length);
        Segment.WakeIfParked(Segment.Outgoing.ReaderParked);
    }

    // The request's block is empty before the reply is to be seen, so that the client's next request never waits for it;
    // and the client is woken only after both, with one fence.
    protected override void AnswerFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        WaitUntilEmpty(deadline);
        payload.CopyTo(_out.Room(payload.Length));
        Exchange(kind, id, payload.Length);
    }

    protected override void CommitAnswer(uint id, int length, Deadline deadline) => Exchange(FrameKind.Reply, id, length);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Exchange(FrameKind kind, uint id, int length)
    {
        _hasFrame = false;
        Volatile.Write(ref *_in.State, Empty);
        _out.Fill(kind, id, length);
        Segment.WakeIfParked(Segment.Outgoing.ReaderParked, Segment.Incoming.WriterParked);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void WaitUntilEmpty(Deadline deadline)
    {
        if (AwaitRoom(deadline) is var result && result != WaitResult.Ready)
            throw CannotSend(result, deadline);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WaitResult AwaitRoom(Deadline deadline) => Segment.PeerHasClosed
        ? WaitResult.PeerGone
        : Segment.Wait(new StateCondition(_out.State, Empty), Segment.Outgoing.WriterParked, _sendBudget, deadline);

    // ---- receiver's half

    protected override bool AwaitFrame(Deadline deadline) => _hasFrame || Await(deadline) != WaitResult.TimedOut;

    private WaitResult Await(Deadline deadline) =>
        Segment.Wait(new StateCondition(_in.State, Full), Segment.Incoming.ReaderParked, _receiveBudget, deadline);

    protected override FrameInfo NextFrame(Deadline deadline)
    {
        if (_hasFrame)
            return _frame;
        var result = Await(deadline);
        if (result != WaitResult.Ready)
            throw CannotReceive(result, false, deadline);
        // Copied once: the peer can change them while we check.
        var (kind, id, length) = _in.Header;
        if (kind - 1 > 3)
            throw Fail(IpcStatus.NotOurProtocol, $"the peer at {Name} wrote a damaged block: reconnect");
        if (length > (uint)MaxMessageLength)
            throw TooLarge(length);
        _frame = new FrameInfo((FrameKind)kind, id, (int)length);
        _hasFrame = true;
        return _frame;
    }

    protected override bool TryTakeNext(FrameKind kind, uint id, bool awaited, Span<byte> buffer, out int length)
    {
        if (!TryLook(awaited, out var frame) || frame.Kind != kind || frame.Id != id || frame.Length > buffer.Length)
        {
            length = 0;
            return false;
        }
        length = frame.Length;
        _in.Room(length).CopyTo(buffer);
        GiveBack();
        return true;
    }

    protected override bool TryViewNext(FrameKind kind, bool awaited, out ReadOnlySpan<byte> payload, out uint id)
    {
        if (!TryLook(awaited, out var frame) || frame.Kind != kind)
        {
            payload = default;
            id = 0;
            return false;
        }
        (_frame, _hasFrame) = (frame, true);
        payload = _in.Room(frame.Length);
        id = frame.Id;
        return true;
    }

    protected override bool TryReleaseNow()
    {
        ReleaseFrame();
        return true;
    }

    // What is in the block, if its length is within this channel's limit, and nothing is held.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryLook(bool awaited, out FrameInfo frame)
    {
        frame = default;
        if (_hasFrame)
            return false;
        for (var looks = awaited ? Segment.SpinIterations : 1; Volatile.Read(ref *_in.State) != Full; SharedMemoryWait.Relax())
        {
            if (--looks <= 0)
                return false;
        }
        // Copied once: the peer can change them while we check.
        var (kind, id, length) = _in.Header;
        frame = new FrameInfo((FrameKind)kind, id, (int)length);
        return length <= (uint)MaxMessageLength;
    }

    protected override void TakeFrame(Span<byte> buffer, Deadline deadline)
    {
        _in.Room(buffer.Length).CopyTo(buffer);
        ReleaseFrame();
    }

    protected override ReadOnlySpan<byte> ViewFrame(Deadline deadline) => _in.Room(_frame.Length);

    protected override void ReleaseFrame()
    {
        if (!_hasFrame)
            return;
        _hasFrame = false;
        GiveBack();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void GiveBack()
    {
        // Release: our reading is over before the writer writes again.
        Volatile.Write(ref *_in.State, Empty);
        Segment.WakeIfParked(Segment.Incoming.WriterParked);
    }

    private readonly struct EventBlock(SharedMemorySegment segment, int side)
    {
        private readonly byte* _control = segment.Memory + 2048 + (64 * side);
        private readonly byte* _data = segment.Memory + SharedMemoryLayout.HeaderBytes + ((ulong)side * segment.DataBytes);

        public uint* State => (uint*)_control;
        public (uint Kind, uint Id, uint Length) Header => (*(uint*)(_control + 8), *(uint*)(_control + 12), *(uint*)(_control + 4));

        public Span<byte> Room(int length) => new(_data, length);

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Fill(FrameKind kind, uint id, int length)
        {
            *(int*)(_control + 4) = length;
            *(uint*)(_control + 8) = (uint)kind;
            *(uint*)(_control + 12) = id;
            // Release: whoever sees the block full sees all that was written into it.
            Volatile.Write(ref *State, Full);
        }
    }

    private readonly struct StateCondition(uint* state, uint expected) : IWaitCondition
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => Volatile.Read(ref *state) == expected;
    }
}
