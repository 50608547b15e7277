using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Ipc.Tests;

/// <summary>Peers that stop half-way or die, and callers that wait for a bounded time or not at all.</summary>
public sealed class DeadlineTests
{
    private const int Timeout = 50;
    private const int Whole = 200_000;
    private const int Part = 32 * 1024;

    // No call outlasts its time-out by more than this.
    private const int Grace = 20;

    // The compiler, the collector and other programs can make any one call late; they do not make the same one late so often.
    private const int Tries = 8;

    // Does not fit on the way; over shm-event everything fits, and is copied at one go.
    private const int Much = 32 << 20, MuchInOneBlock = 1 << 20;

    public static TheoryData<string> Stopping => ["unix", "shm"];

    /// <summary>A client whose server sends the first part of a frame and no more.</summary>
    private sealed class Stopper : IDisposable
    {
        private readonly RawPeer? _raw;
        private readonly SharedMemoryEnds? _ends;

        public IpcChannel Client { get; }

        public Stopper(string transport)
        {
            if (transport == "unix")
                Client = (_raw = new RawPeer()).Channel;
            else
                Client = (_ends = new SharedMemoryEnds(true)).Client;
        }

        public void SendPart(FrameKind kind, uint id)
        {
            if (_raw is not null)
            {
                _raw.Socket.Send(RawPeer.Frame((uint)kind, id, new byte[Part], length: Whole));
                return;
            }
            var writer = new ShmRingWriter(_ends!.ServerSegment);
            Assert.Equal(WaitResult.Ready, writer.WaitForData(Part, new Deadline(Timeout)));
            writer.PutTotal(Whole);
            writer.PublishInData((uint)kind | ShmRingMemory.More, id, Part);
        }

        public void Dispose()
        {
            _raw?.Dispose();
            _ends?.Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(Stopping))]
    public void AReplyThatStopsHalfWayHoldsNobody(string transport) => InTime(timely =>
    {
        using var stopper = new Stopper(transport);
        var client = stopper.Client;
        stopper.SendPart(FrameKind.Reply, 1);
        Assert.Equal(IpcStatus.BufferTooSmall, timely(Timeout, time => client.Call([1], new byte[10], time)));
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.ReceiveReply(new byte[Whole], time)));
        Assert.Equal(IpcStatus.TimedOut, timely(0, time => client.ReceiveReply(new byte[Whole], time)));
        // The next call drops the kept one, whose rest still does not come.
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.Call([1], new byte[10], time)));
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => _ = client.CallInPlace([1], time)));
        Assert.Equal(IpcStatus.WrongState, timely(Timeout, time => client.ReceiveReply(new byte[Whole], time)));
    });

    [Theory]
    [MemberData(nameof(Stopping))]
    public void AMessageThatStopsHalfWayHoldsNobody(string transport) => InTime(timely =>
    {
        using var stopper = new Stopper(transport);
        var client = stopper.Client;
        stopper.SendPart(FrameKind.Message, 0);
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.Receive(new byte[Whole], time)));
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => _ = client.Peek(time)));
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.ReceiveBatch(new byte[Whole], new int[2], time)));
        Assert.Equal(IpcStatus.Ok, timely(Timeout, time => Assert.False(client.TryReceive(new byte[Whole], out _, time))));
        Assert.Equal(IpcStatus.NotOurProtocol, timely(Timeout, time => _ = client.ReceiveRequest(time)));
    });

    [Theory]
    [MemberData(nameof(Stopping))]
    public void AReplyToACallInFlightThatStopsHalfWayHoldsNobody(string transport) => InTime(timely =>
    {
        using var stopper = new Stopper(transport);
        var client = stopper.Client;
        client.Submit([1], 7, Timeout);
        stopper.SendPart(FrameKind.Reply, 1);
        Assert.Equal(IpcStatus.Ok, timely(Timeout, time => Assert.Equal(IpcStatus.BufferTooSmall, client.Complete(new byte[10], time).Outcome)));
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.Complete(new byte[Whole], time)));
        Assert.Equal(IpcStatus.Ok, timely(Timeout, time => Assert.False(client.TryComplete(new byte[Whole], out _, time))));
        // Nobody receives what is submitted, either.
        Assert.Equal(IpcStatus.TimedOut, timely(Timeout, time => client.Submit(new byte[Much], 8, time)));
    });

    // A peer that does nothing, whatever is waited for or sent.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void APeerThatDoesNothingHoldsNobody(string transport)
    {
        var inOneBlock = transport.StartsWith("shm-event", StringComparison.Ordinal);
        var much = new byte[inOneBlock ? MuchInOneBlock : Much];
        var text = new string('t', Math.Min(much.Length, 4 << 20)); // it is encoded first, which takes its time
        foreach (var timeout in new[] { 0, Timeout })
        {
            InTime(timely =>
            {
                using var pair = new Pair(transport);
                var (client, server) = (pair.Client, pair.Server);
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => server.Receive(new byte[10], time)));
                Assert.Equal(IpcStatus.Ok, timely(timeout, time => Assert.False(server.TryReceive(new byte[10], out _, time))));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => server.ReceiveBatch(new byte[10], new int[2], time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => _ = server.Peek(time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => _ = server.ReceiveRequest(time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => client.Call([1], new byte[10], time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => _ = client.CallInPlace([1], time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => client.Complete(new byte[10], time)));
                WhollyOrNot(timely(timeout, time => client.Submit([1], 7, time)));
                Assert.Equal(IpcStatus.TimedOut, timely(timeout, time => client.Complete(new byte[10], time)));
                Assert.Equal(IpcStatus.Ok, timely(timeout, time => Assert.False(client.TryComplete(new byte[10], out _, time))));
            });
            foreach (var send in new Action<IpcChannel, int>[]
            {
                (channel, time) => channel.Send(much, time),
                (channel, time) => channel.SendBatch(much, [much.Length / 2, much.Length / 2], time),
                (channel, time) => channel.Call(much, [], time),
                (channel, time) => _ = channel.CallInPlace(much, time),
                (channel, time) => channel.Submit(much, 7, time),
            })
            {
                InTime(timely =>
                {
                    using var pair = new Pair(transport);
                    WhollyOrNot(timely(timeout, time => send(pair.Client, time)));
                });
            }
            InTime(timely =>
            {
                using var pair = new Pair(transport);
                var room = pair.Client.Reserve(inOneBlock ? much.Length : 1 << 20, 0);
                room.Fill(1);
                WhollyOrNot(timely(timeout, time => pair.Client.Commit(1000, time)));
            });
            foreach (var answer in new Action<IpcChannel, int>[]
            {
                (channel, time) => channel.Reply(much, time),
                (channel, time) => channel.FailRequest(text, time),
                (channel, time) => channel.ReplyDeferred(channel.DeferRequest(), much, time),
                (channel, time) => channel.FailDeferred(channel.DeferRequest(), text, time),
            })
            {
                InTime(timely =>
                {
                    using var pair = new Pair(transport);
                    Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Call([1], [], 0)));
                    pair.Server.ReceiveRequest(Pair.Patience);
                    WhollyOrNot(timely(timeout, time => answer(pair.Server, time)));
                });
            }
        }

        void WhollyOrNot(IpcStatus status) => Assert.True(status == IpcStatus.TimedOut || status == IpcStatus.Ok, $"{status}");
    }

    private delegate IpcStatus Timely(int timeout, Action<int> call, [CallerArgumentExpression(nameof(call))] string what = "");

    // Runs it, all anew, until each of its calls has once come back in time.
    private static void InTime(Action<Timely> calls)
    {
        List<(string What, long Over)>? least = null;
        for (var i = 0; i < Tries && least?.All(call => call.Over <= Grace) != true; i++)
        {
            var overs = new List<(string What, long Over)>();
            calls((timeout, call, what) =>
            {
                var start = OwnMilliseconds();
                var status = CallOrders.Steps.Outcome(() => call(timeout));
                overs.Add((what, OwnMilliseconds() - start - timeout));
                return status;
            });
            least = least is null ? overs : [.. least.Zip(overs, (one, other) => one.Over < other.Over ? one : other)];
        }
        Assert.All(least!, call => Assert.True(call.Over <= Grace, $"{call.What} outlasted its time-out by {call.Over} ms, over {Grace}"));
    }

    // Time, less what this thread has spent waiting for a processor.
    private static long OwnMilliseconds()
    {
        const string file = "/proc/thread-self/schedstat";
        var waited = File.Exists(file) ? long.Parse(File.ReadAllText(file).Split(' ')[1], CultureInfo.InvariantCulture) : 0;
        return (Stopwatch.GetTimestamp() * (1_000_000_000 / Stopwatch.Frequency) - waited) / 1_000_000;
    }

    [Theory]
    [InlineData(true, "block")]
    [InlineData(true, "spin")]
    [InlineData(false, "block")]
    [InlineData(false, "spin")]
    public void WhoOnlyPollsLearnsThatThePeerWasKilled(bool rings, string wait)
    {
        foreach (var timeout in new[] { 0, 1 })
        {
            using var ends = new SharedMemoryEnds(rings, wait: wait);
            var buffer = new byte[10];
            Assert.False(ends.Server.TryReceive(buffer, out _, timeout));
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, timeout)));
            ends.KillClient();
            var clock = Stopwatch.StartNew();
            Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() =>
            {
                while (!ends.Server.TryReceive(buffer, out _, timeout))
                    Assert.InRange(clock.ElapsedMilliseconds, 0, 2000);
            }));
            Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => ends.Server.Receive(buffer, timeout)));
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void WhoOnlyPollsToSendLearnsItToo(bool rings)
    {
        using var ends = new SharedMemoryEnds(rings);
        var message = new byte[20_000];
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() =>
        {
            while (true)
                ends.Server.Send(message, 0);
        }));
        ends.KillClient();
        var clock = Stopwatch.StartNew();
        Pair.Until(() => Pair.StatusOf(() => ends.Server.Send(message, 0)) == IpcStatus.PeerClosed);
        Assert.InRange(clock.ElapsedMilliseconds, 0, 2000);
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void TryReceiveSaysWhatReceiveDoes(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[300_000];
        Assert.False(pair.Server.TryReceive(buffer, out var length));
        Assert.False(pair.Server.TryReceive(buffer, out length, 1));
        foreach (var size in new[] { 0, 1, 5000, 300_000 })
        {
            var sending = Aside.Run(() => pair.Client.Send(Pair.Bytes(size)));
            Pair.Until(() => pair.Server.TryReceive(buffer, out length));
            Assert.True(buffer.AsSpan(0, length).SequenceEqual(Pair.Bytes(size)));
            sending.Join();
        }
        pair.Client.Send([1, 2]);
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => Pair.Until(() => pair.Server.TryReceive([], out _))));
        pair.Client.Dispose();
        Assert.True(pair.Server.TryReceive(buffer, out length));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => Pair.Until(() => pair.Server.TryReceive(buffer, out _))));
        pair.Server.Close();
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.TryReceive(buffer, out _)));
    }

    [Fact]
    public void GarbageIsToldFromItsFirstByte()
    {
        foreach (var garbage in new byte[][] { [0x47], [0x49, 0x50, 0x43], [0x49, 0x50, 0x43, 0x32], [0x49, 0x49] })
        {
            using var peer = new RawPeer();
            peer.Socket.Send(garbage);
            var sendsOurs = garbage.AsSpan().SequenceEqual("IPC"u8);
            Assert.Equal(sendsOurs ? IpcStatus.TimedOut : IpcStatus.NotOurProtocol, Pair.StatusOf(() => peer.Channel.Receive([], Timeout)));
            if (!sendsOurs)
                Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => peer.Channel.Send([])));
        }
    }
}
