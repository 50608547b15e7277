using System.Buffers;
using System.Text;

namespace Ipc.Tests;

public sealed class IpcAsyncServerTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    public static TheoryData<string> Transports => ["unix", "tcp", "pipe", "fifo", "shm", "shm-event"];

    public static TheoryData<string, int> TransportsAndCallsAtOnce()
    {
        var all = new TheoryData<string, int>();
        foreach (var transport in new[] { "unix", "shm" })
        {
            foreach (var callsAtOnce in new[] { 1, 8 })
                all.Add(transport, callsAtOnce);
        }
        return all;
    }

    private static IpcAsyncServer Server(string transport, AsyncRequestHandler handler, IpcAsyncServerOptions? options = null) =>
        new(Pair.NewAddress(transport), handler, options);

    private static Task<IpcChannel> ConnectAsync(IpcAsyncServer server) =>
        ManagedIpc.ConnectAsync(server.Address).AsTask().WaitAsync(s_patience);

    private static async Task<string> CallAsync(IpcChannel client, string request)
    {
        var reply = new byte[100];
        return Encoding.UTF8.GetString(reply, 0, await client.CallAsync(Encoding.UTF8.GetBytes(request), reply).AsTask().WaitAsync(s_patience));
    }

    private static async Task<IpcStatus> StatusOfAsync(Task task) =>
        (await Assert.ThrowsAsync<IpcException>(() => task.WaitAsync(s_patience))).Status;

    private static string Text(ReadOnlyMemory<byte> request) => Encoding.UTF8.GetString(request.Span);

    private static ValueTask EchoAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        reply.Write(request.Span);
        return default;
    }

    /// <summary>An echo that waits for what it is told to wait for before it answers "slow".</summary>
    private sealed class Slow
    {
        private readonly TaskCompletionSource _entered = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _mayGo = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Entered => _entered.Task.WaitAsync(s_patience);
        public void LetGo() => _mayGo.SetResult();

        public async ValueTask AnswerAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
        {
            if (Text(request) == "slow")
            {
                _entered.TrySetResult();
                await _mayGo.Task.WaitAsync(cancellationToken);
            }
            reply.Write(request.Span);
        }
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task ClientsAreServedSideBySide(string transport)
    {
        var slow = new Slow();
        await using var server = Server(transport, slow.AnswerAsync);
        using var patient = await ConnectAsync(server);
        using var fast = await ConnectAsync(server);
        var waiting = CallAsync(patient, "slow");
        await slow.Entered;
        Assert.Equal("fast", await CallAsync(fast, "fast"));
        Assert.Equal(2, server.Clients);
        slow.LetGo();
        Assert.Equal("slow", await waiting);
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task WhatAHandlerThrowsIsToldAtBothEnds(string transport)
    {
        var told = new TaskCompletionSource<IpcServerError>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = Server(transport, async (request, reply, cancellationToken) =>
        {
            await Task.Yield();
            if (Text(request) != "good")
                throw new KeyNotFoundException("no such price");
            await EchoAsync(request, reply, cancellationToken);
        }, new IpcAsyncServerOptions
        {
            Error = error =>
            {
                told.TrySetResult(error);
                throw new InvalidOperationException("from the callback, which harms nobody");
            }
        });
        using var client = await ConnectAsync(server);
        var failure = await Assert.ThrowsAsync<IpcException>(() => CallAsync(client, "bad"));
        Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
        Assert.Contains("no such price", failure.Message, StringComparison.Ordinal);
        var error = await told.Task.WaitAsync(s_patience);
        Assert.Equal(IpcServerErrorSource.Handler, error.Source);
        Assert.IsType<KeyNotFoundException>(error.Exception);
        Assert.Equal("good", await CallAsync(client, "good"));
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task StoppingLetsRequestsBeAnswered(string transport)
    {
        var slow = new Slow();
        await using var server = Server(transport, slow.AnswerAsync);
        using var client = await ConnectAsync(server);
        using var idle = await ConnectAsync(server);
        Assert.Equal("idle", await CallAsync(idle, "idle"));
        var waiting = CallAsync(client, "slow");
        await slow.Entered;
        var stopping = server.StopAsync(Timeout.InfiniteTimeSpan);
        Assert.Equal(IpcStatus.PeerClosed, await StatusOfAsync(idle.ReceiveAsync(new byte[1]).AsTask()));
        Assert.False(stopping.IsCompleted);
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Connect(server.Address, 0)));
        slow.LetGo();
        Assert.Equal("slow", await waiting);
        Assert.True(await stopping.WaitAsync(s_patience));
        Assert.Equal(0, server.Clients);
        Assert.True(await server.StopAsync(TimeSpan.Zero));
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task WhatTakesTooLongIsCutOff(string transport)
    {
        var slow = new Slow();
        await using var server = Server(transport, slow.AnswerAsync);
        using var client = await ConnectAsync(server);
        var waiting = CallAsync(client, "slow");
        await slow.Entered;
        Assert.False(await server.StopAsync(TimeSpan.FromMilliseconds(10)).WaitAsync(s_patience));
        // Its token ends the handler, which may be quick enough to tell the client so.
        Assert.Contains(await StatusOfAsync(waiting), new[] { IpcStatus.HandlerFailed, IpcStatus.PeerClosed });
        await server.DisposeAsync().AsTask().WaitAsync(s_patience);
        Assert.Equal(0, server.Clients);
    }

    [Fact]
    public async Task ACancelledStopWaitsNoLonger()
    {
        var slow = new Slow();
        await using var server = Server("unix", slow.AnswerAsync);
        using var client = await ConnectAsync(server);
        var waiting = CallAsync(client, "slow");
        await slow.Entered;
        using var source = new CancellationTokenSource(10);
        Assert.False(await server.StopAsync(Timeout.InfiniteTimeSpan, source.Token).WaitAsync(s_patience));
        Assert.Contains(await StatusOfAsync(waiting), new[] { IpcStatus.HandlerFailed, IpcStatus.PeerClosed });
    }

    // What a handler registers with its token may do anything: others are cut off all the same, and nobody waits for it.
    [Theory, InlineData(false), InlineData(true)]
    public async Task WhatATokenBringsAboutHoldsUpNobody(bool closes)
    {
        using var mayGo = new ManualResetEventSlim();
        using var entered = new CountdownEvent(3);
        await using var server = Server("unix", async (request, _, cancellationToken) =>
        {
            var what = Text(request);
            using var registration = cancellationToken.Register(() =>
            {
                if (what == "fails")
                    throw new InvalidOperationException("from the registration");
                if (what == "blocks")
                    mayGo.Wait(s_patience, CancellationToken.None);
            });
            entered.Signal();
            await Task.Run(() => mayGo.Wait(s_patience, CancellationToken.None), CancellationToken.None);
        });
        using var failing = await ConnectAsync(server);
        using var blocking = await ConnectAsync(server);
        using var other = await ConnectAsync(server);
        Task<string>[] calls = [CallAsync(failing, "fails"), CallAsync(blocking, "blocks"), CallAsync(other, "other")];
        Assert.True(entered.Wait(s_patience));
        if (closes)
            await Task.Run(server.Close).WaitAsync(s_patience);
        else
            Assert.False(await server.StopAsync(TimeSpan.Zero).WaitAsync(s_patience));
        foreach (var call in calls)
            Assert.Equal(IpcStatus.PeerClosed, await StatusOfAsync(call));
        mayGo.Set();
    }

    [Theory, MemberData(nameof(TransportsAndCallsAtOnce))]
    public async Task HandlersMayStopTheirServer(string transport, int callsAtOnce)
    {
        IpcAsyncServer? server = null;
        using var both = new CountdownEvent(2);
        server = Server(transport, async (request, reply, cancellationToken) =>
        {
            both.Signal();
            await Task.Run(both.Wait, CancellationToken.None); // each is in progress when the other stops
            Assert.True(await server!.StopAsync(Timeout.InfiniteTimeSpan, cancellationToken));
            await EchoAsync(request, reply, cancellationToken);
        }, new IpcAsyncServerOptions { CallsAtOnce = callsAtOnce });
        using var first = await ConnectAsync(server);
        using var second = await ConnectAsync(server);
        var calls = new[] { CallAsync(first, "one"), CallAsync(second, "two") };
        Assert.Equal(["one", "two"], await Task.WhenAll(calls));
        await server.DisposeAsync().AsTask().WaitAsync(s_patience);
    }

    [Theory, MemberData(nameof(TransportsAndCallsAtOnce))]
    public async Task AHandlerMayDisposeItsServer(string transport, int callsAtOnce)
    {
        IpcAsyncServer? server = null;
        server = Server(transport, async (request, reply, cancellationToken) =>
        {
            await server!.DisposeAsync();
            await EchoAsync(request, reply, cancellationToken);
        }, new IpcAsyncServerOptions { CallsAtOnce = callsAtOnce });
        using var client = await ConnectAsync(server);
        Assert.Equal("last", await CallAsync(client, "last"));
        await server.DisposeAsync().AsTask().WaitAsync(s_patience);
        Assert.Equal(0, server.Clients);
    }

    [Theory, InlineData("unix"), InlineData("shm")]
    public async Task CallsOfOneClientAtOnce(string transport)
    {
        using var both = new CountdownEvent(2);
        await using var server = Server(transport, async (request, reply, cancellationToken) =>
        {
            both.Signal();
            await Task.Run(both.Wait, CancellationToken.None);
            await EchoAsync(request, reply, cancellationToken);
        }, new IpcAsyncServerOptions { CallsAtOnce = 2 });
        using var client = await ConnectAsync(server);
        Assert.Equal(["one", "two"], await Task.WhenAll(CallAsync(client, "one"), CallAsync(client, "two")));
    }

    [Theory, InlineData("unix"), InlineData("shm")]
    public async Task OneMoreThanMaxClientsWaits(string transport)
    {
        await using var server = Server(transport, EchoAsync, new IpcAsyncServerOptions { MaxClients = 1 });
        var first = await ConnectAsync(server);
        Assert.Equal("first", await CallAsync(first, "first"));
        var second = Task.Run(async () =>
        {
            using var client = await ConnectAsync(server);
            return await CallAsync(client, "second");
        });
        await Task.Delay(50);
        Assert.False(second.IsCompleted);
        first.Dispose();
        Assert.Equal("second", await second.WaitAsync(s_patience));
    }

    [Fact]
    public async Task WhatIsRefusedTakesNoName()
    {
        var address = Pair.NewAddress("unix");
        foreach (var options in new IpcAsyncServerOptions[] { new() { MaxClients = 0 }, new() { CallsAtOnce = 0 } })
            Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => _ = new IpcAsyncServer(address, EchoAsync, options)));
        Assert.Throws<ArgumentNullException>(() => new IpcAsyncServer(address, null!));
        Assert.Throws<ArgumentNullException>(() => new IpcAsyncServer((string)null!, EchoAsync));
        Assert.Throws<ArgumentNullException>(() => new IpcAsyncServer((IpcListener)null!, EchoAsync));
        await using var server = new IpcAsyncServer(address, EchoAsync);
        using var client = await ConnectAsync(server);
        Assert.Equal("free", await CallAsync(client, "free"));
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task ClosingWaitsForNothing(string transport)
    {
        var mayGo = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        // It heeds no token.
        var server = Server(transport, async (_, _, _) =>
        {
            entered.SetResult();
            await mayGo.Task;
        });
        using var client = await ConnectAsync(server);
        var waiting = CallAsync(client, "slow");
        await entered.Task.WaitAsync(s_patience);
        server.Close();
        Assert.Equal(IpcStatus.PeerClosed, await StatusOfAsync(waiting));
        var disposing = server.DisposeAsync().AsTask();
        await Task.Delay(20);
        Assert.False(disposing.IsCompleted);
        mayGo.SetResult();
        await disposing.WaitAsync(s_patience);
        server.Close();
        Assert.True(await server.StopAsync(TimeSpan.Zero));
    }

    [Fact]
    public async Task TheClientsOfAListenerAreServed()
    {
        var listener = ManagedIpc.Listen(Pair.NewAddress("tcp"));
        await using (var server = new IpcAsyncServer(listener, EchoAsync))
        {
            Assert.Equal(listener.Address, server.Address);
            using var client = await ConnectAsync(server);
            Assert.Equal("listener", await CallAsync(client, "listener"));
        }
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => listener.Accept(0)));
    }
}
