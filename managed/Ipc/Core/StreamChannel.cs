using System.Buffers.Binary;

namespace Ipc;

/// <summary>Frames on a stream of bytes, docs/wire-formats.md "Frames on streams"; owns the stream.
/// A small message costs one system call each way; a large payload goes straight from and to the caller's memory.</summary>
internal sealed partial class StreamChannel : FramedChannel
{
    private const int HeaderSize = 16;
    private const uint Magic = 0x31435049;
    private const int BufferSize = 64 * 1024;
    // After a frame longer than this the next one is expected to be long too: little is read ahead, so that its payload
    // need not be copied out of the receive buffer.
    private const int LongFrame = 16 * 1024;
    private const int ShortLook = 4 * 1024;

    private readonly ByteStream _stream;
    private readonly string _address;

    // sender's half: a reserved message behind the room for its header
    private byte[] _room = [];

    // receiver's half: what has come lies in _buffer from _start to _end; a frame's payload starts in _gathered if it is
    // too long for the buffer, or if a time-out came half-way through it, and goes on in _buffer.
    private readonly byte[] _buffer = GC.AllocateUninitializedArray<byte>(BufferSize);
    private int _start;
    private int _end;
    private readonly GatherBuffer _gathered = new();
    private bool _hasFrame;
    private FrameInfo _frame;
    private long _toSkip; // bytes still to come of a frame that was released unseen

    public StreamChannel(ByteStream stream, IpcAddress address) : base(address.MaxMessageLength)
    {
        _stream = stream;
        _address = address.ToString();
    }

    internal override int PeerProcess() =>
        OperatingSystem.IsLinux() && _stream.Descriptors is { } descriptors ? LocalSocket.ProcessOf(descriptors.Receiving) : 0;

    // ---- sender's half

    protected override void SendFrame(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        Span<byte> header = stackalloc byte[HeaderSize];
        WriteHeader(header, kind, id, payload.Length);
        SendAll(header, payload, deadline);
    }

    // As much of one frame as goes until the deadline, from where the attempt before ended. False: not all of it is out.
    private bool TrySendPart(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline deadline)
    {
        Span<byte> header = stackalloc byte[HeaderSize];
        WriteHeader(header, kind, id, payload.Length);
        while (done < HeaderSize + payload.Length)
        {
            var sent = done < HeaderSize ? _stream.Send(header[done..], payload, deadline) : _stream.Send(payload[(done - HeaderSize)..], [], deadline);
            if (sent == ByteStream.TimedOut)
                return false;
            if (sent <= 0)
                throw SendFailed(sent, done > 0, deadline);
            done += sent;
        }
        return true;
    }

    private protected override bool TrySubmitSome(FrameKind kind, uint id, ReadOnlySpan<byte> payload, ref int done, Deadline slice, Deadline whole) =>
        _stream.GoesOnSending
            ? TrySendPart(kind, id, payload, ref done, slice)
            : base.TrySubmitSome(kind, id, payload, ref done, slice, whole);

    private protected override void BreakOff() => _stream.Interrupt();

    protected override Span<byte> ReserveFrame(int length, Deadline deadline)
    {
        // Twice as long at least, so that lengths that rise slowly do not allocate for each message.
        if (_room.Length < HeaderSize + length)
            _room = GC.AllocateUninitializedArray<byte>((int)Math.Min(Array.MaxLength, Math.Max(HeaderSize + (long)length, 2L * _room.Length)));
        return _room.AsSpan(HeaderSize, length);
    }

    protected override void CommitFrame(FrameKind kind, uint id, int length, Deadline deadline)
    {
        WriteHeader(_room, kind, id, length);
        SendAll(_room.AsSpan(0, HeaderSize + length), [], deadline);
    }

    private static void WriteHeader(Span<byte> header, FrameKind kind, uint id, int length)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(header, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(header[4..], length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[8..], (uint)kind);
        BinaryPrimitives.WriteUInt32LittleEndian(header[12..], id);
    }

    private void SendAll(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        var left = head.Length + body.Length;
        var begun = false;
        while (true)
        {
            var sent = _stream.Send(head, body, deadline);
            if (sent == left)
                return;
            if (sent <= 0)
                throw SendFailed(sent, begun, deadline);
            begun = true;
            left -= sent;
            var ofHead = Math.Min(sent, head.Length);
            head = head[ofHead..];
            body = body[(sent - ofHead)..];
        }
    }

    private IpcException SendFailed(int result, bool begun, Deadline deadline)
    {
        if (result != ByteStream.TimedOut)
            return Refuse(IpcStatus.PeerClosed, $"the peer at {_address} has closed or died: reconnect", deadline);
        if (!begun)
            return Refuse(IpcStatus.TimedOut, $"{_address} took nothing within the time-out; nothing was sent");
        var failure = Fail(IpcStatus.TimedOut, $"the time-out passed half-way through a message to {_address}, so the channel is broken: reconnect");
        // The receiver's half may be waiting for an answer to what will never arrive whole.
        _stream.Interrupt();
        return failure;
    }

    // ---- receiver's half

    protected override FrameInfo NextFrame(Deadline deadline)
    {
        if (_hasFrame)
            return _frame;
        if (!AwaitFrame(deadline))
            throw NothingCame();
        return ReadHeader();
    }

    protected override bool AwaitFrame(Deadline deadline)
    {
        if (_hasFrame)
            return true;
        if (!TrySkipRest(deadline))
            return false;
        while (_end - _start < HeaderSize)
        {
            if (!TryFillForHeader(deadline))
                return false;
        }
        return true;
    }

    private FrameInfo ReadHeader()
    {
        var header = _buffer.AsSpan(_start, HeaderSize);
        var magic = BinaryPrimitives.ReadUInt32LittleEndian(header);
        var length = BinaryPrimitives.ReadUInt32LittleEndian(header[4..]);
        var kind = (FrameKind)BinaryPrimitives.ReadUInt32LittleEndian(header[8..]);
        if (magic != Magic || kind is < FrameKind.Message or > FrameKind.Fault)
            throw Garbage();
        if (length > (uint)MaxMessageLength)
            throw Fail(IpcStatus.PeerTooLarge,
                $"the peer at {_address} announced a message of {length} bytes, over this side's limit of {MaxMessageLength}: raise it with max= at both ends");
        _frame = new FrameInfo(kind, BinaryPrimitives.ReadUInt32LittleEndian(header[12..]), (int)length);
        _start += HeaderSize;
        _gathered.Clear();
        _hasFrame = true;
        return _frame;
    }

    // Up to four bytes, as many as have come.
    private static bool BeginsLikeAHeader(ReadOnlySpan<byte> bytes)
    {
        for (var i = 0; i < bytes.Length; i++)
        {
            if (bytes[i] != (byte)(Magic >> (8 * i)))
                return false;
        }
        return true;
    }

    private IpcException Garbage() =>
        Fail(IpcStatus.NotOurProtocol, $"what came from {_address} is no frame of ipc: check that the peer uses the same transport");

    // False: timed out.
    private bool TryFillForHeader(Deadline deadline)
    {
        var have = _end - _start;
        // A stranger that speaks another protocol may never send a header's worth: the first byte that no header has is enough.
        if (!BeginsLikeAHeader(_buffer.AsSpan(_start, Math.Min(have, sizeof(uint)))))
            throw Garbage();
        if (_start > 0)
        {
            _buffer.AsSpan(_start, have).CopyTo(_buffer);
            _start = 0;
            _end = have;
        }
        return TryFill(_frame.Length > LongFrame ? ShortLook : BufferSize, deadline);
    }

    // Receives something behind what is in the buffer, up to the place `until` in it. False: timed out.
    private bool TryFill(int until, Deadline deadline)
    {
        var count = _stream.Receive(_buffer.AsSpan(_end, until - _end), false, deadline);
        if (count == ByteStream.TimedOut)
            return false;
        _end += Received(count, deadline);
        return true;
    }

    // The count of a receive; throws what its failure means.
    private int Received(int count, Deadline deadline) => count > 0 ? count : throw ReceiveFailed(count, deadline);

    private IpcException ReceiveFailed(int count, Deadline deadline)
    {
        if (count == ByteStream.TimedOut)
            return NothingCame();
        var inside = _hasFrame || _toSkip > 0 || _end != _start;
        return inside
            ? Fail(IpcStatus.Truncated, $"the peer at {_address} closed or died in the middle of a message: reconnect", deadline)
            : Fail(IpcStatus.PeerClosed, $"the peer at {_address} closed the connection or died: reconnect", deadline);
    }

    private IpcException NothingCame() => Refuse(IpcStatus.TimedOut, $"nothing came from {_address} within the time-out");

    protected override void TakeFrame(Span<byte> buffer, Deadline deadline)
    {
        _gathered.Bytes.CopyTo(buffer);
        var have = _gathered.Count;
        var buffered = Math.Min(buffer.Length - have, _end - _start);
        _buffer.AsSpan(_start, buffered).CopyTo(buffer[have..]);
        _start += buffered;
        have += buffered;
        while (have < buffer.Length)
        {
            var count = _stream.Receive(buffer[have..], true, deadline);
            if (count == ByteStream.TimedOut)
                KeepPart(buffer[..have]);
            have += Received(count, deadline);
        }
        _hasFrame = false;
    }

    // The buffer is its owner's again after a time-out: what has come is kept here for the next attempt.
    private void KeepPart(ReadOnlySpan<byte> part)
    {
        _gathered.Clear();
        _gathered.Append(part);
    }

    protected override ReadOnlySpan<byte> ViewFrame(Deadline deadline)
    {
        if (!TryComplete(deadline))
            throw NothingCame();
        return IsGathered ? _gathered.Bytes : _buffer.AsSpan(_start, _frame.Length);
    }

    private bool IsGathered => _frame.Length > BufferSize || _gathered.Count > 0;

    // Waits until the whole payload is here, in one of the two places. False: timed out.
    private bool TryComplete(Deadline deadline)
    {
        var length = _frame.Length;
        if (IsGathered)
            return TryGather(length, deadline);
        if (length > BufferSize - _start)
        {
            var have = _end - _start;
            _buffer.AsSpan(_start, have).CopyTo(_buffer);
            _start = 0;
            _end = have;
        }
        while (_end - _start < length)
        {
            if (!TryFill(BufferSize, deadline))
                return false;
        }
        return true;
    }

    private bool TryGather(int length, Deadline deadline)
    {
        var buffered = Math.Min(length - _gathered.Count, _end - _start);
        _gathered.Append(_buffer.AsSpan(_start, buffered));
        _start += buffered;
        while (_gathered.Count < length)
        {
            var count = _stream.Receive(_gathered.Room(length), true, deadline);
            if (count == ByteStream.TimedOut)
                return false;
            _gathered.Advance(Received(count, deadline));
        }
        return true;
    }

    protected override void ReleaseFrame()
    {
        if (!_hasFrame)
            return;
        var rest = _frame.Length - _gathered.Count;
        var buffered = Math.Min(rest, _end - _start);
        _start += buffered;
        _toSkip = rest - buffered;
        _hasFrame = false;
    }

    // False: timed out.
    private bool TrySkipRest(Deadline deadline)
    {
        if (_toSkip == 0)
            return true;
        // Nothing of the next frame is in the buffer yet, or there would be nothing to skip.
        while (_toSkip > 0)
        {
            var count = _stream.Receive(_buffer.AsSpan(0, (int)Math.Min(_toSkip, BufferSize)), false, deadline);
            if (count == ByteStream.TimedOut)
                return false;
            _toSkip -= Received(count, deadline);
        }
        _start = _end = 0;
        return true;
    }

    // ---- the end

    protected override void PeerGone(Deadline deadline) => _stream.PeerGone(deadline);
    protected override void CloseFrames() => _stream.Interrupt();
    protected override void DisposeFrames() => _stream.Dispose();
}
