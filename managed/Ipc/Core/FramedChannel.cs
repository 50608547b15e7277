using System.Runtime.CompilerServices;
using System.Text;

namespace Ipc;

/// <summary>
/// Messages and calls over whole frames: which kinds may come when, call numbers, faults, what is lent out. A transport
/// implements the frame primitives at the end; twin of native/src/core/conversation.cpp.
/// </summary>
/// <remarks>The sender's and the receiver's half touch none of each other's fields, so that one thread each may run.</remarks>
internal abstract partial class FramedChannel(int limit) : Channel
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

    public sealed override int Limit { get; } = limit;

    // ---- plain messages

    public sealed override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Sender);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckLength(message.Length);
            CheckNoRoomLent(nameof(Send));
            SendFrame(FrameKind.Message, 0, message, deadline);
        }
        finally
        {
            _gate.Leave(Sender, byTheDoor);
        }
    }

    public sealed override int Receive(Span<byte> buffer, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHoldingNothing(nameof(Receive));
            // The next message of a stream is there already. Not as a batch of one, which takes more steps: docs/performance.md.
            if (TryTakeNext(FrameKind.Message, 0, false, buffer, out var length))
                return length;
            return TakeMessage(buffer, deadline);
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override bool TryReceive(Span<byte> buffer, out int length, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHoldingNothing(nameof(TryReceive));
            if (TryTakeNext(FrameKind.Message, 0, false, buffer, out length))
                return true;
            if (!AwaitFrame(deadline))
                return false;
            length = TakeMessage(buffer, deadline);
            return true;
        }
        catch (IpcException e) when (e.Status == Status.TimedOut && !_stopped)
        {
            length = 0;
            return false; // some of a message is here, or of one to be skipped: the rest is waited for by the next call
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    private int TakeMessage(Span<byte> buffer, Deadline deadline)
    {
        var frame = Expect(FrameKind.Message, deadline);
        CheckRoom(frame.Length, buffer.Length);
        TakeFrame(buffer[..frame.Length], deadline);
        return frame.Length;
    }

    public sealed override ReadOnlySpan<byte> Peek(int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            if (_holding != Holding.Message)
                CheckHoldingNothing(nameof(Peek));
            Expect(FrameKind.Message, deadline);
            var message = ViewFrame(deadline);
            _holding = Holding.Message;
            return message;
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override void Release()
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            if (_holding is not (Holding.Message or Holding.ReplyInPlace))
                throw new IpcException(Status.WrongState, "Release without a message in place: call Peek or CallInPlace first");
            _holding = Holding.Nothing;
            if (!_gate.HasEnded)
                ReleaseFrame();
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    // ---- batches

    public sealed override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Sender);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckNoRoomLent(nameof(SendBatch));
            return SendOneByOne(messages, lengths, deadline);
        }
        finally
        {
            _gate.Leave(Sender, byTheDoor);
        }
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
            catch (IpcException e) when (e.Status == Status.TimedOut && !_stopped)
            {
                break; // those before it are out, and the channel is good
            }
        }
        return sent;
    }

    public sealed override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHoldingNothing(nameof(ReceiveBatch));
            if (lengths.IsEmpty)
                throw new IpcException(Status.InvalidArgument, "ReceiveBatch with room for the lengths of no message");
            var count = TakeMany(buffer, lengths);
            if (count > 0)
                return count;
            lengths[0] = TakeMessage(buffer, deadline);
            return 1 + TakeMany(buffer[lengths[0]..], lengths[1..]);
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    // ---- calls, the client's end: nobody else may send meanwhile, so the receiver's door stands for both halves

    public sealed override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            StartCall(request, deadline);
            if (TryTakeNext(FrameKind.Reply, _callId, true, reply, out var length))
                return length;
            var frame = AwaitReply(deadline);
            if (frame.Length > reply.Length)
                _holding = Holding.KeptReply;
            CheckRoom(frame.Length, reply.Length);
            TakeFrame(reply[..frame.Length], deadline);
            return frame.Length;
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            if (_holding != Holding.KeptReply)
                throw new IpcException(Status.WrongState, "no reply is kept: ReceiveReply follows a Call that ended in BufferTooSmall");
            var frame = NextFrame(deadline);
            CheckRoom(frame.Length, reply.Length);
            TakeFrame(reply[..frame.Length], deadline);
            _holding = Holding.Nothing;
            return frame.Length;
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            StartCall(request, deadline);
            AwaitReply(deadline);
            var reply = ViewFrame(deadline);
            _holding = Holding.ReplyInPlace;
            return reply;
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void StartCall(ReadOnlySpan<byte> request, Deadline deadline)
    {
        CheckHoldingNothing(nameof(Call));
        CheckLength(request.Length);
        CheckNoRoomLent(nameof(Call));
        var id = _callId + 1;
        // 0 is the number of plain messages.
        _callId = id = id == 0 ? 1 : id;
        SendFrame(FrameKind.Request, id, request, deadline);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private FrameInfo AwaitReply(Deadline deadline)
    {
        var frame = NextFrame(deadline);
        return frame.Kind == FrameKind.Reply && frame.Id == _callId ? frame : AwaitReplyBeyond(frame, deadline);
    }

    // What comes is not the reply at once: a late answer to drop, a fault, or nothing a server of ours would send.
    private FrameInfo AwaitReplyBeyond(FrameInfo frame, Deadline deadline)
    {
        while (frame.Kind is FrameKind.Reply or FrameKind.Fault)
        {
            var newer = (int)(frame.Id - _callId);
            if (newer == 0)
                return frame.Kind == FrameKind.Reply ? frame : throw TakeFault(frame, deadline);
            if (newer > 0)
                throw Fail(Status.NotOurProtocol, "the peer answered a call that was never made; reconnect");
            ReleaseFrame();
            frame = NextFrame(deadline);
        }
        throw OutOfOrder(frame.Kind, "a reply");
    }

    private IpcException TakeFault(FrameInfo frame, Deadline deadline)
    {
        // The text comes from the peer: a sentence's worth of it is enough.
        var text = Encoding.UTF8.GetString(ViewFrame(deadline)[..Math.Min(frame.Length, LongestFaultText)]);
        ReleaseFrame();
        return new IpcException(Status.HandlerFailed, $"the server's handler failed: {text}");
    }

    // ---- calls, the server's end

    public sealed override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckHoldingNothing(nameof(ReceiveRequest));
            var frame = Expect(FrameKind.Request, deadline);
            var request = ViewFrame(deadline);
            _requestId = frame.Id;
            _holding = Holding.Request;
            return request;
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckRequest(nameof(Reply));
            CheckLength(reply.Length);
            Answer(FrameKind.Reply, reply, deadline, nameof(Reply));
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    public sealed override void FailRequest(string text, int timeoutMilliseconds)
    {
        ArgumentNullException.ThrowIfNull(text);
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckRequest(nameof(FailRequest));
            var bytes = Encoding.UTF8.GetBytes(text);
            Answer(FrameKind.Fault, bytes.AsSpan(0, Math.Min(bytes.Length, Limit)), deadline, nameof(FailRequest));
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    private void Answer(FrameKind kind, ReadOnlySpan<byte> payload, Deadline deadline, string function)
    {
        CheckNoRoomLent(function);
        try
        {
            AnswerFrame(kind, _requestId, payload, deadline);
        }
        catch (IpcException e) when (!MayTryAgain(e))
        {
            AbandonRequest();
            throw;
        }
        _holding = Holding.Nothing;
    }

    // The request's memory goes back whatever became of its reply, unless the caller may try again.
    private void AbandonRequest()
    {
        _reserved = Nothing;
        _holding = Holding.Nothing;
        ReleaseFrame();
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
        return Fail(Status.NotOurProtocol,
            $"the peer sent {what} where {instead} was expected: a channel carries either calls or plain messages; reconnect");
    }

    // ---- checks; what throws stands apart, so that the checks themselves are inlined

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckLength(int length)
    {
        if ((uint)length > (uint)Limit)
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
        if (_holding != Holding.Nothing)
            CheckHeld(function);
    }

    // A kept reply stands in nobody's way: it is dropped as a late one is.
    private void CheckHeld(string function)
    {
        if (_holding != Holding.KeptReply)
            throw new IpcException(Status.WrongState, _holding == Holding.Request
                ? $"{function} while a request is unanswered: reply to it first"
                : $"{function} while a message is held in place: call Release first");
        _holding = Holding.Nothing;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckRequest(string function)
    {
        if (_holding != Holding.Request)
            throw new IpcException(Status.WrongState, $"{function} without a request: call ReceiveRequest first");
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckNoRoomLent(string function)
    {
        if (_reserved >= 0)
            throw RoomIsLent(function);
    }

    private IpcException WrongLength(int length) => length < 0
        ? new IpcException(Status.InvalidArgument, $"a message cannot have {length} bytes")
        : new IpcException(Status.MessageTooLarge,
            $"a message of {length} bytes is over this channel's limit of {Limit}: raise it with max= at both ends, or send parts");

    private static IpcException TooSmall(int length, int room) =>
        new(Status.BufferTooSmall, $"the message has {length} bytes and the buffer room for {room}: ask again with more room");

    private static IpcException TooFewBytes(int index, int length, int left) => new(Status.InvalidArgument,
        $"SendBatch: message {index} has {length} bytes by its length and {left} are left: give all messages back to back");
}
