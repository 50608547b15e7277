using System.Diagnostics;

namespace Ipc.Tests.CallOrders;

/// <summary>Runs one order of calls against the library and the model side by side. A step is a number: which function, at which end,
/// with what; any step is possible at any time, and the model says what must come of it.</summary>
internal sealed class Steps(Connection connection)
{
    private const int Short = 2; // milliseconds, where nothing is to come
    private const int Slack = 300; // over a time-out, on a loaded machine; a hang is longer
    private static readonly int[] s_lengths = [0, 1, 48, 300, 1500];

    private readonly List<string> _done = [];
    private int _seed;

    public int NextSeed() => ++_seed;

    public string Done => string.Join("\n", _done);

    public void Run(uint[] steps)
    {
        foreach (var step in steps)
        {
            var end = (step >> 8 & 1) == 0 ? connection.Client : connection.Server;
            if (!end.IsUsable)
                end = end.Peer;
            if (end.IsUsable)
                One((int)(step & 0xFF), end, (int)(step >> 9 & 0xFFFF));
        }
    }

    private void One(int function, EndModel end, int detail)
    {
        var length = s_lengths[detail % s_lengths.Length];
        var small = detail / 8 % 4 == 0;
        var channel = end.Channel;
        _done.Add($"{function % 31} {detail} at {end}");
        if (end.Peer.Stopped)
        {
            WithAStoppedPeer(function % 8, end, small);
            return;
        }
        switch (function % 31)
        {
            case 0 or 1: Send(end, length); break;
            case 2: SendBatch(end, length); break;
            case 3 or 4: Receive(end, small, tries: false); break;
            case 5: Receive(end, small, tries: true); break;
            case 6: Peek(end); break;
            case 7: Release(end); break;
            case 8: Reserve(end, length, forReply: false); break;
            case 9: Commit(end, length, forReply: false); break;
            case 10: Cancel(end); break;
            case 11: Call(end, length, inPlace: false, small); break;
            case 12: Call(end, length, inPlace: true, small); break;
            case 13: ReceiveReply(end, small); break;
            case 14 or 15: ReceiveRequest(end); break;
            case 16: Answer(end, length, FrameKind.Reply); break;
            case 17: Answer(end, length, FrameKind.Fault); break;
            case 18: Reserve(end, length, forReply: true); break;
            case 19: Commit(end, length, forReply: true); break;
            case 20 or 21: Blocked.Run(this, connection, end, detail, ++_seed); break;
            case 22 when detail % 8 == 0: Timely(0, channel.Close, IpcStatus.Ok); end.Closed = true; break;
            case 22 when detail % 8 == 1: Timely(0, channel.Dispose, IpcStatus.Ok); end.Closed = true; break;
            case 23 when detail % 8 == 0 && connection is { CanKill: true, Client: { IsGone: false, IsUsable: true } }: connection.KillClient(); break;
            case 23 when detail % 8 == 1: connection.TryStopClient(); break;
            case 24 or 25: InFlight.Submit(this, end, length); break;
            case 26 or 27: InFlight.Complete(this, end, small, tries: detail % 2 == 0); break;
            case 28: InFlight.Defer(this, end); break;
            case 29: InFlight.Answer(this, end, length, detail, fails: false); break;
            case 30: InFlight.Answer(this, end, length, detail, fails: true); break;
        }
    }

    // ---- sending: to a peer that is gone it may succeed, because nobody has told the system yet

    private void Send(EndModel end, int length)
    {
        var frame = new Frame(FrameKind.Message, 0, length, ++_seed);
        Sent(end, frame, Timely(0, () => end.Channel.Send(frame.Bytes, 0), SendingStatus(end)));
    }

    private void SendBatch(EndModel end, int length)
    {
        var frame = new Frame(FrameKind.Message, 0, length, ++_seed);
        var sent = 0;
        var expected = SendingStatus(end);
        var status = Timely(0, () => sent = end.Channel.SendBatch(frame.Bytes, [length], 0), expected == IpcStatus.TimedOut ? IpcStatus.Ok : expected);
        if (status == IpcStatus.Ok && sent == 1)
            Sent(end, frame, status);
        else if (status == IpcStatus.Ok && !end.IsFull && !end.Peer.IsGone)
            Wrong("the batch did not go out though there is room");
    }

    public static void Sent(EndModel end, Frame frame, IpcStatus status)
    {
        if (status == IpcStatus.Ok && !end.Peer.IsGone)
            end.Push(frame);
    }

    private static IpcStatus SendingStatus(EndModel end)
    {
        if (end.Refusal != IpcStatus.Ok)
            return end.Refusal;
        if (end.Reserved >= 0)
            return IpcStatus.WrongState;
        return RoomStatus(end);
    }

    // Ok stands for PeerClosed, too, when the peer is gone.
    public static IpcStatus RoomStatus(EndModel end) => end.Peer.IsGone || !end.IsFull ? IpcStatus.Ok : IpcStatus.TimedOut;

    private void Reserve(EndModel end, int length, bool forReply)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok)
            expected = forReply && end.Holding != EndModel.Held.Request ? IpcStatus.WrongState : RoomStatus(end);
        var status = Timely(0, () => Write(forReply ? end.Channel.ReserveReply(length, 0) : end.Channel.Reserve(length, 0)), expected);
        if (status != IpcStatus.WrongState)
            (end.Reserved, end.ReservedForReply) = (status == IpcStatus.Ok ? length : -1, forReply);

        void Write(Span<byte> room)
        {
            if (room.Length != length)
                Wrong($"room of {room.Length} bytes instead of {length}");
            end.ReservedSeed = ++_seed;
            Pair.Bytes(length, _seed).CopyTo(room);
        }
    }

    private void Commit(EndModel end, int length, bool forReply)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok && ((forReply && end.Holding != EndModel.Held.Request) || end.Reserved < 0 || end.ReservedForReply != forReply))
            expected = IpcStatus.WrongState;
        if (expected == IpcStatus.Ok)
            length = end.Reserved; // what was written there
        var status = Timely(0, () => Commit(), expected);
        if (end.Refusal != IpcStatus.Ok)
            end.Reserved = -1; // whatever it was lent for
        if (expected != IpcStatus.Ok)
            return;
        Sent(end, new Frame(forReply ? FrameKind.Reply : FrameKind.Message, forReply ? end.Incoming[0].Id : 0, length, end.ReservedSeed), status);
        end.Reserved = -1;
        if (forReply)
            end.Consume();

        void Commit()
        {
            if (forReply)
                end.Channel.CommitReply(length, 0);
            else
                end.Channel.Commit(length, 0);
        }
    }

    private void Cancel(EndModel end)
    {
        Timely(0, () => Subject.Cancel(end.Channel), end.Reserved >= 0 ? IpcStatus.Ok : IpcStatus.WrongState);
        end.Reserved = -1;
    }

    // ---- receiving

    private void Receive(EndModel end, bool small, bool tries)
    {
        var expected = Expected(end, FrameKind.Message, out var frame);
        var buffer = new byte[small ? 10 : 2000];
        if (frame is not null && frame.Length > buffer.Length)
            expected = IpcStatus.BufferTooSmall;
        var length = -1;
        var quiet = expected == IpcStatus.TimedOut && tries ? IpcStatus.Ok : expected;
        UntilTold(end, frame, quiet, timeout =>
        {
            if (!tries)
                length = end.Channel.Receive(buffer, timeout);
            else if (!Subject.TryReceive(end.Channel, buffer, out length, timeout))
                length = -1;
        }, () => length);
        if (expected != IpcStatus.Ok)
            return;
        Same(frame!, buffer.AsSpan(0, Math.Max(length, 0)), length);
        end.Consume();
    }

    private void Peek(EndModel end)
    {
        var again = end.Refusal == IpcStatus.Ok && end.Holding == EndModel.Held.Message;
        Frame? frame = again ? end.InPlace : null;
        var expected = again ? IpcStatus.Ok : Expected(end, FrameKind.Message, out frame);
        UntilTold(end, frame, expected, timeout => Same(frame, end.Channel.Peek(timeout)), null);
        if (expected == IpcStatus.Ok)
            (end.Holding, end.InPlace) = (EndModel.Held.Message, frame);
    }

    private void Release(EndModel end)
    {
        var holds = end.Holding is EndModel.Held.Message or EndModel.Held.ReplyInPlace;
        Timely(0, end.Channel.Release, holds ? IpcStatus.Ok : IpcStatus.WrongState);
        if (holds)
            end.Consume();
    }

    private void ReceiveRequest(EndModel end)
    {
        var expected = Expected(end, FrameKind.Request, out var frame);
        UntilTold(end, frame, expected, timeout => Same(frame, end.Channel.ReceiveRequest(timeout)), null);
        if (expected == IpcStatus.Ok)
            (end.Holding, end.InPlace) = (EndModel.Held.Request, frame);
    }

    private void Answer(EndModel end, int length, FrameKind kind)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok)
            expected = end.Holding != EndModel.Held.Request || end.Reserved >= 0 ? IpcStatus.WrongState : RoomStatus(end);
        var text = new string('x', length);
        var frame = new Frame(kind, end.Holding == EndModel.Held.Request ? end.InPlace!.Id : 0, length, ++_seed);
        var status = Timely(0, Answer, expected);
        if (status is IpcStatus.TimedOut or IpcStatus.WrongState || end.Refusal != IpcStatus.Ok)
            return;
        Sent(end, frame, status);
        end.Consume();

        void Answer()
        {
            if (kind == FrameKind.Reply)
                end.Channel.Reply(frame.Bytes, 0);
            else
                end.Channel.FailRequest(text, 0);
        }
    }

    // ---- calls that nobody answers while they wait

    private void Call(EndModel end, int length, bool inPlace, bool small)
    {
        var request = new Frame(FrameKind.Request, end.CallId + 1, length, ++_seed);
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok && (end.ReceivesNothingElse || end.Reserved >= 0))
            expected = IpcStatus.WrongState;
        // Whether it drops the kept reply before it is refused makes no difference but to ReceiveReply.
        if (expected == IpcStatus.WrongState && !end.ReceivesNothingElse)
            end.Holding = EndModel.Held.Nothing;
        if (expected != IpcStatus.Ok)
        {
            Timely(Short, Call, expected);
            return;
        }
        end.CallId++;
        if (end.Peer.IsGone)
        {
            Timely(Short, Call, IpcStatus.PeerClosed, IpcStatus.TimedOut, IpcStatus.NotOurProtocol);
            end.Unsure = true;
            return;
        }
        // It gives a kept reply up before it sends, also when there is no room for its request.
        if (end.Holding == EndModel.Held.KeptReply)
            end.Holding = EndModel.Held.Nothing;
        expected = RoomStatus(end);
        if (expected == IpcStatus.Ok)
        {
            end.Push(request);
            expected = end.Next(FrameKind.Reply, out _);
        }
        Timely(Short, Call, expected);

        void Call()
        {
            if (inPlace)
                _ = end.Channel.CallInPlace(request.Bytes, Short);
            else
                end.Channel.Call(request.Bytes, new byte[small ? 10 : 2000], Short);
        }
    }

    // A reply is kept, by Blocked, only when all of it is there.
    private void ReceiveReply(EndModel end, bool small)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok && (end.Holding != EndModel.Held.KeptReply || end.InFlight.Count > 0))
            expected = IpcStatus.WrongState;
        var buffer = new byte[small ? 10 : 2000];
        if (expected == IpcStatus.Ok && end.Incoming[0].Length > buffer.Length)
            expected = IpcStatus.BufferTooSmall;
        var length = 0;
        Timely(0, () => length = Subject.ReceiveReply(end.Channel, buffer, 0), expected);
        if (expected != IpcStatus.Ok)
            return;
        Same(end.Incoming[0], buffer.AsSpan(0, length));
        end.Consume();
    }

    // Nothing comes whole any more; every call keeps to its time.
    private void WithAStoppedPeer(int function, EndModel end, bool small)
    {
        var buffer = new byte[small ? 10 : 50_000];
        Action action = function switch
        {
            0 or 1 => () => end.Channel.Call([1], buffer, Short),
            2 => () => _ = end.Channel.CallInPlace([1], Short),
            3 or 4 => () => Subject.ReceiveReply(end.Channel, buffer, Short),
            5 => () => end.Channel.Receive(buffer, Short),
            6 => () => _ = end.Channel.Peek(Short),
            _ => end.Channel.Release,
        };
        Timely(Short, action, IpcStatus.TimedOut, IpcStatus.BufferTooSmall, IpcStatus.WrongState, IpcStatus.NotOurProtocol, IpcStatus.Closed,
            IpcStatus.PeerClosed);
    }

    // ---- what must come of it

    private static IpcStatus Expected(EndModel end, FrameKind kind, out Frame? frame)
    {
        frame = null;
        if (end.Refusal != IpcStatus.Ok)
            return end.Refusal;
        return end.ReceivesNothingElse ? IpcStatus.WrongState : end.Next(kind, out frame);
    }

    // What is on its way has a moment to arrive; a killed peer is noticed by looking again and again.
    public void UntilTold(EndModel end, Frame? frame, IpcStatus expected, Action<int> receive, Func<int>? taken)
    {
        var timeout = frame is null ? 0 : 2000;
        if (expected != IpcStatus.PeerClosed || end.Broken != IpcStatus.PeerClosed)
        {
            Timely(timeout, () => receive(timeout), expected);
            return;
        }
        var clock = Stopwatch.StartNew();
        while (true)
        {
            var status = Outcome(() => receive(0));
            if (status == IpcStatus.PeerClosed)
                return;
            if (!(status == IpcStatus.TimedOut || (status == IpcStatus.Ok && taken?.Invoke() == -1)) || clock.ElapsedMilliseconds > 2000)
                Wrong($"{status} for {clock.ElapsedMilliseconds} ms where the peer is gone");
        }
    }

    public static IpcStatus Outcome(Action action)
    {
        try
        {
            action();
            return IpcStatus.Ok;
        }
        catch (IpcException e)
        {
            return e.Status;
        }
    }

    public IpcStatus Timely(int timeout, Action action, params ReadOnlySpan<IpcStatus> expected)
    {
        var clock = Stopwatch.StartNew();
        var status = Outcome(action);
        if (!expected.Contains(status) && !(expected[0] == IpcStatus.Ok && IsPeersEnd(status)))
            Wrong($"{status} instead of {string.Join(" or ", expected.ToArray().Distinct())}");
        if (clock.ElapsedMilliseconds > timeout + Slack)
            Wrong($"took {clock.ElapsedMilliseconds} ms with a time-out of {timeout}");
        _done[^1] += $" -> {status}";
        return status;
    }

    public void Same(Frame? frame, ReadOnlySpan<byte> found) => Same(frame, found, found.Length);

    // Sending to a peer that is gone fails sooner or later; one that was killed may first look as if it merely did not read.
    private bool IsPeersEnd(IpcStatus status) => status switch
    {
        IpcStatus.PeerClosed => connection.Client.IsGone || connection.Server.IsGone,
        IpcStatus.TimedOut => connection.Client is { Killed: true, OneBlock: true },
        _ => false,
    };

    private void Same(Frame? frame, ReadOnlySpan<byte> found, int length)
    {
        if (frame is null || length != frame.Length || !found.SequenceEqual(frame.Bytes))
            Wrong($"{length} bytes that are not what was sent: {frame}");
    }

    public void Wrong(string what) => throw new InvalidOperationException($"{what}\nafter\n{Done}");
}
