namespace Ipc.Tests.CallOrders;

/// <summary>Steps of many calls in flight: each that was submitted is told of exactly once, the server answers in any order.</summary>
internal static class InFlight
{
    private const int LongestTextTold = 1000; // bytes of a handler's failure; the rest is cut off

    public static void Submit(Steps steps, EndModel end, int length)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok)
            expected = end.Reserved >= 0 ? IpcStatus.WrongState : Steps.RoomStatus(end);
        var goesOut = expected is IpcStatus.Ok or IpcStatus.TimedOut;
        var request = new Frame(FrameKind.Request, goesOut ? ++end.CallId : 0, length, steps.NextSeed());
        var status = steps.Timely(0, () => end.Channel.Submit(request.Bytes, TagOf(request.Id), 0), expected);
        if (status != IpcStatus.Ok)
            return;
        end.InFlight.Add(request.Id);
        Steps.Sent(end, request, status);
    }

    public static void Complete(Steps steps, EndModel end, bool small, bool tries)
    {
        var (expected, frame) = Expected(end);
        var buffer = new byte[small ? 10 : 2000];
        if (frame is { Kind: FrameKind.Reply } && frame.Length > buffer.Length)
            expected = IpcStatus.BufferTooSmall;
        IpcCompletion? told = null;
        // What an ended channel makes of a call in flight is its outcome; with none left it is the function's own failure.
        steps.UntilTold(end, frame, expected == IpcStatus.TimedOut && tries ? IpcStatus.Ok : expected, timeout =>
        {
            told = null;
            if (!tries)
                told = end.Channel.Complete(buffer, timeout);
            else if (end.Channel.TryComplete(buffer, out var completion, timeout))
                told = completion;
            if (told is { Outcome: not IpcStatus.Ok } failed)
                throw new IpcException(failed.Outcome, failed.ErrorMessage);
        }, () => told is null ? -1 : told.Value.Length);
        if (told is not { } call)
        {
            if (end.InFlight.Count > 0 && end.Refusal != IpcStatus.Ok)
                steps.Wrong($"{end.InFlight.Count} calls in flight are not told of though the channel has ended");
            return;
        }
        if (end.InFlight.FirstOrDefault(id => TagOf(id) == call.Tag) is not (not 0 and var told1))
        {
            steps.Wrong($"tells of {call.Tag}, which is not in flight: {call.Outcome} {call.ErrorMessage}");
            return;
        }
        if (frame is not null && told1 != frame.Id)
            steps.Wrong($"tells of call {told1} where the answer to {frame.Id} came first");
        if (call.Outcome == IpcStatus.BufferTooSmall)
        {
            if (call.Length != frame!.Length)
                steps.Wrong($"says that the reply has {call.Length} bytes: {frame}");
            return;
        }
        end.InFlight.Remove(told1);
        if (frame is null)
            return;
        if (frame.Kind == FrameKind.Reply)
            steps.Same(frame, buffer.AsSpan(0, call.Length));
        else if (call.ErrorMessage != $"the server's handler failed: {new string('x', Math.Min(frame.Length, LongestTextTold))}")
            steps.Wrong($"fails without the server's text: {call.ErrorMessage}");
        end.Incoming.RemoveAt(0);
    }

    // What comes next for who completes: late answers are dropped, and so is a kept reply.
    private static (IpcStatus Status, Frame? Frame) Expected(EndModel end)
    {
        if (end.Refusal != IpcStatus.Ok)
            return (end.Refusal, null);
        if (end.HoldsInPlace)
            return (IpcStatus.WrongState, null);
        end.Holding = EndModel.Held.Nothing;
        while (end.Incoming.Count > 0)
        {
            var next = end.Incoming[0];
            if (next.Kind is not (FrameKind.Reply or FrameKind.Fault) || end.CallId == 0)
                return (end.Broken = IpcStatus.NotOurProtocol, null);
            if (end.InFlight.Contains(next.Id))
                return (next.Kind == FrameKind.Reply ? IpcStatus.Ok : IpcStatus.HandlerFailed, next);
            end.Incoming.RemoveAt(0);
        }
        return (end.Peer.IsGone ? end.Broken = IpcStatus.PeerClosed : IpcStatus.TimedOut, null);
    }

    public static void Defer(Steps steps, EndModel end)
    {
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok && end.Holding != EndModel.Held.Request)
            expected = IpcStatus.WrongState;
        var token = 0UL;
        if (steps.Timely(0, () => token = end.Channel.DeferRequest(), expected) != IpcStatus.Ok)
            return;
        end.Deferred.Add((token, end.InPlace!.Id));
        end.NewestToken = token;
        end.Consume();
    }

    public static void Answer(Steps steps, EndModel end, int length, int detail, bool fails)
    {
        var known = end.Deferred.Count > 0 && detail % 8 != 7;
        var (token, id) = known ? end.Deferred[detail % end.Deferred.Count] : (end.NewestToken + 1, 0U);
        var expected = end.Refusal;
        if (expected == IpcStatus.Ok && !known)
            expected = end.Deferred.Count == 0 ? IpcStatus.WrongState : IpcStatus.InvalidArgument;
        if (expected == IpcStatus.Ok)
            expected = end.Reserved >= 0 ? IpcStatus.WrongState : Steps.RoomStatus(end);
        var frame = new Frame(fails ? FrameKind.Fault : FrameKind.Reply, id, length, steps.NextSeed());
        var status = steps.Timely(0, () =>
        {
            if (fails)
                end.Channel.FailDeferred(token, new string('x', length), 0);
            else
                end.Channel.ReplyDeferred(token, frame.Bytes, 0);
        }, expected);
        Steps.Sent(end, frame, status);
        if (known && status == IpcStatus.Ok)
            end.Deferred.Remove((token, id));
    }

    // Not the call's number, which the library has, too.
    private static ulong TagOf(uint id) => id * 0x9E3779B97F4A7C15;
}
