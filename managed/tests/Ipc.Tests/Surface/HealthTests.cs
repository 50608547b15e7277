namespace Ipc.Tests;

public sealed class HealthTests
{
    public static TheoryData<string, bool> Transports => new()
    {
        { "unix", true }, { "pipe", true }, { "shm?wait=block", true }, { "shm-event?wait=block", true }, { "tcp", false }, { "fifo", false },
    };

    [Theory, MemberData(nameof(Transports))]
    public void AServerTellsWhoIsThereAndHowFarItIs(string transport, bool tellsProcess)
    {
        using var begun = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        var before = DateTimeOffset.UtcNow;
        using var server = new IpcServer(Pair.NewAddress(transport), (request, reply) =>
        {
            switch (request[0])
            {
                case 1: throw new InvalidOperationException("on purpose");
                case 2:
                    begun.Set();
                    goOn.Wait(Pair.Patience);
                    break;
            }
        });
        var empty = server.GetHealth();
        Assert.True(empty.IsListening);
        Assert.Empty(empty.Clients);
        Assert.Equal((0, 0, 0), (empty.ClientsAccepted, empty.CallsServed, empty.CallsFailed));
        Assert.InRange(empty.StartedAt, before, empty.TakenAt);

        using (var first = ManagedIpc.Connect(server.Address, Pair.Patience))
        {
            for (var i = 0; i < 3; i++)
                first.Call([0], [], Pair.Patience);
            Assert.Equal(IpcStatus.HandlerFailed, Pair.StatusOf(() => first.Call([1], [], Pair.Patience)));
            using var second = ManagedIpc.Connect(server.Address, Pair.Patience);
            // A reply is out a moment before it is counted.
            Pair.Until(() => server.GetHealth() is { Clients.Count: 2, CallsServed: 4 });
            var asked = Aside.Run(() => second.Call([2], [], Pair.Patience));
            Assert.True(begun.Wait(Pair.Patience));
            Pair.Until(() => server.GetHealth().LongestCallInProgress >= TimeSpan.FromMilliseconds(40));
            var health = server.GetHealth();
            Assert.Equal([1, 2], health.Clients.Select(client => client.Number));
            Assert.Equal([4, 0], health.Clients.Select(client => client.CallsServed));
            Assert.Equal([1, 0], health.Clients.Select(client => client.CallsFailed));
            Assert.Equal((2, 4, 1), (health.ClientsAccepted, health.CallsServed, health.CallsFailed));
            Assert.Null(health.Clients[0].CallInProgress);
            Assert.Equal(health.LongestCallInProgress, health.Clients[1].CallInProgress);
            Assert.All(health.Clients, client => Assert.Equal(tellsProcess ? Environment.ProcessId : null, client.ProcessId));
            Assert.All(health.Clients, client => Assert.InRange(client.ConnectedAt, health.StartedAt, health.TakenAt));
            goOn.Set();
            asked.Join();
        }
        // What they did stays counted.
        Pair.Until(() => server.GetHealth() is { Clients.Count: 0, CallsServed: 5 });
        server.Stop(TimeSpan.FromSeconds(5));
        var last = server.GetHealth();
        Assert.False(last.IsListening);
        Assert.Equal((2, 5, 1), (last.ClientsAccepted, last.CallsServed, last.CallsFailed));
        Assert.Equal(TimeSpan.Zero, last.LongestCallInProgress);
    }

    [Fact]
    public void LookingDisturbsNobody()
    {
        using var server = new IpcServer(Pair.NewAddress("shm?wait=block"), (_, _) => { });
        var looking = true;
        var looker = Aside.Run(() =>
        {
            while (Volatile.Read(ref looking))
                Assert.InRange(server.GetHealth().Clients.Count, 0, 1);
            return 0;
        });
        for (var round = 0; round < 20; round++)
        {
            using var client = ManagedIpc.Connect(server.Address, Pair.Patience);
            for (var i = 0; i < 200; i++)
                client.Call([0], [], Pair.Patience);
            client.Close();
            Pair.Until(() => server.Clients == 0);
        }
        Volatile.Write(ref looking, false);
        looker.Join();
        Assert.Equal((20, 4000), (server.GetHealth().ClientsAccepted, server.GetHealth().CallsServed));
    }
}
