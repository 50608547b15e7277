using System.Diagnostics;
using Ipc.Queues;
using Microsoft.Extensions.DependencyInjection;

namespace Ipc.Tests;

/// <summary>Ipc.Queues: publishers and subscribers.</summary>
public sealed class QueueFactoryTests
{
    private static QueueOptions Options(QueueName name) => new(name.Name, 100_000);

    [Fact]
    public void MessagesGoFromPublisherToSubscriber()
    {
        using var name = new QueueName();
        var factory = new QueueFactory();
        using var publisher = factory.CreatePublisher(Options(name));
        using var subscriber = factory.CreateSubscriber(Options(name));
        Assert.False(subscriber.TryDequeue(default, out var message));
        foreach (var length in new[] { 0, 1, 1024, 1025, 60_000 })
        {
            var sent = Pair.Bytes(length);
            Assert.True(publisher.TryEnqueue(sent));
            Assert.True(subscriber.TryDequeue(default, out message));
            Assert.True(sent.AsSpan().SequenceEqual(message.Span));
            publisher.Enqueue(sent);
            Assert.True(sent.AsSpan().SequenceEqual(subscriber.Dequeue(default).Span));
        }
        var buffer = new byte[100];
        Assert.True(publisher.TryEnqueue([1, 2, 3]));
        Assert.Equal([1, 2, 3], subscriber.Dequeue(buffer, default).ToArray());
        Assert.True(publisher.TryEnqueue(new byte[101]));
        Assert.Equal(Status.BufferTooSmall, Pair.StatusOf(() => subscriber.Dequeue(buffer, default)));
        Assert.Equal(101, subscriber.Dequeue(default).Length);
        Assert.False(subscriber.TryDequeue(buffer, default, out _));
    }

    [Fact]
    public void ACancelledWaitEndsAndTakesNothing()
    {
        using var name = new QueueName();
        using var publisher = new QueueFactory().CreatePublisher(Options(name));
        using var subscriber = new QueueFactory().CreateSubscriber(Options(name));
        foreach (var buffer in new[] { null, new byte[10] })
        {
            using var cancellation = new CancellationTokenSource();
            var clock = new Stopwatch();
            var cancelling = CancelSoon(cancellation, clock);
            Assert.Throws<OperationCanceledException>(() =>
                buffer is null ? subscriber.Dequeue(cancellation.Token) : subscriber.Dequeue(buffer, cancellation.Token));
            Assert.InRange(clock.ElapsedMilliseconds, 0, 2000);
            cancelling.Join();
        }
        while (publisher.TryEnqueue(new byte[10_000]))
        {
        }
        using var late = new CancellationTokenSource();
        var cancellingLate = CancelSoon(late, new Stopwatch());
        Assert.Throws<OperationCanceledException>(() => publisher.Enqueue(new byte[10_000], late.Token));
        Assert.Throws<OperationCanceledException>(() => subscriber.TryDequeue(late.Token, out _));
        Assert.True(subscriber.TryDequeue(default, out _));
        cancellingLate.Join();
    }

    // On a thread of its own: a timer's callback waits for the pool, which other tests keep busy.
    private static Aside<bool> CancelSoon(CancellationTokenSource cancellation, Stopwatch sinceThen) => Aside.Run(() =>
    {
        Thread.Sleep(30);
        sinceThen.Start();
        cancellation.Cancel();
    });

    [Fact]
    public void OptionsAmountToAnAddress()
    {
        Assert.Equal("queue://prices?size=65536", new QueueOptions("prices", 1).Address);
        Assert.Equal("queue://prices?size=131072&wait=spin", new QueueOptions("prices", 65537, "wait=spin").Address);
        Assert.Throws<ArgumentOutOfRangeException>(() => new QueueOptions("prices", 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new QueueOptions("prices", (1L << 30) + 1));
        Assert.Throws<ArgumentException>(() => new QueueOptions("", 1));
        Assert.Equal(Status.BadOption, Pair.StatusOf(() => new QueueFactory().CreatePublisher(new QueueOptions("prices", 1, "colour=red"))));
    }

    [Fact]
    public void TheContainerGetsOneFactory()
    {
        var services = new Services();
        services.AddInterprocessQueue().AddInterprocessQueue();
        var registered = Assert.Single(services);
        Assert.Equal(typeof(IQueueFactory), registered.ServiceType);
        Assert.Equal(ServiceLifetime.Singleton, registered.Lifetime);
        Assert.IsType<QueueFactory>(registered.ImplementationInstance);
    }

    [Fact]
    public void TakingIntoOnesOwnBufferAllocatesNothing()
    {
        using var name = new QueueName();
        using var publisher = new QueueFactory().CreatePublisher(Options(name));
        using var subscriber = new QueueFactory().CreateSubscriber(Options(name));
        Memory<byte> buffer = new byte[100];
        long before = 0;
        for (var i = 0; i < 3000; i++)
        {
            if (i == 1000)
                before = GC.GetAllocatedBytesForCurrentThread();
            publisher.TryEnqueue(buffer.Span);
            subscriber.Dequeue(buffer, default);
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (24 * 2000) - 1);
    }

    /// <summary>What the abstractions ask of a container's list.</summary>
    private sealed class Services : List<ServiceDescriptor>, IServiceCollection;
}
