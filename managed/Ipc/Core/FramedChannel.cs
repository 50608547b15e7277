using System.Runtime.CompilerServices;
using System.Text;

namespace Ipc;

/// <summary>
/// Messages and calls over whole frames: which kinds may come when, call numbers, faults, what is lent out. A transport
/// implements the frame primitives at the end; twin of native/src/core/session_over.hpp.
/// </summary>
/// <remarks>The sender's and the receiver's half touch none of each other's fields, so that one thread each may run.</remarks>
internal abstract partial class FramedChannel(int limit) : IpcChannel
{
    /// <summary>What the receiver's half holds between two calls.</summary>
    private enum Holding : byte { Nothing, KeptReply, Message, ReplyInPlace, Request }

    private const int Nothing = -1;
    private const int LongestFaultText = 1000;

    // sender's half: bytes of the lent room, and whether it is a reply's
    private int _reserved = Nothing;
    private bool _reservedForReply;

    // receiver's half
    private Holding _holding;
    private uint _callId;
    private uint _requestId;

    public sealed override int MaxMessageLength { get; } = limit;

    // ---- plain messages

    public sealed override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds)
    {
        if (_gate.Doors.Sender.TryEnter())
        {
            var sent = MaySend(message.Length, timeoutMilliseconds) && TrySendNow(FrameKind.Message, 0, message);
            _gate.Doors.Sender.Leave();
            if (sent)
                return;
        }
        SendOrWait(message, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SendOrWait(ReadOnlySpan<byte> message, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Sender);
        var deadline = Begin(timeoutMilliseconds);
        CheckLength(message.Length);
        CheckNoRoomLent(nameof(Send));
        SendFrame(FrameKind.Message, 0, message, deadline);
    }

    public sealed override int Receive(Span<byte> buffer, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            var length = 0;
            // The next message of a stream is there already. Not as a batch of one, which takes more steps: docs/experiments.md.
            var received = MayReceive(timeoutMilliseconds) && TryTakeNext(FrameKind.Message, 0, false, buffer, out length);
            _gate.Doors.Receiver.Leave();
            if (received)
                return length;
        }
        return ReceiveOrWait(buffer, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int ReceiveOrWait(Span<byte> buffer, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        CheckHoldingNothing(nameof(Receive));
        return TakeMessage(buffer, deadline);
    }

    public sealed override bool TryReceive(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            length = 0;
            var may = MayReceive(timeoutMilliseconds);
            var received = may && TryTakeNext(FrameKind.Message, 0, false, buffer, out length);
            // Who polls mostly finds nothing: that is told without going in a second time.
            var nothing = may && !received && timeoutMilliseconds == 0 && HasNothingNow();
            _gate.Doors.Receiver.Leave();
            if (received || nothing)
                return received;
        }
        return TryReceiveOrWait(buffer, out length, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReceiveOrWait(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHoldingNothing(nameof(TryReceive));
            length = 0;
            if (!AwaitFrame(deadline))
                return false;
            length = TakeMessage(buffer, deadline);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !_stopped)
        {
            length = 0;
            return false; // some of a message is here, or of one to be skipped: the rest is waited for by the next call
        }
    }

    private int TakeMessage(Span<byte> buffer, Deadline deadline)
    {
        var frame = Expect(FrameKind.Message, deadline);
        CheckRoom(frame.Length, buffer.Length);
        TakeFrame(buffer[..frame.Length], deadline);
        return frame.Length;
    }

    public sealed override ReadOnlySpan<byte> Peek(int timeoutMilliseconds) =>
        PeekNow(timeoutMilliseconds, out var message, out _) ? message : PeekOrWait(timeoutMilliseconds);

    public sealed override bool TryPeek(out ReadOnlySpan<byte> message, int timeoutMilliseconds) =>
        PeekNow(timeoutMilliseconds, out message, out var nothing) || (!nothing && TryPeekOrWait(out message, timeoutMilliseconds));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool PeekNow(int timeoutMilliseconds, out ReadOnlySpan<byte> message, out bool nothing)
    {
        message = default;
        nothing = false;
        if (!_gate.Doors.Receiver.TryEnter())
            return false;
        var may = MayReceive(timeoutMilliseconds);
        var seen = may && TryViewNext(FrameKind.Message, timeoutMilliseconds != 0, out message, out _);
        if (seen)
            _holding = Holding.Message;
        else
            nothing = may && timeoutMilliseconds == 0 && HasNothingNow();
        _gate.Doors.Receiver.Leave();
        return seen;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> PeekOrWait(int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        if (_holding != Holding.Message)
            CheckHoldingNothing(nameof(Peek));
        return ViewMessage(deadline);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryPeekOrWait(out ReadOnlySpan<byte> message, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        message = default;
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            if (_holding != Holding.Message)
            {
                CheckHoldingNothing(nameof(TryPeek));
                if (!AwaitFrame(deadline))
                    return false;
            }
            message = ViewMessage(deadline);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !_stopped)
        {
            return false; // as in TryReceive
        }
    }

    private ReadOnlySpan<byte> ViewMessage(Deadline deadline)
    {
        Expect(FrameKind.Message, deadline);
        var message = ViewFrame(deadline);
        _holding = Holding.Message;
        return message;
    }

    public sealed override void Release()
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            var released = _holding is Holding.Message or Holding.ReplyInPlace && !_gate.HasEnded && TryReleaseNow();
            if (released)
                _holding = Holding.Nothing;
            _gate.Doors.Receiver.Leave();
            if (released)
                return;
        }
        ReleaseAnyhow();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReleaseAnyhow()
    {
        using var visit = new Visit(this, Receiver);
        if (_holding is not (Holding.Message or Holding.ReplyInPlace))
            throw new IpcException(IpcStatus.WrongState, "Release without a message in place: call Peek or CallInPlace first");
        _holding = Holding.Nothing;
        if (!_gate.HasEnded)
            ReleaseFrame();
    }

    // ---- batches

    public sealed override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Sender);
        var deadline = Begin(timeoutMilliseconds);
        CheckNoRoomLent(nameof(SendBatch));
        return SendOneByOne(messages, lengths, deadline);
    }

    private int SendOneByOne(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, Deadline deadline)
    {
        var sent = 0;
        while (sent < lengths.Length)
        {
            try
            {
                var atOnce = SendMany(messages, lengths[sent..], deadline);
                foreach (var length in lengths.Slice(sent, atOnce))
                    messages = messages[length..];
                sent += atOnce;
                if (atOnce != 0)
                    continue;
                // One that is long, or for which there is no room yet, or that shows why nothing can be sent.
                var next = lengths[sent];
                CheckLength(next);
                if (next > messages.Length)
                    throw TooFewBytes(sent, next, messages.Length);
                SendFrame(FrameKind.Message, 0, messages[..next], deadline);
                messages = messages[next..];
                sent++;
            }
            catch (IpcException e) when (e.Status == IpcStatus.TimedOut && !_stopped)
            {
                break; // those before it are out, and the channel is good
            }
        }
        return sent;
    }

    public sealed override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = Begin(timeoutMilliseconds);
        CheckHoldingNothing(nameof(ReceiveBatch));
        if (lengths.IsEmpty)
            throw new IpcException(IpcStatus.InvalidArgument, "ReceiveBatch with room for the lengths of no message");
        var count = TakeMany(buffer, lengths);
        if (count > 0)
            return count;
        lengths[0] = TakeMessage(buffer, deadline);
        return 1 + TakeMany(buffer[lengths[0]..], lengths[1..]);
    }

    // ---- order

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private FrameInfo Expect(FrameKind kind, Deadline deadline)
    {
        var frame = NextFrame(deadline);
        return frame.Kind == kind ? frame : ExpectBeyond(frame, kind, deadline);
    }

    // The late answer to a call that timed out may still come after a client went over to plain messages.
    private FrameInfo ExpectBeyond(FrameInfo frame, FrameKind kind, Deadline deadline)
    {
        while (frame.Kind != kind)
        {
            var late = frame.Kind is FrameKind.Reply or FrameKind.Fault && _callId != 0 && (int)(frame.Id - _callId) <= 0;
            if (!late)
                throw OutOfOrder(frame.Kind, kind == FrameKind.Message ? "a plain message" : "a request");
            _holding = Holding.Nothing;
            ReleaseFrame();
            frame = NextFrame(deadline);
        }
        return frame;
    }

    private IpcException OutOfOrder(FrameKind got, string instead)
    {
        var what = got switch
        {
            FrameKind.Message => "a plain message",
            FrameKind.Request => "a request",
            FrameKind.Reply => "a reply",
            _ => "a fault",
        };
        return Fail(IpcStatus.NotOurProtocol,
            $"the peer sent {what} where {instead} was expected: a channel carries either calls or plain messages; reconnect");
    }

    // ---- checks; what throws stands apart, so that the checks themselves are inlined

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckLength(int length)
    {
        if ((uint)length > (uint)MaxMessageLength)
            throw WrongLength(length);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void CheckRoom(int length, int room)
    {
        if (length > room)
            throw TooSmall(length, room);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckHoldingNothing(string function)
    {
        if (_holding != Holding.Nothing || AnyInFlight)
            CheckHeld(function);
    }

    // A kept reply stands in nobody's way: it is dropped as a late one is.
    private void CheckHeld(string function)
    {
        if (_holding <= Holding.KeptReply && AnyInFlight)
            throw new IpcException(IpcStatus.WrongState, $"{function} while calls are in flight: complete them first");
        if (_holding != Holding.KeptReply)
            throw new IpcException(IpcStatus.WrongState, _holding == Holding.Request
                ? $"{function} while a request is unanswered: reply to it first"
                : $"{function} while a message is held in place: call Release first");
        _holding = Holding.Nothing;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckRequest(string function)
    {
        if (_holding != Holding.Request)
            throw new IpcException(IpcStatus.WrongState, $"{function} without a request: call ReceiveRequest first");
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckNoRoomLent(string function)
    {
        if (_reserved >= 0)
            throw RoomIsLent(function);
    }

    private IpcException WrongLength(int length) => length < 0
        ? new IpcException(IpcStatus.InvalidArgument, $"a message cannot have {length} bytes")
        : new IpcException(IpcStatus.MessageTooLarge,
            $"a message of {length} bytes is over this channel's limit of {MaxMessageLength}: raise it with max= at both ends, or send parts");

    private static IpcException TooSmall(int length, int room) =>
        new(IpcStatus.BufferTooSmall, $"the message has {length} bytes and the buffer room for {room}: ask again with more room");

    private static IpcException TooFewBytes(int index, int length, int left) => new(IpcStatus.InvalidArgument,
        $"SendBatch: message {index} has {length} bytes by its length and {left} are left: give all messages back to back");
}
