namespace Ipc.Tests.CallOrders;

/// <summary>One call that waits without end on a second thread, and what ends it: closing or disposing here, the peer's end or death,
/// or what it waits for.</summary>
internal static class Blocked
{
    private enum Ending { Close, Dispose, CloseAndTheWokenDisposes, PeerCloses, PeerDisposes, PeerIsKilled, Fulfilled, FulfilledTooLong }

    private sealed class Waiting(EndModel end, int kind, byte[] request, byte[] buffer)
    {
        public string? Text { get; private set; }
        public int Length { get; private set; }
        public byte[] Buffer => buffer;

        public void Wait(bool disposes)
        {
            try
            {
                switch (kind)
                {
                    case 0: Length = end.Channel.Receive(buffer); break;
                    case 1: Take(end.Channel.Peek()); break;
                    case 2: Take(end.Channel.ReceiveRequest()); break;
                    case 3: Length = end.Channel.Call(request, buffer); break;
                    case 4: Subject.TryReceive(end.Channel, buffer, out var length, Timeout.Infinite); Length = length; break;
                    default: end.Channel.Serve((asked, reply) => asked.CopyTo(reply.Reserve(asked.Length))); break;
                }
            }
            catch (IpcException e)
            {
                Text = e.Message;
                throw;
            }
            finally
            {
                if (disposes)
                    end.Channel.Dispose();
            }
        }

        private void Take(ReadOnlySpan<byte> found)
        {
            Length = found.Length;
            found.CopyTo(buffer);
        }
    }

    public static void Run(Steps steps, Connection connection, EndModel end, int detail, int seed)
    {
        var peer = end.Peer;
        var kind = detail % 6;
        var ending = (Ending)(detail / 6 % 8);
        // It must really have to wait, and whoever ends it be able to.
        if (IsBusy(end) || IsBusy(peer) || (ending == Ending.PeerIsKilled && !(connection.CanKill && peer == connection.Client)))
            return;
        var calls = kind == 3;
        var request = new Frame(FrameKind.Request, end.CallId + 1, 70, seed);
        var small = calls && ending == Ending.FulfilledTooLong;
        var waiting = new Waiting(end, kind, request.Bytes, new byte[small ? 10 : 2000]);
        var thread = Aside.Run(() => Steps.Outcome(() => waiting.Wait(ending == Ending.CloseAndTheWokenDisposes)));
        Thread.SpinWait(detail % 977 * 20);
        if (calls)
        {
            end.CallId++;
            if (ending >= Ending.Fulfilled)
                end.Push(request);
        }
        var expected = End(steps, connection, end, kind, ending, seed, out var sent);
        var status = thread.Join();
        if (small)
            Finish(steps, end, status, sent!, ref expected);
        else if (status == IpcStatus.Ok && sent is not null)
            steps.Same(sent, waiting.Buffer.AsSpan(0, waiting.Length));
        if (status != expected)
            steps.Wrong($"the blocked call, kind {kind}, ended by {ending} with {status} instead of {expected}: {waiting.Text}");
        if (status == IpcStatus.PeerClosed)
            end.Broken = status;
        // A call whose request the peer may or may not have had before the end.
        end.Closed |= ending <= Ending.CloseAndTheWokenDisposes;
        if (calls && ending < Ending.Fulfilled)
            (end.Unsure, peer.Unsure) = (true, true);
        if (kind == 5)
            (end.Unsure, peer.Unsure) = (true, true);
    }

    private static bool IsBusy(EndModel end) =>
        !end.IsUsable || end.IsGone || end.Refusal != IpcStatus.Ok || end.Incoming.Count > 0 || end.Holding != EndModel.Held.Nothing || end.InFlight.Count > 0
            || end.Reserved >= 0;

    private static IpcStatus End(Steps steps, Connection connection, EndModel end, int kind, Ending ending, int seed, out Frame? sent)
    {
        var peer = end.Peer;
        sent = null;
        switch (ending)
        {
            case Ending.Close or Ending.CloseAndTheWokenDisposes:
                end.Channel.Close();
                return IpcStatus.Closed;
            case Ending.Dispose:
                end.Channel.Dispose();
                return IpcStatus.Closed;
            case Ending.PeerCloses:
                peer.Channel.Close();
                peer.Closed = true;
                break;
            case Ending.PeerDisposes:
                peer.Channel.Dispose();
                peer.Closed = true;
                break;
            case Ending.PeerIsKilled:
                connection.KillClient();
                break;
            default:
                sent = Fulfil(steps, end, kind, seed);
                return IpcStatus.Ok;
        }
        return kind == 5 ? IpcStatus.Ok : IpcStatus.PeerClosed; // Serve: the client has all it wanted
    }

    private static Frame? Fulfil(Steps steps, EndModel end, int kind, int seed)
    {
        var peer = end.Peer;
        var reply = new byte[2000];
        switch (kind)
        {
            case 2:
                var request = new Frame(FrameKind.Request, ++peer.CallId, 300, seed);
                steps.Timely(1, () => peer.Channel.Call(request.Bytes, reply, 1), IpcStatus.TimedOut);
                peer.Push(request);
                (end.Holding, end.InPlace) = (EndModel.Held.Request, request);
                return request;
            case 3:
                var answer = new Frame(FrameKind.Reply, end.CallId, 1000, seed + 1);
                steps.Timely(2000, () => _ = peer.Channel.ReceiveRequest(2000), IpcStatus.Ok);
                steps.Timely(0, () => peer.Channel.Reply(answer.Bytes, 0), IpcStatus.Ok);
                peer.Incoming.Clear();
                return answer;
            case 5:
                var asked = Pair.Bytes(500, seed);
                steps.Timely(2000, () => peer.Channel.Call(asked, reply, 2000), IpcStatus.Ok);
                if (!reply.AsSpan(0, 500).SequenceEqual(asked))
                    steps.Wrong("the handler's reply is not what it wrote");
                peer.Channel.Close();
                peer.Closed = true;
                return null;
            default:
                var message = new Frame(FrameKind.Message, 0, 1500, seed);
                steps.Timely(2000, () => peer.Channel.Send(message.Bytes, 2000), IpcStatus.Ok);
                if (kind == 1)
                {
                    peer.Push(message);
                    (end.Holding, end.InPlace) = (EndModel.Held.Message, message);
                }
                return message;
        }
    }

    // The reply did not fit: it is kept.
    private static void Finish(Steps steps, EndModel end, IpcStatus status, Frame sent, ref IpcStatus expected)
    {
        expected = IpcStatus.BufferTooSmall;
        if (status != expected)
            return;
        end.Peer.Push(sent);
        end.Holding = EndModel.Held.KeptReply;
        steps.Timely(0, () => Subject.ReceiveReply(end.Channel, new byte[10], 0), IpcStatus.BufferTooSmall);
    }
}
