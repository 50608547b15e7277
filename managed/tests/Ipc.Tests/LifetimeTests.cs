namespace Ipc.Tests;

/// <summary>Close, Dispose and calls from any threads in any order. IPC_STRESS_ROUNDS says how often (100); by hand 100000 and more.</summary>
public sealed class LifetimeTests
{
    private static readonly int s_rounds = int.TryParse(Environment.GetEnvironmentVariable("IPC_STRESS_ROUNDS"), out var rounds) ? rounds : 100;

    private static readonly Dictionary<string, Action<IpcChannel>> s_blocking = new()
    {
        ["receive"] = channel => channel.Receive(new byte[10]),
        ["peek"] = channel => _ = channel.Peek(),
        ["call"] = channel => channel.Call([1], new byte[10]),
        ["request"] = channel => _ = channel.ReceiveRequest(),
        ["serve"] = channel => channel.Serve((_, _) => { }),
        ["send"] = channel =>
        {
            while (true)
                channel.Send(new byte[100_000]);
        },
    };

    public static TheoryData<string, string> TransportsAndCalls
    {
        get
        {
            var all = new TheoryData<string, string>();
            foreach (string transport in Pair.Transports.AsEnumerable<object[]>().Select(row => (string)row[0]))
            {
                foreach (var call in s_blocking.Keys)
                    all.Add(transport, call);
            }
            return all;
        }
    }

    // The documented way to cancel: one thread closes, and the one it wakes disposes.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void OneClosesAndTheOneItWakesDisposes(string transport)
    {
        using var connections = new Connections(transport);
        using var receiving = new Companion();
        for (var round = 0; round < s_rounds; round++)
        {
            var (server, client) = connections.Next();
            receiving.Begin(() =>
            {
                try
                {
                    server.Receive(new byte[10]);
                }
                finally
                {
                    server.Dispose();
                }
            });
            Dawdle(round);
            server.Close();
            Assert.Equal(IpcStatus.Closed, receiving.EndWithStatus(3 * Pair.Patience));
            client.Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(TransportsAndCalls))]
    public void DisposeEndsABlockedCall(string transport, string call)
    {
        using var connections = new Connections(transport);
        using var blocked = new Companion();
        for (var round = 0; round < s_rounds / 10; round++)
        {
            var (server, client) = connections.Next();
            if (round == 0)
            {
                var waiting = Aside.Run(() => Pair.StatusOf(() => s_blocking[call](client)));
                waiting.UntilItWaits();
                client.Dispose();
                Assert.Equal(IpcStatus.Closed, waiting.Join());
            }
            else
            {
                blocked.Begin(() => s_blocking[call](client));
                Dawdle(round);
                client.Dispose();
                Assert.Equal(IpcStatus.Closed, blocked.EndWithStatus(3 * Pair.Patience));
            }
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => s_blocking[call](client)));
            server.Dispose();
        }
    }

    // Three threads dispose and close while two are inside.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void AllAtOnce(string transport)
    {
        using var connections = new Connections(transport);
        for (var round = 0; round < s_rounds / 2; round++)
        {
            var (server, client) = connections.Next();
            using var start = new Barrier(5);
            Aside<bool>[] all =
            [
                Aside.Run(() => { start.SignalAndWait(); Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => client.Receive(new byte[10]))); }),
                Aside.Run(() => { start.SignalAndWait(); Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => s_blocking["send"](client))); }),
                Aside.Run(() => { start.SignalAndWait(); client.Close(); }),
                Aside.Run(() => { start.SignalAndWait(); client.Dispose(); }),
                Aside.Run(() => { start.SignalAndWait(); Dawdle(round); client.Dispose(); client.Close(); }),
            ];
            foreach (var one in all)
                one.Join();
            server.Dispose();
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void WhatWasLentIsGivenBackAfterDispose(string transport)
    {
        foreach (var size in new[] { 10, 1000, 100_000, 300_000 })
        {
            using var pair = new Pair(transport);
            var sending = Aside.Run(() => pair.Client.Send(Pair.Bytes(size)));
            pair.Server.Peek(Pair.Patience);
            sending.Join();
            pair.Server.Reserve(size, Pair.Patience);
            pair.Server.Dispose();
            pair.Server.Release();
            Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Server.Release));
            pair.Server.Cancel();
            Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(pair.Server.Cancel));
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.Commit(size)));
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => pair.Server.Receive([], 0)));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void AHandlerMayDisposeItsOwnChannel(string transport)
    {
        foreach (var throws in new[] { false, true })
        {
            using var pair = new Pair(transport);
            var (answered, told) = (0, 0);
            var serving = Aside.Run(() => Pair.StatusOf(() => pair.Server.Serve((request, reply) =>
            {
                answered += request.Length;
                pair.Server.Dispose();
                answered += request[^1]; // still there
                if (throws)
                    throw new InvalidOperationException("of the handler");
            }, _ => told++)));
            Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Client.Call([1, 2, 7], new byte[10], Pair.Patience)));
            Assert.Equal(IpcStatus.Closed, serving.Join());
            Assert.Equal(10, answered);
            Assert.Equal(throws ? 1 : 0, told);
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void DisposeWaitsForAHandler(string transport)
    {
        using var pair = new Pair(transport);
        using var inside = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        var sum = 0;
        var serving = Aside.Run(() => Pair.StatusOf(() => pair.Server.Serve((request, _) =>
        {
            inside.Set();
            goOn.Wait();
            foreach (var one in request)
                sum += one;
        })));
        var calling = Aside.Run(() => Pair.StatusOf(() => pair.Client.Call([1, 2, 7], new byte[10], Pair.Patience)));
        inside.Wait();
        var disposing = Aside.Run(pair.Server.Dispose);
        disposing.UntilItWaits();
        goOn.Set();
        disposing.Join();
        Assert.Equal(10, sum);
        Assert.Equal(IpcStatus.Closed, serving.Join());
        Assert.Equal(IpcStatus.PeerClosed, calling.Join());
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void WhatAHandlerThrowsIsTold(string transport)
    {
        using var pair = new Pair(transport);
        var told = new List<string>();
        var serving = Aside.Run(() => pair.Server.Serve((request, reply) =>
        {
            reply.Reserve(5000);
            throw new InvalidOperationException($"no {request[0]}");
        }, e => told.Add(e.Message)));
        for (byte i = 1; i < 4; i++)
        {
            var failure = Assert.Throws<IpcException>(() => pair.Client.Call([i], new byte[10], Pair.Patience));
            Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
            Assert.Contains($"no {i}", failure.Message, StringComparison.Ordinal);
        }
        pair.Client.Dispose();
        serving.Join();
        Assert.Equal(["no 1", "no 2", "no 3"], told);
    }

    public static TheoryData<string> Queues =>
        ["queue://{0}?size=64k&wait=block", "queue://{0}?size=64k&wait=spin", "ring://{0}?blocks=2&wait=block", "ring://{0}?blocks=2&wait=spin&order=lifo"];

    [Theory]
    [MemberData(nameof(Queues))]
    public void DisposeEndsEverybodyInAQueue(string address)
    {
        using var name = new QueueName();
        for (var round = 0; round < s_rounds / 2; round++)
        {
            var queue = ManagedIpc.OpenQueue(string.Format(System.Globalization.CultureInfo.InvariantCulture, address, name.Name), Pair.Patience);
            var buffer = new byte[100];
            Aside<IpcStatus>[] all =
            [
                Aside.Run(() => Pair.StatusOf(() => { while (true) queue.Enqueue(buffer); })),
                Aside.Run(() => Pair.StatusOf(() => { while (true) queue.Dequeue(new byte[100]); })),
                Aside.Run(() => Pair.StatusOf(() => { while (true) queue.Dequeue(new byte[100]); })),
                Aside.Run(() => Pair.StatusOf(() => { queue.Close(); queue.Dispose(); queue.Enqueue(buffer); })),
            ];
            Dawdle(round);
            queue.Dispose();
            foreach (var one in all)
                Assert.Equal(IpcStatus.Closed, one.Join());
        }
    }

    [Fact]
    public void DisposeEndsBothSidesOfABroadcast()
    {
        foreach (var wait in new[] { "block", "spin" })
        {
            for (var round = 0; round < s_rounds / 4; round++)
            {
                var address = $"broadcast://test-{Guid.NewGuid():N}?size=64k&wait={wait}";
                var publisher = ManagedIpc.Publish(address);
                var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
                var idle = ManagedIpc.Subscribe(address, Pair.Patience);
                var publishing = Aside.Run(() => Pair.StatusOf(() => { while (true) publisher.Publish(new byte[1000]); }));
                var receiving = Aside.Run(() => Pair.StatusOf(() => { while (true) subscriber.Receive(new byte[1000], out _); }));
                Dawdle(round);
                var closing = Aside.Run(() => { subscriber.Close(); publisher.Close(); });
                subscriber.Dispose();
                publisher.Dispose();
                closing.Join();
                Assert.Equal(IpcStatus.Closed, publishing.Join());
                Assert.Equal(IpcStatus.Closed, receiving.Join());
                idle.Dispose();
            }
        }
    }

    // Sometimes the other threads are on their way in, sometimes inside, sometimes asleep.
    private static void Dawdle(int round)
    {
        if (round % 10 == 9)
            Thread.Sleep(1);
        else
            Thread.SpinWait(round * 37 % 1000);
    }

    private sealed class Connections(string transport) : IDisposable
    {
        private readonly IpcListener _listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        private readonly Companion _connecting = new();

        public (IpcChannel Server, IpcChannel Client) Next()
        {
            IpcChannel? client = null;
            _connecting.Begin(() => client = ManagedIpc.Connect(_listener.Address, Pair.Patience));
            var server = _listener.Accept(Pair.Patience);
            _connecting.End(3 * Pair.Patience);
            return (server, client!);
        }

        public void Dispose()
        {
            _connecting.Dispose();
            _listener.Dispose();
        }
    }
}
