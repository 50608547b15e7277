using System.Globalization;
using Ipc.Queues;

namespace Ipc.Tests;

/// <summary>Queues and rings without blocking the caller.</summary>
public sealed class AsyncQueueTests : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    private readonly QueueName _name = new();

    public static TheoryData<string> Addresses => ["queue://{0}?size=64k", "ring://{0}?blocks=2", "ring://{0}?blocks=2&order=lifo"];

    public void Dispose() => _name.Dispose();

    private IpcQueue Open(string address) => ManagedIpc.OpenQueue(string.Format(CultureInfo.InvariantCulture, address, _name.Name), Pair.Patience);

    private static void Fill(IpcQueue queue)
    {
        while (queue.TryEnqueue(new byte[1000]))
        {
        }
    }

    private static async Task EndsWithAsync(IpcStatus status, Task task) =>
        Assert.Equal(status, (await Assert.ThrowsAsync<IpcException>(() => task.WaitAsync(s_patience))).Status);

    [Theory]
    [MemberData(nameof(Addresses))]
    public async Task AMessageIsTakenWhetherItIsThereOrComes(string address)
    {
        using var queue = Open(address);
        using var other = Open(address);
        var buffer = new byte[10];
        for (byte round = 0; round < 20; round++)
        {
            var waiting = queue.DequeueAsync(buffer).AsTask();
            Assert.False(waiting.IsCompleted);
            await other.EnqueueAsync(new[] { round }).AsTask().WaitAsync(s_patience);
            Assert.Equal(1, await waiting.WaitAsync(s_patience));
            Assert.Equal(round, buffer[0]);

            Assert.True(other.EnqueueAsync(new byte[] { 1, round }).AsTask().IsCompletedSuccessfully);
            var there = queue.DequeueAsync(buffer).AsTask();
            Assert.True(there.IsCompletedSuccessfully);
            Assert.Equal(2, await there);
            Assert.Equal(round, buffer[1]);
        }
    }

    [Theory]
    [MemberData(nameof(Addresses))]
    public async Task AFullQueueIsWaitedFor(string address)
    {
        using var queue = Open(address);
        Fill(queue);
        var waiting = queue.EnqueueAsync(new byte[1000]).AsTask();
        Assert.False(waiting.IsCompleted);
        Assert.Equal(1000, queue.Dequeue(new byte[1000], Pair.Patience));
        await waiting.WaitAsync(s_patience);
        Assert.False(queue.TryEnqueue(new byte[1000]));
    }

    [Theory]
    [MemberData(nameof(Addresses))]
    public async Task ACancelledWaitTakesNothingAndPutsNothingIn(string address)
    {
        using var queue = Open(address);
        var buffer = new byte[1000];
        using (var cancellation = new CancellationTokenSource())
        {
            var waiting = queue.DequeueAsync(buffer, cancellation.Token).AsTask();
            cancellation.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.WaitAsync(s_patience));
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => queue.EnqueueAsync(new byte[3], cancellation.Token).AsTask());
        }
        Assert.False(queue.TryDequeue(buffer, out _));
        queue.Enqueue([7]);
        Assert.Equal(1, await queue.DequeueAsync(buffer).AsTask().WaitAsync(s_patience));

        Fill(queue);
        using var late = new CancellationTokenSource();
        var putting = queue.EnqueueAsync(new byte[999], late.Token).AsTask();
        late.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => putting.WaitAsync(s_patience));
        while (queue.TryDequeue(buffer, out var length))
            Assert.Equal(1000, length);
    }

    [Theory]
    [MemberData(nameof(Addresses))]
    public async Task ClosingEndsEveryWait(string address)
    {
        using var empty = Open(address);
        var waiting = Enumerable.Range(0, 3).Select(_ => empty.DequeueAsync(new byte[10]).AsTask()).ToList();
        Assert.DoesNotContain(waiting, w => w.IsCompleted);
        empty.Close();
        foreach (var one in waiting)
            await EndsWithAsync(IpcStatus.Closed, one);

        using var full = Open(address);
        Fill(full);
        var putting = full.EnqueueAsync(new byte[1000]).AsTask();
        Assert.False(putting.IsCompleted);
        full.Dispose();
        await EndsWithAsync(IpcStatus.Closed, putting);
    }

    [Theory]
    [MemberData(nameof(Addresses))]
    public async Task AMessageThatDoesNotFitStays(string address)
    {
        using var queue = Open(address);
        var waiting = queue.DequeueAsync(new byte[10]).AsTask();
        Assert.False(waiting.IsCompleted);
        queue.Enqueue(new byte[100]);
        await EndsWithAsync(IpcStatus.BufferTooSmall, waiting);
        await EndsWithAsync(IpcStatus.BufferTooSmall, queue.DequeueAsync(new byte[10]).AsTask());
        Assert.Equal(100, await queue.DequeueAsync(new byte[100]).AsTask().WaitAsync(s_patience));
        await EndsWithAsync(IpcStatus.MessageTooLarge, queue.EnqueueAsync(new byte[queue.MaxMessageLength + 1]).AsTask());
    }

    [Fact]
    public async Task AllMessagesComeOneAfterAnother()
    {
        using var queue = Open("queue://{0}?size=256k");
        using var cancellation = new CancellationTokenSource(s_patience);
        int[] lengths = [1, 0, 5000, 3, 100_000];
        var sending = Task.Run(async () =>
        {
            foreach (var length in lengths)
            {
                await queue.EnqueueAsync(Pair.Bytes(length), cancellation.Token);
                await Task.Delay(10);
            }
        });
        var next = 0;
        await foreach (var message in queue.DequeueAllAsync(cancellation.Token))
        {
            Assert.True(Pair.Bytes(lengths[next]).AsSpan().SequenceEqual(message.Span));
            if (++next == lengths.Length)
                break;
        }
        await sending;

        using var soon = new CancellationTokenSource();
        await using var all = queue.DequeueAllAsync(soon.Token).GetAsyncEnumerator(soon.Token);
        var waiting = all.MoveNextAsync().AsTask();
        Assert.False(waiting.IsCompleted);
        soon.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.WaitAsync(s_patience));
    }

    // Several take from one queue: each message goes to one of them, whoever waits.
    [Fact]
    public async Task EachMessageIsTakenOnce()
    {
        const int Readers = 8, Messages = 2000;
        using var queue = Open("queue://{0}?size=64k");
        using var cancellation = new CancellationTokenSource();
        var taken = new int[Messages];
        var left = Messages;
        var reading = Enumerable.Range(0, Readers).Select(_ => Task.Run(async () =>
        {
            try
            {
                await foreach (var message in queue.DequeueAllAsync(cancellation.Token))
                {
                    Interlocked.Increment(ref taken[BitConverter.ToInt32(message.Span)]);
                    if (Interlocked.Decrement(ref left) == 0)
                        cancellation.Cancel();
                }
            }
            catch (OperationCanceledException)
            {
            }
        })).ToArray();
        for (var i = 0; i < Messages; i++)
            await queue.EnqueueAsync(BitConverter.GetBytes(i)).AsTask().WaitAsync(s_patience);
        await Task.WhenAll(reading).WaitAsync(s_patience);
        Assert.All(taken, times => Assert.Equal(1, times));
    }

    [Fact]
    public async Task PublishersAndSubscribers()
    {
        var factory = new QueueFactory();
        var options = new QueueOptions(_name.Name, 100_000);
        using var publisher = factory.CreatePublisher(options);
        using var subscriber = factory.CreateSubscriber(options);
        foreach (var length in new[] { 0, 1, 1024, 1025, 60_000 })
        {
            var sent = Pair.Bytes(length);
            var waiting = subscriber.DequeueAsync().AsTask();
            Assert.False(waiting.IsCompleted);
            await publisher.EnqueueAsync(sent).AsTask().WaitAsync(s_patience);
            var message = await waiting.WaitAsync(s_patience);
            Assert.True(sent.AsSpan().SequenceEqual(message.Span));
        }
        await publisher.EnqueueAsync(new byte[] { 1, 2, 3 });
        Assert.Equal([1, 2, 3], (await subscriber.DequeueAsync(new byte[100])).ToArray());
        using var cancellation = new CancellationTokenSource();
        var cancelled = subscriber.DequeueAsync(cancellation.Token).AsTask();
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(s_patience));
        var ended = subscriber.DequeueAsync().AsTask();
        Assert.False(ended.IsCompleted);
        subscriber.Dispose();
        await EndsWithAsync(IpcStatus.Closed, ended);
    }
}
