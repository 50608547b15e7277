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
        Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => subscriber.Dequeue(buffer, default)));
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
            Cancel(cancellation, () =>
            {
                _ = buffer is null ? subscriber.Dequeue(cancellation.Token) : subscriber.Dequeue(buffer, cancellation.Token);
            });
        }
        while (publisher.TryEnqueue(new byte[10_000]))
        {
        }
        using var late = new CancellationTokenSource();
        Cancel(late, () => publisher.Enqueue(new byte[10_000], late.Token));
        Assert.Throws<OperationCanceledException>(() => subscriber.TryDequeue(late.Token, out _));
        Assert.True(subscriber.TryDequeue(default, out _));
    }

    // A cancellation wakes: nobody notices it between two looks only, which would be 50 ms on average.
    [Fact]
    public void ACancellationIsNoticedAtOnce()
    {
        const int Rounds = 20;
        foreach (var address in new[] { "queue://{0}?size=64k&wait=block", "ring://{0}?blocks=2&wait=block", "ring://{0}?blocks=2&wait=block&order=lifo" })
        {
            using var name = new QueueName();
            using var subscriber = new QueueFactory(_ =>
                ManagedIpc.OpenQueue(string.Format(System.Globalization.CultureInfo.InvariantCulture, address, name.Name)))
                .CreateSubscriber(Options(name));
            long milliseconds = 0;
            for (var round = 0; round < Rounds; round++)
            {
                using var cancellation = new CancellationTokenSource();
                milliseconds += Cancel(cancellation, () => subscriber.Dequeue(cancellation.Token));
            }
            Assert.InRange(milliseconds, 0, Rounds * 20);
        }
    }

    // How many milliseconds the wait goes on after it was cancelled.
    private static long Cancel(CancellationTokenSource cancellation, Action wait)
    {
        var waiting = Aside.Run(() =>
        {
            Assert.Throws<OperationCanceledException>(wait);
            return Environment.TickCount64;
        });
        waiting.UntilItWaits();
        var start = Environment.TickCount64;
        cancellation.Cancel();
        var took = waiting.Join() - start;
        Assert.InRange(took, 0, 2000);
        return took;
    }

    [Fact]
    public void OptionsAmountToAnAddress()
    {
        Assert.Equal("queue://prices?size=65536", new QueueOptions("prices", 1).Address);
        Assert.Equal("queue://prices?size=131072&wait=spin", new QueueOptions("prices", 65537, "wait=spin").Address);
        Assert.Throws<ArgumentOutOfRangeException>(() => new QueueOptions("prices", 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => new QueueOptions("prices", (1L << 30) + 1));
        Assert.Throws<ArgumentException>(() => new QueueOptions("", 1));
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => new QueueFactory().CreatePublisher(new QueueOptions("prices", 1, "colour=red"))));
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
