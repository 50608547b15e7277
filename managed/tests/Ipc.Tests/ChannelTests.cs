namespace Ipc.Tests;

/// <summary>What every transport must do with messages and calls.</summary>
public sealed class ChannelTests
{
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void MessagesKeepOrderAndBoundaries(string transport)
    {
        using var pair = new Pair(transport);
        int[] lengths = [0, 1, 47, 48, 49, 64, 1000, 4096, 65535, 65536, 65537, 200_000, 3_000_000, 0, 5];
        var sending = Aside.Run(() =>
        {
            foreach (var length in lengths)
                pair.Client.Send(Pair.Bytes(length, length), Pair.Patience);
        });
        var buffer = new byte[3_000_000];
        foreach (var length in lengths)
        {
            Assert.Equal(length, pair.Server.Receive(buffer, Pair.Patience));
            Assert.True(buffer.AsSpan(0, length).SequenceEqual(Pair.Bytes(length, length)), $"{length} bytes differ");
        }
        sending.Join();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void CallsAreAnsweredByTheirHandler(string transport)
    {
        using var pair = new Pair(transport);
        var serving = Aside.Run(() => pair.Server.Serve((request, reply) =>
        {
            if (request.Length == 3)
                throw new InvalidOperationException("three is no size");
            if (request.Length == 4)
                return;
            var room = reply.Reserve(request.Length * 2);
            request.CopyTo(room);
            request.CopyTo(room[request.Length..]);
        }));
        var reply = new byte[2_000_000];
        foreach (var length in new[] { 0, 1, 24, 25, 48, 100, 5000, 60_000, 200_000, 1_000_000 })
        {
            var request = Pair.Bytes(length);
            Assert.Equal(2 * length, pair.Client.Call(request, reply, Pair.Patience));
            Assert.True(reply.AsSpan(length, length).SequenceEqual(request));
            var inPlace = pair.Client.CallInPlace(request, Pair.Patience);
            Assert.True(inPlace[..length].SequenceEqual(request) && inPlace.Length == 2 * length);
            pair.Client.Release();
        }
        Assert.Equal(0, pair.Client.Call(new byte[4], reply, Pair.Patience));
        var failure = Assert.Throws<IpcException>(() => pair.Client.Call(new byte[3], reply, Pair.Patience));
        Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
        Assert.Contains("three is no size", failure.Message, StringComparison.Ordinal);
        Assert.Equal(2, pair.Client.Call(new byte[1], reply, Pair.Patience));
        pair.Client.Close();
        serving.Join();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void MessagesAreWrittenAndReadInPlace(string transport)
    {
        using var pair = new Pair(transport);
        foreach (var (reserved, used) in new[] { (10, 10), (1000, 1000), (1000, 20), (100_000, 100_000), (100_000, 50), (300_000, 300_000), (300_000, 7),
            (0, 0) })
        {
            var sending = Aside.Run(() =>
            {
                Pair.Bytes(used).CopyTo(pair.Client.Reserve(reserved, Pair.Patience));
                pair.Client.Commit(used, Pair.Patience);
            });
            Assert.True(pair.Server.Peek(Pair.Patience).SequenceEqual(Pair.Bytes(used)));
            Assert.Equal(used, pair.Server.Peek(Pair.Patience).Length);
            pair.Server.Release();
            sending.Join();
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ReservedRoomsOfAllSizesCrossTheEndOfTheRing(string transport)
    {
        using var pair = new Pair(transport);
        var random = new Random(7);
        for (var i = 0; i < 300; i++)
        {
            var reserved = random.Next(40_000);
            var used = random.Next(3) == 0 ? reserved : random.Next(reserved + 1);
            Pair.Bytes(used, i).CopyTo(pair.Client.Reserve(reserved, Pair.Patience));
            var sending = Aside.Run(() => pair.Client.Commit(used, Pair.Patience));
            Assert.True(pair.Server.Peek(Pair.Patience).SequenceEqual(Pair.Bytes(used, i)));
            pair.Server.Release();
            sending.Join();
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ATimeOutLosesNothing(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[10];
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Server.Receive(buffer, 0)));
        var start = Environment.TickCount64;
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Server.Receive(buffer, 60)));
        Assert.InRange(Environment.TickCount64 - start, 50, 2000);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Listener.Accept(0)));
        pair.Client.Send([1, 2, 3]);
        Assert.Equal(3, pair.Server.Receive(buffer, Pair.Patience));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ALateReplyIsDropped(string transport)
    {
        using var pair = new Pair(transport);
        var reply = new byte[200_000];
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Call([1], reply, 20)));
        Assert.Equal(1, pair.Server.ReceiveRequest(Pair.Patience)[0]);
        var answering = Aside.Run(() =>
        {
            pair.Server.Reply(Pair.Bytes(150_000), Pair.Patience);
            Assert.Equal(2, pair.Server.ReceiveRequest(Pair.Patience)[0]);
            pair.Server.Reply([22], Pair.Patience);
        });
        Assert.Equal(1, pair.Client.Call([2], reply, Pair.Patience));
        Assert.Equal(22, reply[0]);
        answering.Join();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ABufferTooSmallKeepsTheMessage(string transport)
    {
        using var pair = new Pair(transport);
        pair.Client.Send([1, 2, 3]);
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => pair.Server.Receive(new byte[2], Pair.Patience)));
        Assert.Equal(3, pair.Server.Receive(new byte[3], Pair.Patience));
        var serving = Aside.Run(() =>
        {
            for (var i = 0; i < 3; i++)
            {
                pair.Server.ReceiveRequest(Pair.Patience);
                pair.Server.Reply([4, 5, (byte)i], Pair.Patience);
            }
        });
        var reply = new byte[3];
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => pair.Client.Call([], new byte[2], Pair.Patience)));
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => pair.Client.ReceiveReply(new byte[2])));
        Assert.Equal(3, pair.Client.ReceiveReply(reply));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => pair.Client.ReceiveReply(reply)));
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => pair.Client.Call([], [], Pair.Patience)));
        Assert.Equal(3, pair.Client.Call([], reply, Pair.Patience));
        Assert.Equal(2, reply[2]);
        serving.Join();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void TheOrderOfUseIsChecked(string transport)
    {
        using var pair = new Pair(transport, "max=1k");
        var client = pair.Client;
        Assert.Equal(1024, client.MaxMessageLength);
        Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => client.Send(new byte[1025])));
        Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => client.Reserve(1025)));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => client.Reserve(-1)));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => client.Send([], -2)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => client.Commit(0)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(client.Release));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => client.Reply([])));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => client.ReserveReply(1)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => client.CommitReply(1)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => client.FailRequest("")));
        client.Reserve(10);
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => client.Commit(11)));
        client.Commit(10);
        pair.Server.Peek(Pair.Patience);
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => pair.Server.Receive(new byte[20])));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => pair.Server.Call([], [])));
        pair.Server.Release();
        client.Send([1]);
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => pair.Server.ReceiveRequest(Pair.Patience)));
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => pair.Server.ReceiveRequest(Pair.Patience)));
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => pair.Server.Send([1])));
    }

    /// <summary>Each end may call the other. A request that a closed channel keeps from being answered keeps nobody from being told of his own calls.</summary>
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ClosingWithARequestUnansweredEndsEachCallOnce(string transport)
    {
        using var pair = new Pair(transport);
        pair.Client.Submit([1], 0, Pair.Patience);
        Assert.Equal(1, pair.Server.ReceiveRequest(Pair.Patience).Length);
        pair.Server.Submit([2], 7, Pair.Patience);
        var buffer = new byte[16];
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => pair.Server.TryComplete(buffer, out _)));
        pair.Server.Close();
        Assert.True(pair.Server.TryComplete(buffer, out var completion));
        Assert.Equal((7ul, IpcStatus.Closed), (completion.Tag, completion.Outcome));
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.TryComplete(buffer, out _)));
    }
}
