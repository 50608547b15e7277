namespace Ipc.Tests;

/// <summary>How channels and listeners end, on every transport.</summary>
public sealed class EndTests
{
    // The contract says 100 ms; a machine shared with other tests gets some more.
    private const int Soon = 600;

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void WhatWasSentBeforeTheEndArrives(string transport)
    {
        using var pair = new Pair(transport);
        var sending = Aside.Run(() =>
        {
            pair.Client.Send([1]);
            pair.Client.Send(new byte[2000]);
            pair.Client.Dispose();
        });
        Assert.Equal(1, pair.Server.Receive(new byte[10], Pair.Patience));
        Assert.Equal(2000, pair.Server.Receive(new byte[2000], Pair.Patience));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Server.Receive(new byte[10], Pair.Patience)));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Server.Receive(new byte[10], Pair.Patience)));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Server.Send(new byte[10], Pair.Patience)));
        sending.Join();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void SendingToAPeerThatClosedFails(string transport)
    {
        using var pair = new Pair(transport);
        pair.Client.Close();
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() =>
        {
            // A socket may take one message before it learns.
            for (var i = 0; i < 10; i++)
                pair.Server.Send(new byte[10], Pair.Patience);
        }));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ClosingInterruptsABlockedReceive(string transport)
    {
        foreach (var timeout in new[] { Timeout.Infinite, 60_000 })
        {
            using var pair = new Pair(transport);
            var receiving = Aside.Run(() => Pair.StatusOf(() => pair.Server.Receive(new byte[10], timeout)));
            receiving.UntilItWaits();
            var start = Environment.TickCount64;
            pair.Server.Close();
            Assert.Equal(IpcStatus.Closed, receiving.Join());
            Assert.InRange(Environment.TickCount64 - start, 0, Soon);
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.Send([])));
            Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Client.Receive(new byte[10], Pair.Patience)));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ClosingInterruptsABlockedSend(string transport)
    {
        foreach (var timeout in new[] { Timeout.Infinite, 60_000 })
        {
            using var pair = new Pair(transport);
            var sending = Aside.Run(() => Pair.StatusOf(() =>
            {
                while (true)
                    pair.Client.Send(new byte[1_000_000], timeout);
            }));
            sending.UntilItWaits();
            var start = Environment.TickCount64;
            pair.Client.Close();
            Assert.Equal(IpcStatus.Closed, sending.Join());
            Assert.InRange(Environment.TickCount64 - start, 0, Soon);
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void APeerThatClosesInterruptsABlockedSend(string transport)
    {
        using var pair = new Pair(transport);
        var sending = Aside.Run(() => Pair.StatusOf(() =>
        {
            while (true)
                pair.Client.Send(new byte[1_000_000], Pair.Patience);
        }));
        sending.UntilItWaits();
        pair.Server.Close();
        Assert.Equal(IpcStatus.PeerClosed, sending.Join());
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ASendThatTimesOutBreaksTheChannelOnlyHalfWay(string transport)
    {
        using var pair = new Pair(transport);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() =>
        {
            while (true)
                pair.Client.Send(new byte[1_000_000], 50);
        }));
        // Half-way or not, the other side gets whole messages and then either a further one or an end.
        var buffer = new byte[1_000_000];
        var end = IpcStatus.Ok;
        while (end == IpcStatus.Ok)
        {
            try
            {
                Assert.Equal(buffer.Length, pair.Server.Receive(buffer, 100));
            }
            catch (IpcException e)
            {
                end = e.Status;
            }
        }
        Assert.Contains(end, new[] { IpcStatus.TimedOut, IpcStatus.Truncated });
        if (end == IpcStatus.TimedOut)
            pair.Client.Send([1], Pair.Patience);
        else
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Send([1], Pair.Patience)));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ClosingAListenerInterruptsAcceptAndFreesTheName(string transport)
    {
        var address = Pair.NewAddress(transport);
        for (var round = 0; round < 2; round++)
        {
            using var listener = ManagedIpc.Listen(address);
            if (!transport.StartsWith("tcp", StringComparison.Ordinal))
                Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(address).Dispose()));
            Aside<IpcStatus>[] accepting = [Accepting(listener, Timeout.Infinite), Accepting(listener, 60_000)];
            foreach (var accept in accepting)
                accept.UntilItWaits();
            listener.Close();
            foreach (var accept in accepting)
                Assert.Equal(IpcStatus.Closed, accept.Join());
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => listener.Accept()));
            Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Connect(listener.Address).Dispose()));
        }
    }

    private static Aside<IpcStatus> Accepting(IpcListener listener, int timeout) => Aside.Run(() => Pair.StatusOf(() => listener.Accept(timeout)));

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void ManyClientsConnectAtOnce(string transport)
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        const int Clients = 12;
        var serving = Enumerable.Range(0, Clients).Select(_ => Aside.Run(() =>
        {
            using var channel = listener.Accept(Pair.Patience);
            channel.Serve((request, reply) => request.CopyTo(reply.Reserve(request.Length)));
        })).ToArray();
        var calling = Enumerable.Range(0, Clients).Select(i => Aside.Run(() =>
        {
            using var channel = ManagedIpc.Connect(listener.Address, Pair.Patience);
            var reply = new byte[100];
            for (var n = 0; n < 20; n++)
            {
                Assert.Equal(40, channel.Call(Pair.Bytes(40, i), reply, Pair.Patience));
                Assert.True(reply.AsSpan(0, 40).SequenceEqual(Pair.Bytes(40, i)));
            }
        })).ToArray();
        foreach (var work in serving.Concat(calling))
            work.Join();
    }
}
