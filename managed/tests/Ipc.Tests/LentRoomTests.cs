namespace Ipc.Tests;

/// <summary>Reserved room: one answer on all transports to whatever comes between Reserve and Commit.</summary>
public sealed class LentRoomTests
{
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void NothingElseIsSentMeanwhile(string transport)
    {
        foreach (var size in new[] { 10, 5000, 300_000 })
        {
            using var pair = new Pair(transport);
            var client = pair.Client;
            var room = client.Reserve(size, Pair.Patience);
            foreach (var send in new Action[]
            {
                () => client.Send([1], 0), () => client.SendBatch([1, 2], [1, 1], 0), () => client.Call([1], [], 0), () => _ = client.CallInPlace([1], 0),
            })
            {
                var failure = Assert.Throws<IpcException>(send);
                Assert.Equal(IpcStatus.WrongState, failure.Status);
                Assert.Contains("Cancel", failure.Message, StringComparison.Ordinal);
            }
            // Receiving is the other half's.
            pair.Server.Send([9]);
            Assert.Equal(1, client.Receive(new byte[10], Pair.Patience));
            Pair.Bytes(size).CopyTo(room);
            var committing = Aside.Run(() => client.Commit(size, Pair.Patience));
            var received = new byte[size];
            Assert.Equal(size, pair.Server.Receive(received, Pair.Patience));
            Assert.True(received.AsSpan().SequenceEqual(Pair.Bytes(size)));
            committing.Join();
            Assert.False(pair.Server.TryReceive(received, out _));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void CancelGivesItBackUnsent(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[10];
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Client.Cancel));
        for (byte i = 0; i < 100; i++)
        {
            pair.Client.Reserve(i % 3 == 0 ? 10 : 3000 * i, Pair.Patience).Fill(0xFF);
            pair.Client.Cancel();
            Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Client.Cancel));
            Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => pair.Client.Commit(10)));
            pair.Client.Send([i]);
            Assert.Equal(1, pair.Server.Receive(buffer, Pair.Patience));
            Assert.Equal(i, buffer[0]);
        }
        Assert.False(pair.Server.TryReceive(buffer, out _));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void AReplysRoomIsAReplys(string transport)
    {
        using var pair = new Pair(transport);
        var calling = Aside.Run(() =>
        {
            var reply = new byte[10];
            Assert.Equal(1, pair.Client.Call([1], reply, Pair.Patience));
            return reply[0];
        });
        var server = pair.Server;
        Assert.Equal(1, server.ReceiveRequest(Pair.Patience).Length);
        server.Reserve(10, Pair.Patience);
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => server.CommitReply(1)));
        server.Cancel();
        server.ReserveReply(10, Pair.Patience)[0] = 77;
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => server.Commit(1)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => server.Reply([1])));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => server.FailRequest("no")));
        server.CommitReply(1, Pair.Patience);
        Assert.Equal(77, calling.Join());
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ATimedOutCommitKeepsTheRoom(string transport)
    {
        // A room longer than what the transport can lend in place waits, at its commit, for the reader.
        using var pair = new Pair(transport, transport.StartsWith("shm?", StringComparison.Ordinal) ? "size=64k" : "");
        var filler = new byte[30_000];
        while (TrySend(pair.Client, filler))
        {
        }
        Span<byte> room;
        try
        {
            room = pair.Client.Reserve(200_000, 0);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            return; // this transport lends in place only, and says so here
        }
        Pair.Bytes(200_000).CopyTo(room);
        try
        {
            pair.Client.Commit(200_000, 0);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            // Nothing went, or some: then the channel is broken and repeats it.
        }
        try
        {
            pair.Client.Send([1], 0);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Commit(200_000, 0)));
            return;
        }
        catch (IpcException e) when (e.Status == IpcStatus.WrongState)
        {
            var committing = Aside.Run(() => pair.Client.Commit(200_000, Pair.Patience));
            while (pair.Server.Receive(filler = new byte[200_000], Pair.Patience) != 200_000)
            {
            }
            Assert.True(filler.AsSpan().SequenceEqual(Pair.Bytes(200_000)));
            committing.Join();
        }
    }

    // What lends room or ends it.
    private static readonly (string Name, Action<IpcChannel> Run)[] s_roomCalls =
    [
        (nameof(IpcChannel.Commit), channel => channel.Commit(4, Pair.Patience)),
        (nameof(IpcChannel.CommitReply), channel => channel.CommitReply(4, Pair.Patience)),
        (nameof(IpcChannel.Reserve), channel => channel.Reserve(4, Pair.Patience)),
        (nameof(IpcChannel.ReserveReply), channel => channel.ReserveReply(4, Pair.Patience)),
    ];

    // Whichever thread was faster, the one that closed or the one that committed: there is no room after a commit that failed.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void AClosedChannelTakesTheRoomBack(string transport)
    {
        foreach (var (name, run) in s_roomCalls)
        {
            using var pair = new Pair(transport);
            pair.Client.Reserve(8, Pair.Patience);
            pair.Server.Reserve(8, Pair.Patience);
            pair.Client.Close();
            pair.Server.Close();
            Assert.Equal((name, IpcStatus.Closed), (name, Pair.StatusOf(() => run(pair.Client))));
            Assert.Equal((name, IpcStatus.WrongState), (name, Pair.StatusOf(pair.Client.Cancel)));
            // Nothing else does.
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.Send([1])));
            pair.Server.Cancel();
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ABrokenChannelTakesTheRoomBack(string transport)
    {
        foreach (var (name, run) in s_roomCalls)
        {
            using var pair = new Pair(transport);
            pair.Server.Reserve(8, Pair.Patience);
            pair.Client.Send([1]);
            Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => pair.Server.ReceiveRequest(Pair.Patience)));
            Assert.Equal((name, IpcStatus.NotOurProtocol), (name, Pair.StatusOf(() => run(pair.Server))));
            Assert.Equal((name, IpcStatus.WrongState), (name, Pair.StatusOf(pair.Server.Cancel)));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void RoomThatIsNotToBeHadReplacesTheFirstToo(string transport)
    {
        using var pair = new Pair(transport);
        pair.Client.Reserve(8, Pair.Patience);
        Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => pair.Client.Reserve(pair.Client.MaxMessageLength + 1, Pair.Patience)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Client.Cancel));
    }

    private static bool TrySend(IpcChannel channel, byte[] message)
    {
        try
        {
            channel.Send(message, 0);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            return false;
        }
    }
}
