using System.Buffers;
using System.Text.Json.Serialization;

namespace Ipc.Tests;

public sealed partial class IpcClientTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    private static IpcServer Echo(string address) => new(address, (request, reply) => request.CopyTo(reply.Reserve(request.Length)));

    [Theory]
    [InlineData("unix")]
    [InlineData("shm")]
    public async Task ConnectsWhenTheServerComesAndAgainAfterItCameBack(string transport)
    {
        var address = Pair.NewAddress(transport);
        using var client = new IpcClient(address);
        var reply = new byte[10];
        var early = client.CallAsync(new byte[3], reply).AsTask();
        await Task.Delay(50);
        Assert.False(early.IsCompleted);
        for (var life = 0; life < 3; life++)
        {
            using var server = Echo(address);
            if (life == 0)
                Assert.Equal(3, await early.WaitAsync(s_patience));
            for (var i = 0; i < 5; i++)
                Assert.Equal(i, await client.CallAsync(new byte[i], reply).AsTask().WaitAsync(s_patience));
            Assert.True(client.IsConnected);
        }
    }

    [Fact]
    public async Task ACallUnderWayIsNotRepeated()
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress("unix"));
        using var client = new IpcClient(listener.Address);
        var calling = client.CallAsync(new byte[] { 1 }, new byte[10]).AsTask();
        using (var server = listener.Accept(Pair.Patience))
            Assert.Equal(1, server.ReceiveRequest(Pair.Patience)[0]);
        Assert.Equal(IpcStatus.PeerClosed, (await Assert.ThrowsAsync<IpcException>(() => calling.WaitAsync(s_patience))).Status);
        Assert.False(client.IsConnected);
        var next = client.CallAsync(new byte[] { 2 }, new byte[10]).AsTask();
        using var again = listener.Accept(Pair.Patience);
        Assert.Equal(2, again.ReceiveRequest(Pair.Patience)[0]);
        again.Reply([5], Pair.Patience);
        Assert.Equal(1, await next.WaitAsync(s_patience));
    }

    [Fact]
    public async Task WithoutReconnectingOneConnectionIsAll()
    {
        var address = Pair.NewAddress("unix");
        using var client = new IpcClient(address, new IpcClientOptions { Reconnect = false });
        Assert.Equal(IpcStatus.NoServer, (await Assert.ThrowsAsync<IpcException>(() => client.ConnectAsync().AsTask())).Status);
        using (Echo(address))
            Assert.Equal(1, await client.CallAsync(new byte[1], new byte[1]));
        using var server = Echo(address);
        for (var i = 0; i < 2; i++)
        {
            var failure = await Assert.ThrowsAsync<IpcException>(() => client.CallAsync(new byte[1], new byte[1]).AsTask().WaitAsync(s_patience));
            Assert.Equal(IpcStatus.PeerClosed, failure.Status);
        }
    }

    [Fact]
    public async Task CallsOfManyThreadsGoOneAfterAnother()
    {
        using var server = Echo(Pair.NewAddress("shm"));
        using var client = new IpcClient(server.Address);
        await Task.WhenAll(Enumerable.Range(0, 20).Select(i => Task.Run(async () =>
        {
            var reply = new byte[100];
            for (var n = 0; n < 50; n++)
            {
                Assert.Equal(i + 1, await client.CallAsync(Pair.Bytes(i + 1, i), reply));
                Assert.True(Pair.Bytes(i + 1, i).AsSpan().SequenceEqual(reply.AsSpan(0, i + 1)));
            }
        }))).WaitAsync(s_patience);
        Assert.Equal(1, server.Clients);
    }

    [Fact]
    public async Task DisposingEndsWhatWaits()
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress("unix"));
        var client = new IpcClient(listener.Address);
        var answered = client.CallAsync(new byte[1], new byte[1]).AsTask();
        using var server = listener.Accept(Pair.Patience);
        var queued = client.CallAsync(new byte[1], new byte[1]).AsTask();
        var lonely = new IpcClient(Pair.NewAddress("unix"));
        var connecting = lonely.ConnectAsync().AsTask();
        await Task.Delay(20);
        client.Dispose();
        lonely.Dispose();
        foreach (var one in new Task[] { answered, queued, connecting })
            await Assert.ThrowsAsync<ObjectDisposedException>(() => one.WaitAsync(s_patience));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.CallAsync(new byte[1], new byte[1]).AsTask());
    }

    [Fact]
    public async Task ACancelledWaitForTheServerReturnsAtOnce()
    {
        using var client = new IpcClient(Pair.NewAddress("unix"));
        using var cancellation = new CancellationTokenSource(50);
        var calling = client.CallAsync(new byte[1], new byte[1], cancellation.Token).AsTask();
        var cancelled = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => calling.WaitAsync(s_patience));
        Assert.Equal(cancellation.Token, cancelled.CancellationToken);
    }

    public sealed record Question(string Name, int Count);

    public sealed record Answer(string[] Names);

    [JsonSerializable(typeof(Question))]
    [JsonSerializable(typeof(Answer))]
    private sealed partial class Types : JsonSerializerContext;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task CallsWithObjects(bool byReflection)
    {
        var serializer = byReflection ? JsonIpcSerializer.ByReflection() : new JsonIpcSerializer(Types.Default);
        using var listener = ManagedIpc.Listen(Pair.NewAddress("unix"));
        using var client = new IpcClient(listener.Address, new IpcClientOptions { Serializer = serializer });
        var serving = Task.Run(async () =>
        {
            using var server = await listener.AcceptAsync();
            await server.ServeAsync(serializer.Handler<Question, Answer>((question, _) =>
                new(new Answer([.. Enumerable.Range(0, question.Count).Select(i => $"{question.Name} {i}")]))));
        });
        foreach (var count in new[] { 0, 3, 20_000, 1 })
        {
            var answer = await client.CallAsync<Question, Answer>(new Question("cell", count)).AsTask().WaitAsync(s_patience);
            Assert.Equal(Enumerable.Range(0, count).Select(i => $"cell {i}"), answer.Names);
        }
        client.Dispose();
        await serving.WaitAsync(s_patience);
    }

    [Fact]
    public async Task AServerAnswersObjectsWithoutTasks()
    {
        var serializer = new JsonIpcSerializer(Types.Default);
        using var server = new IpcServer(Pair.NewAddress("unix"), serializer.Handler<Question, Answer>(question => question.Count >= 0
            ? new Answer([.. Enumerable.Repeat(question.Name, question.Count)])
            : throw new ArgumentException($"{question.Count} names cannot be had")));
        using var client = new IpcClient(server.Address, new IpcClientOptions { Serializer = serializer });

        // The longest reply is larger than what a thread keeps for the next one.
        foreach (var count in new[] { 2, 200_000, 0, 2 })
        {
            var answer = await client.CallAsync<Question, Answer>(new Question("cell", count)).AsTask().WaitAsync(s_patience);
            Assert.Equal(Enumerable.Repeat("cell", count), answer.Names);
        }
        var calling = client.CallAsync<Question, Answer>(new Question("cell", -1)).AsTask();
        var failure = await Assert.ThrowsAsync<IpcException>(() => calling.WaitAsync(s_patience));
        Assert.Equal((IpcStatus.HandlerFailed, true), (failure.Status, failure.Message.Contains("-1 names cannot be had", StringComparison.Ordinal)));
        Assert.Single((await client.CallAsync<Question, Answer>(new Question("cell", 1)).AsTask().WaitAsync(s_patience)).Names);
    }

    [Fact]
    public void AHandlerOfObjectsNeedsItsFunction()
    {
        var serializer = new JsonIpcSerializer(Types.Default);
        Assert.Throws<ArgumentNullException>(() => serializer.Handler<Question, Answer>((Func<Question, Answer>)null!));
        Assert.Throws<ArgumentNullException>(() => ((IIpcSerializer)null!).Handler<Question, Answer>(_ => new Answer([])));
    }
}
