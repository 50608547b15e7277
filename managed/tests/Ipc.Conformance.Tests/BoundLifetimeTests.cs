using Ipc.Conformance.Puppets;
using Ipc.Native;
using Ipc.Tests;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Dispose and calls from any threads in any order, over the C ABI: a call that begins meanwhile finds either the native object or
/// <see cref="IpcStatus.Closed"/>, and what a handler looks at stays. IPC_STRESS_ROUNDS says how often (200); by hand 100000 and more.</summary>
[Trait("system", "linux")]
public class BoundLifetimeTests
{
    private const int Patience = 20_000;

    private static readonly int s_rounds = int.TryParse(Environment.GetEnvironmentVariable("IPC_STRESS_ROUNDS"), out var rounds) ? rounds : 200;

    private static readonly Action<IpcChannel>[] s_blocking =
    [
        channel => channel.Receive(new byte[10]),
        channel => _ = channel.Peek(),
        channel => channel.Call([1], new byte[10]),
        channel => _ = channel.ReceiveRequest(),
        channel => channel.Serve((_, _) => { }),
        channel =>
        {
            while (true)
                channel.Send(new byte[100_000]);
        },
    ];

    static BoundLifetimeTests() => BoundLibrary.Choose();

    /// <summary>A module's foreign library has limits of its own: on connections at a time, and on how often it is set up.</summary>
    public static TheoryData<string> ChannelTransports => [.. Pairs.Transports.Where(transport => transport.Module is null).Select(transport => transport.Id)];

    [Theory, MemberData(nameof(ChannelTransports))]
    public void DisposeMeetsCallsOnAChannel(string transport) => OverConnections(transport, (round, server, client, _) =>
    {
        DisposeWhileThreadsCall(client, round, () => client.Receive(new byte[10], 0), () => client.Send(new byte[10], 0));
        server.Dispose();
    });

    // The documented way to cancel: one thread closes, and the one it wakes disposes.
    [Theory, MemberData(nameof(ChannelTransports))]
    public void OneClosesAndTheOneItWakesDisposes(string transport) => OverConnections(transport, (round, server, client, blocked) =>
    {
        blocked.Begin(() =>
        {
            try
            {
                s_blocking[round % s_blocking.Length](server);
            }
            finally
            {
                server.Dispose();
            }
        });
        Dawdle(round);
        server.Close();
        Assert.Equal(IpcStatus.Closed, blocked.EndWithStatus(Patience));
        client.Dispose();
    });

    [Theory, MemberData(nameof(ChannelTransports))]
    public void DisposeEndsABlockedCall(string transport) => OverConnections(transport, (round, server, client, blocked) =>
    {
        var call = s_blocking[round % s_blocking.Length];
        blocked.Begin(() => call(client));
        Dawdle(round);
        client.Dispose();
        Assert.Equal(IpcStatus.Closed, blocked.EndWithStatus(Patience));
        blocked.Begin(() => call(client));
        Assert.Equal(IpcStatus.Closed, blocked.EndWithStatus(Patience));
        server.Dispose();
    });

    [Fact]
    public void DisposeMeetsAccept()
    {
        for (var round = 0; round < s_rounds; round++)
        {
            var listener = NativeIpc.Listen($"unix://bound-lifetime-{Environment.ProcessId}-accept");
            DisposeWhileThreadsCall(listener, round, () => listener.Accept(0), () => listener.Accept(0));
        }
    }

    [Theory]
    [InlineData("queue")]
    [InlineData("ring")]
    public void DisposeMeetsCallsOnAQueue(string transport)
    {
        var address = $"{transport}://bound-lifetime-{Environment.ProcessId}";
        for (var round = 0; round < s_rounds; round++)
        {
            var queue = NativeIpc.OpenQueue(address);
            DisposeWhileThreadsCall(queue, round, () => queue.TryEnqueue(new byte[10]), () => queue.TryDequeue(new byte[10], out _));
        }
        // A ring goes with its last client.
        if (transport == "queue")
            ManagedIpc.RemoveQueue(address);
    }

    [Fact]
    public void DisposeMeetsCallsOnABroadcast()
    {
        var address = $"broadcast://bound-lifetime-{Environment.ProcessId}?policy=drop";
        for (var round = 0; round < s_rounds / 4; round++)
        {
            var publisher = NativeIpc.Publish(address);
            var subscriber = NativeIpc.Subscribe(address, Patience);
            DisposeWhileThreadsCall(subscriber, round, () => subscriber.Receive(new byte[10], out _, 0));
            DisposeWhileThreadsCall(publisher, round, () => publisher.Publish(new byte[10], 0), () =>
            {
                // Asking for the number of subscribers never fails.
                _ = publisher.Subscribers;
                publisher.Close();
                Thread.Yield();
                throw new IpcException(IpcStatus.Closed, "asked and closed");
            });
        }
    }

    [Fact]
    public void DisposeWaitsForAHandler()
    {
        var address = $"shm://bound-lifetime-{Environment.ProcessId}-handler";
        using var listener = NativeIpc.Listen(address);
        var (server, client) = Connect(listener, address);
        using var entered = new ManualResetEventSlim();
        using var mayLeave = new ManualResetEventSlim();
        var seen = 0;
        var serving = Start(() => server.Serve((request, _) =>
        {
            entered.Set();
            Assert.True(mayLeave.Wait(Patience));
            seen = request[0];
        }));
        var calling = Start(() => client.Call([7], new byte[10]));
        Assert.True(entered.Wait(Patience));
        var disposing = Start(server.Dispose);
        Assert.False(Ends(disposing, 200), "Dispose came back while the handler looked at its request");
        mayLeave.Set();
        Assert.True(Ends(disposing, Patience));
        Assert.Equal(7, seen);
        Assert.Equal(IpcStatus.Closed, StatusOf(serving));
        Assert.Equal(IpcStatus.PeerClosed, StatusOf(calling));
        client.Dispose();
    }

    [Fact]
    public void AHandlerMayDisposeItsOwnChannel()
    {
        var address = $"shm://bound-lifetime-{Environment.ProcessId}-own";
        using var listener = NativeIpc.Listen(address);
        var (server, client) = Connect(listener, address);
        var serving = Start(() => server.Serve((_, _) => server.Dispose()));
        Assert.Equal(IpcStatus.PeerClosed, StatusOf(Start(() => client.Call([7], new byte[10], Patience))));
        Assert.Equal(IpcStatus.Closed, StatusOf(serving));
        client.Dispose();
    }

    private static void OverConnections(string transport, Action<int, IpcChannel, IpcChannel, Companion> play)
    {
        using Companion connecting = new(), other = new();
        // Of tcp the listener says which port it has.
        using var listener = NativeIpc.Listen(transport == "tcp" ? "tcp://0" : $"{transport}://bound-lifetime-{Guid.NewGuid():N}");
        for (var round = 0; round < s_rounds; round++)
        {
            IpcChannel? client = null;
            connecting.Begin(() => client = NativeIpc.Connect(listener.Address, Patience));
            var server = listener.Accept(Patience);
            connecting.End(Patience);
            play(round, server, client!, other);
        }
    }

    // Sometimes the other thread is on its way in, sometimes inside, sometimes asleep.
    private static void Dawdle(int round)
    {
        if (round % 10 == 9)
            Thread.Sleep(1);
        else
            Thread.SpinWait(round * 37 % 1000);
    }

    private static (IpcChannel Server, IpcChannel Client) Connect(IpcListener listener, string address)
    {
        var connecting = Start(() => NativeIpc.Connect(address, Patience));
        var server = listener.Accept(Patience);
        return (server, connecting.GetAwaiter().GetResult());
    }

    // Each call is made again and again, on a thread of its own, until it says that the handle is closed.
    private static void DisposeWhileThreadsCall(IDisposable handle, int round, params Action[] calls)
    {
        using var start = new Barrier(calls.Length + 1);
        var all = calls.Select(call => Start(() =>
        {
            start.SignalAndWait();
            while (true)
            {
                try
                {
                    call();
                }
                catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
                {
                }
            }
        })).ToArray();
        start.SignalAndWait();
        Thread.SpinWait(round * 100);
        handle.Dispose();
        foreach (var one in all)
            Assert.Equal(IpcStatus.Closed, StatusOf(one));
    }

    private static bool Ends(Task task, int milliseconds) => task.Wait(milliseconds);

    private static IpcStatus StatusOf(Task task)
    {
        try
        {
            Assert.True(Ends(task, Patience), "the other thread does not come to an end");
            return IpcStatus.Ok;
        }
        catch (AggregateException e) when (e.InnerException is IpcException failure)
        {
            return failure.Status;
        }
    }

    private static Task Start(Action work) => Task.Factory.StartNew(work, default, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    private static Task<T> Start<T>(Func<T> work) => Task.Factory.StartNew(work, default, TaskCreationOptions.LongRunning, TaskScheduler.Default);
}
