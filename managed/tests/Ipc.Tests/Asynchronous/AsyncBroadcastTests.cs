namespace Ipc.Tests;

/// <summary>Broadcasts without blocking the caller.</summary>
public sealed class AsyncBroadcastTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    private static async Task EndsWithAsync(IpcStatus status, Task task) =>
        Assert.Equal(status, (await Assert.ThrowsAsync<IpcException>(() => task.WaitAsync(s_patience))).Status);

    [Fact]
    public async Task AMessageIsReceivedWhetherItIsThereOrComes()
    {
        var address = Pair.NewAddress("broadcast");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
        var buffer = new byte[10];
        for (byte round = 0; round < 20; round++)
        {
            var waiting = subscriber.ReceiveAsync(buffer).AsTask();
            Assert.False(waiting.IsCompleted);
            await publisher.PublishAsync(new[] { round }).AsTask().WaitAsync(s_patience);
            var came = await waiting.WaitAsync(s_patience);
            Assert.Equal([round], came.Bytes.ToArray());
            Assert.Equal(0, came.Lost);

            Assert.True(publisher.PublishAsync(new byte[] { 1, round }).AsTask().IsCompletedSuccessfully);
            var there = subscriber.ReceiveAsync(buffer).AsTask();
            Assert.True(there.IsCompletedSuccessfully);
            Assert.Equal([1, round], (await there).Bytes.ToArray());
        }
    }

    [Fact]
    public async Task AllMessagesComeUntilThePublisherEnds()
    {
        var address = Pair.NewAddress("broadcast", "size=1M");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
        int[] lengths = [1, 0, 5000, 3, 100_000];
        var publishing = Task.Run(async () =>
        {
            foreach (var length in lengths)
            {
                await publisher.PublishAsync(Pair.Bytes(length));
                await Task.Delay(10);
            }
            publisher.Close();
        });
        var next = 0;
        await foreach (var message in subscriber.ReceiveAllAsync())
        {
            Assert.True(Pair.Bytes(lengths[next++]).AsSpan().SequenceEqual(message.Bytes.Span));
            Assert.Equal(0, message.Lost);
        }
        Assert.Equal(lengths.Length, next);
        await publishing;
        await EndsWithAsync(IpcStatus.PeerClosed, subscriber.ReceiveAsync(new byte[10]).AsTask());
    }

    [Fact]
    public async Task WhoIsTooSlowIsToldWhatItLost()
    {
        const int Messages = 1000;
        var address = Pair.NewAddress("broadcast", "size=64k");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe($"{address.Split('?')[0]}?policy=drop", Pair.Patience);
        for (var i = 0; i < Messages; i++)
            await publisher.PublishAsync(new byte[1000]).AsTask().WaitAsync(s_patience);
        publisher.Close();
        long received = 0, lost = 0;
        await foreach (var message in subscriber.ReceiveAllAsync())
        {
            received++;
            lost += message.Lost;
        }
        Assert.Equal(Messages, received + lost);
        Assert.NotEqual(0, lost);
    }

    [Fact]
    public async Task WhoAskedToBeWaitedForIsWaitedFor()
    {
        var address = Pair.NewAddress("broadcast", "size=64k");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
        var message = new byte[1000];
        Fill(publisher, message);
        var waiting = publisher.PublishAsync(message).AsTask();
        Assert.False(waiting.IsCompleted);
        // Room is given back in larger pieces than one message.
        var received = 0;
        while (subscriber.TryReceive(message, out _, out _, received == 0 ? Pair.Patience : 0))
            received++;
        await waiting.WaitAsync(s_patience);

        while (subscriber.TryReceive(message, out _, out _))
        {
        }
        Fill(publisher, message);
        using var cancellation = new CancellationTokenSource();
        var cancelled = publisher.PublishAsync(new byte[999], cancellation.Token).AsTask();
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        while (subscriber.TryReceive(message, out var length, out _))
            Assert.Equal(1000, length);
    }

    [Fact]
    public async Task CancellingAndClosingEndAWait()
    {
        var address = Pair.NewAddress("broadcast");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
        using var cancellation = new CancellationTokenSource();
        var cancelled = subscriber.ReceiveAsync(new byte[10], cancellation.Token).AsTask();
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        publisher.Publish([5]);
        Assert.Equal([5], (await subscriber.ReceiveAsync(new byte[10]).AsTask().WaitAsync(s_patience)).Bytes.ToArray());

        var closed = subscriber.ReceiveAsync(new byte[10]).AsTask();
        Assert.False(closed.IsCompleted);
        subscriber.Close();
        await EndsWithAsync(IpcStatus.Closed, closed);
        await EndsWithAsync(IpcStatus.MessageTooLarge, publisher.PublishAsync(new byte[publisher.MaxMessageLength + 1]).AsTask());
    }

    private static void Fill(Publisher publisher, ReadOnlySpan<byte> message)
    {
        try
        {
            while (true)
                publisher.Publish(message, 0);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
        }
    }
}
