using System.Diagnostics;

namespace Ipc.Tests;

/// <summary>Peers that stop half-way or die, and callers that wait for a bounded time or not at all.</summary>
public sealed class DeadlineTests
{
    private const int Timeout = 50;
    private const int Whole = 200_000;
    private const int Part = 32 * 1024;

    // No call outlasts its time-out by more than 20 ms; a machine shared with other tests gets some more.
    private const int Grace = 400;

    public static TheoryData<string> Stopping => ["unix", "shm"];

    /// <summary>A client whose server sends the first part of a frame and no more.</summary>
    private sealed class Stopper : IDisposable
    {
        private readonly RawPeer? _raw;
        private readonly SharedMemoryEnds? _ends;

        public Channel Client { get; }

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
            var writer = new ShmRingWriter(_ends!.ServerLink);
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
    public void AReplyThatStopsHalfWayHoldsNobody(string transport)
    {
        using var stopper = new Stopper(transport);
        var client = stopper.Client;
        stopper.SendPart(FrameKind.Reply, 1);
        Assert.Equal(Status.BufferTooSmall, Timely(() => client.Call([1], new byte[10], Timeout)));
        Assert.Equal(Status.TimedOut, Timely(() => client.ReceiveReply(new byte[Whole], Timeout)));
        Assert.Equal(Status.TimedOut, Timely(() => client.ReceiveReply(new byte[Whole], 0)));
        // The next call drops the kept one, whose rest still does not come.
        Assert.Equal(Status.TimedOut, Timely(() => client.Call([1], new byte[10], Timeout)));
        Assert.Equal(Status.TimedOut, Timely(() => client.CallInPlace([1], Timeout)));
        Assert.Equal(Status.WrongState, Timely(() => client.ReceiveReply(new byte[Whole], Timeout)));
    }

    [Theory]
    [MemberData(nameof(Stopping))]
    public void AMessageThatStopsHalfWayHoldsNobody(string transport)
    {
        using var stopper = new Stopper(transport);
        var client = stopper.Client;
        stopper.SendPart(FrameKind.Message, 0);
        Assert.Equal(Status.TimedOut, Timely(() => client.Receive(new byte[Whole], Timeout)));
        Assert.Equal(Status.TimedOut, Timely(() => client.Peek(Timeout)));
        Assert.Equal(Status.TimedOut, Timely(() => client.ReceiveBatch(new byte[Whole], new int[2], Timeout)));
        Assert.False(client.TryReceive(new byte[Whole], out _, Timeout));
        Assert.Equal(Status.NotOurProtocol, Timely(() => client.ReceiveRequest(Timeout)));
    }

    private static Status Timely(Action call)
    {
        var clock = Stopwatch.StartNew();
        var status = Pair.StatusOf(call);
        Assert.InRange(clock.ElapsedMilliseconds, 0, Timeout + Grace);
        return status;
    }

    private static Status Timely(Func<ReadOnlySpan<byte>> call) => Timely(() => { _ = call(); });

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
            Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, timeout)));
            ends.KillClient();
            var clock = Stopwatch.StartNew();
            Assert.Equal(Status.PeerClosed, Pair.StatusOf(() =>
            {
                while (!ends.Server.TryReceive(buffer, out _, timeout))
                    Assert.InRange(clock.ElapsedMilliseconds, 0, 2000);
            }));
            Assert.Equal(Status.PeerClosed, Pair.StatusOf(() => ends.Server.Receive(buffer, timeout)));
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void WhoOnlyPollsToSendLearnsItToo(bool rings)
    {
        using var ends = new SharedMemoryEnds(rings);
        var message = new byte[20_000];
        Assert.Equal(Status.TimedOut, Pair.StatusOf(() =>
        {
            while (true)
                ends.Server.Send(message, 0);
        }));
        ends.KillClient();
        var clock = Stopwatch.StartNew();
        Pair.Until(() => Pair.StatusOf(() => ends.Server.Send(message, 0)) == Status.PeerClosed);
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
        Assert.Equal(Status.BufferTooSmall, Pair.StatusOf(() => Pair.Until(() => pair.Server.TryReceive([], out _))));
        pair.Client.Dispose();
        Assert.True(pair.Server.TryReceive(buffer, out length));
        Assert.Equal(Status.PeerClosed, Pair.StatusOf(() => Pair.Until(() => pair.Server.TryReceive(buffer, out _))));
        pair.Server.Close();
        Assert.Equal(Status.Closed, Pair.StatusOf(() => pair.Server.TryReceive(buffer, out _)));
    }

    [Fact]
    public void GarbageIsToldFromItsFirstByte()
    {
        foreach (var garbage in new byte[][] { [0x47], [0x49, 0x50, 0x43], [0x49, 0x50, 0x43, 0x32], [0x49, 0x49] })
        {
            using var peer = new RawPeer();
            peer.Socket.Send(garbage);
            var sendsOurs = garbage.AsSpan().SequenceEqual("IPC"u8);
            Assert.Equal(sendsOurs ? Status.TimedOut : Status.NotOurProtocol, Pair.StatusOf(() => peer.Channel.Receive([], Timeout)));
            if (!sendsOurs)
                Assert.Equal(Status.NotOurProtocol, Pair.StatusOf(() => peer.Channel.Send([])));
        }
    }
}
