using System.Buffers;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>The asynchronous operations over the C ABI: where the library gives a descriptor to wait for, and where a thread waits.</summary>
[Trait("system", "linux")]
public class BoundAsyncTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    static BoundAsyncTests() => BoundLibrary.Choose();

    public static TheoryData<string> Transports => ["unix", "tcp", "pipe", "fifo", "shm", "shm-event"];

    private sealed record Ends(IpcChannel Client, IpcChannel Server) : IDisposable
    {
        public void Dispose()
        {
            Client.Dispose();
            Server.Dispose();
        }
    }

    private static async Task<Ends> Connect(string transport)
    {
        using var listener = NativeIpc.Listen(transport == "tcp" ? "tcp://0" : $"{transport}://conformance-async-{Guid.NewGuid():N}");
        var accepting = listener.AcceptAsync().AsTask();
        var client = await NativeIpc.ConnectAsync(listener.Address).AsTask().WaitAsync(s_patience);
        return new(client, await accepting.WaitAsync(s_patience));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task MessagesAndTheEnd(string transport)
    {
        using var ends = await Connect(transport);
        var (client, server) = ends;
        var buffer = new byte[300_000];
        foreach (var length in new[] { 0, 10, 5000, 300_000 })
        {
            var receiving = server.ReceiveAsync(buffer).AsTask();
            Assert.False(receiving.IsCompleted);
            await client.SendAsync(new byte[length]).AsTask().WaitAsync(s_patience);
            Assert.Equal(length, await receiving.WaitAsync(s_patience));
        }
        using var cancellation = new CancellationTokenSource();
        var cancelled = server.ReceiveAsync(buffer, cancellation.Token).AsTask();
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        var last = server.ReceiveAsync(buffer).AsTask();
        client.Dispose();
        Assert.Equal(IpcStatus.PeerClosed, (await Assert.ThrowsAsync<IpcException>(() => last.WaitAsync(s_patience))).Status);
    }

    // Not fifo, whose descriptor is that of what comes.
    [Theory]
    [InlineData("unix")]
    [InlineData("tcp")]
    [InlineData("pipe")]
    [InlineData("shm")]
    [InlineData("shm-event")]
    public async Task WhatIsShortGoesOutAtOnce(string transport)
    {
        using var ends = await Connect(transport);
        var (client, server) = ends;
        var buffer = new byte[100];
        var calling = client.CallAsync(new byte[10], new byte[100]).AsTask();
        Assert.Equal(10, await server.ReceiveRequestAsync(buffer).AsTask().WaitAsync(s_patience));
        var replying = server.ReplyAsync(new byte[20]);
        Assert.True(replying.IsCompletedSuccessfully, "a reply for which there was room was handed over to another thread");
        Assert.Equal(20, await calling.WaitAsync(s_patience));
    }

    // Where a thread waits it waits until it is interrupted, at whatever moment that comes.
    [Theory]
    [MemberData(nameof(Transports))]
    public async Task CancelledReceivesLoseNothing(string transport)
    {
        using var ends = await Connect(transport);
        var (client, server) = ends;
        var buffer = new byte[10];
        for (var round = 0; round < 300; round++)
        {
            using var cancellation = new CancellationTokenSource();
            var receiving = server.ReceiveAsync(buffer, cancellation.Token).AsTask();
            Thread.SpinWait(round * 100);
            if (round % 3 == 0)
                client.Send([(byte)round]);
            cancellation.Cancel();
            try
            {
                await receiving.WaitAsync(s_patience);
                Assert.Equal((byte)round, buffer[0]);
                continue;
            }
            catch (OperationCanceledException)
            {
            }
            if (round % 3 != 0)
                continue;
            Assert.Equal(1, await server.ReceiveAsync(buffer).AsTask().WaitAsync(s_patience));
            Assert.Equal((byte)round, buffer[0]);
        }
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task ACancelledCallLeavesTheOthers(string transport)
    {
        using var ends = await Connect(transport);
        var (client, server) = ends;
        var hold = new TaskCompletionSource();
        var serving = server.ServeAsync(async (request, reply, _) =>
        {
            if (request.Span[0] == 0)
                await hold.Task;
            reply.Write(request.Span);
        });
        for (var round = 0; round < 20; round++)
        {
            using var cancellation = new CancellationTokenSource();
            var cancelled = client.CallAsync(new byte[] { 0 }, new byte[10], cancellation.Token).AsTask();
            var reply = new byte[10];
            var other = client.CallAsync(new byte[] { 1 }, reply).AsTask();
            if (round % 2 == 0)
                await Task.Delay(2);
            cancellation.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
            hold.SetResult();
            Assert.Equal(1, await other.WaitAsync(s_patience));
            Assert.Equal(1, reply[0]);
            hold = new TaskCompletionSource();
        }
        client.Dispose();
        await serving.WaitAsync(s_patience);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task CallsAndClosing(string transport)
    {
        using var ends = await Connect(transport);
        var (client, server) = ends;
        var serving = server.ServeAsync((request, reply, _) =>
        {
            reply.Write(request.Span);
            return default;
        });
        var buffer = new byte[100_000];
        foreach (var length in new[] { 0, 10, 5000, 100_000 })
            Assert.Equal(length, await client.CallAsync(new byte[length], buffer).AsTask().WaitAsync(s_patience));
        await Task.Delay(20);
        server.Close();
        Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => serving.WaitAsync(s_patience))).Status);
    }

    [Fact]
    public async Task QueuesAndBroadcasts()
    {
        var name = $"conformance-async-{Guid.NewGuid():N}";
        var buffer = new byte[10];
        using (var queue = NativeIpc.OpenQueue($"queue://{name}?size=64k"))
        {
            NativeIpc.RemoveQueue($"queue://{name}");
            var waiting = queue.DequeueAsync(buffer).AsTask();
            Assert.False(waiting.IsCompleted);
            await queue.EnqueueAsync(new byte[] { 1, 2 }).AsTask().WaitAsync(s_patience);
            Assert.Equal(2, await waiting.WaitAsync(s_patience));
            await IsCancelled(token => queue.DequeueAsync(buffer, token).AsTask());
            while (queue.TryEnqueue(new byte[1000]))
            {
            }
            await IsCancelled(token => queue.EnqueueAsync(new byte[1000], token).AsTask());
            await Assert.ThrowsAsync<IpcException>(() => queue.DequeueAsync(buffer).AsTask().WaitAsync(s_patience));
        }
        using var publisher = NativeIpc.Publish($"broadcast://{name}?size=64k");
        using var subscriber = NativeIpc.Subscribe($"broadcast://{name}", 10_000);
        var receiving = subscriber.ReceiveAsync(buffer).AsTask();
        Assert.False(receiving.IsCompleted);
        await publisher.PublishAsync(new byte[] { 3 }).AsTask().WaitAsync(s_patience);
        Assert.Equal([3], (await receiving.WaitAsync(s_patience)).Bytes.ToArray());
        await IsCancelled(token => subscriber.ReceiveAsync(buffer, token).AsTask());
        await IsCancelled(async token =>
        {
            while (true)
                await publisher.PublishAsync(new byte[1000], token);
        });
    }

    private static async Task IsCancelled(Func<CancellationToken, Task> begin)
    {
        using var cancellation = new CancellationTokenSource();
        var task = begin(cancellation.Token);
        Assert.False(task.IsCompleted);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => task.WaitAsync(s_patience));
    }
}
