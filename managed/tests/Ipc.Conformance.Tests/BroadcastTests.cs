using System.Buffers.Binary;
using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Broadcasts between the implementations: a publisher of one side and subscribers of both in this one process, each with its
/// own mapping, as processes would have.</summary>
[Trait("system", "linux")]
public class BroadcastTests
{
    private const int Patience = 20_000;
    private const int Largest = 3000;

    // Read when the library is first needed in this process, so it must be set before.
    static BroadcastTests() => BoundLibrary.Choose();

    private static string NewAddress(string options) => $"broadcast://conformance-{Guid.NewGuid():N}?{options}";

    private static Publisher Publish(string side, string address) => side == "bound" ? NativeIpc.Publish(address) : ManagedIpc.Publish(address);

    private static Subscriber Subscribe(string side, string address) =>
        side == "bound" ? NativeIpc.Subscribe(address, Patience) : ManagedIpc.Subscribe(address, Patience);

    private static int Write(Span<byte> message, long index)
    {
        var length = 8 + (int)(index * 7919 % (index % 50 == 0 ? Largest - 7 : 100));
        BinaryPrimitives.WriteInt64LittleEndian(message, index);
        for (var i = 8; i < length; i++)
            message[i] = (byte)((index * 31) + (i * 7));
        return length;
    }

    private static long ReadAll(Subscriber subscriber, long count)
    {
        var buffer = new byte[Largest + 8];
        var expected = new byte[Largest + 8];
        long next = 0, lostInAll = 0;
        while (next != count)
        {
            var length = subscriber.Receive(buffer, out var lost, Patience);
            next += lost;
            lostInAll += lost;
            Assert.True(expected.AsSpan(0, Write(expected, next)).SequenceEqual(buffer.AsSpan(0, length)), $"message {next} is torn or not the one due");
            next++;
        }
        return lostInAll;
    }

    public static TheoryData<string, string, string> Pairs
    {
        get
        {
            var data = new TheoryData<string, string, string>();
            foreach (var publisher in new[] { "bound", "managed" })
            {
                foreach (var wait in new[] { "spin", "adaptive", "block" })
                {
                    data.Add(publisher, wait, "wait");
                    data.Add(publisher, wait, "drop");
                }
            }
            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task SubscribersOfBothSidesReadWhatEitherPublishes(string side, string wait, string policy)
    {
        const int Count = 20_000;
        var address = NewAddress($"size=64k&wait={wait}&policy={policy}");
        using var publisher = Publish(side, address);
        var readers = new[] { "bound", "managed" }.Select(other =>
        {
            var subscriber = Subscribe(other, address);
            return Task.Factory.StartNew(() =>
            {
                using (subscriber)
                {
                    var lost = ReadAll(subscriber, Count);
                    Assert.Equal(IpcStatus.PeerClosed, Assert.Throws<IpcException>(() => subscriber.Receive(new byte[8], out _, Patience)).Status);
                    return lost;
                }
            }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }).ToArray();
        Assert.Equal(2, publisher.Subscribers);
        var publishing = Task.Factory.StartNew(() =>
        {
            var message = new byte[Largest + 8];
            for (var i = 0; i < Count; i++)
                publisher.Publish(message.AsSpan(0, Write(message, i)), policy == "drop" ? 0 : Patience);
            publisher.Close();
        }, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await publishing;
        foreach (var lost in await Task.WhenAll(readers))
            Assert.InRange(lost, 0, policy == "wait" ? 0 : Count);
    }

    [Theory]
    [InlineData("bound", "managed")]
    [InlineData("managed", "bound")]
    public void EndsAndLimitsAreTheSameAcrossSides(string publishing, string subscribing)
    {
        var address = NewAddress("size=64k");
        var publisher = Publish(publishing, address);
        Assert.Equal(32768, publisher.MaxMessageLength);
        Assert.Equal(IpcStatus.NameInUse, Assert.Throws<IpcException>(() => Publish(subscribing, address)).Status);
        var subscribers = Enumerable.Range(0, 64).Select(_ => Subscribe(subscribing, address)).ToArray();
        Assert.Equal(64, publisher.Subscribers);
        Assert.Equal(IpcStatus.NotAvailable, Assert.Throws<IpcException>(() => Subscribe(subscribing, address)).Status);
        Assert.Equal(IpcStatus.MessageTooLarge, Assert.Throws<IpcException>(() => publisher.Publish(new byte[32769])).Status);
        var message = new byte[32768];
        Assert.Equal(IpcStatus.TimedOut, Assert.Throws<IpcException>(() =>
        {
            for (var i = 0; i < 10; i++)
                publisher.Publish(message, 0);
        }).Status);
        Assert.Equal(IpcStatus.BufferTooSmall, Assert.Throws<IpcException>(() => subscribers[0].Receive(new byte[10], out _, 0)).Status);
        foreach (var subscriber in subscribers.Skip(1))
            subscriber.Dispose();
        Assert.Equal(message.Length, subscribers[0].Receive(message, out _, Patience));
        publisher.Publish([], Patience); // its room is free now, and the others are gone
        publisher.Dispose();
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => publisher.Publish([])).Status);
        Assert.Equal(IpcStatus.NoServer, Assert.Throws<IpcException>(() => Subscribe(subscribing, address)).Status);
        var left = 0;
        Assert.Equal(IpcStatus.PeerClosed, Assert.Throws<IpcException>(() =>
        {
            for (; left < 10; left++)
                subscribers[0].Receive(message, out _, Patience);
        }).Status);
        Assert.InRange(left, 1, 3);
        subscribers[0].Dispose();
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => subscribers[0].Receive(message, out _)).Status);
    }

    public static TheoryData<string, string> AllSides
    {
        get
        {
            var data = new TheoryData<string, string>();
            foreach (var publisher in new[] { "native", "managed", "bound" })
            {
                foreach (var subscriber in new[] { "native", "managed", "bound" })
                    data.Add(publisher, subscriber);
            }
            return data;
        }
    }

    // Three processes: one of two subscribers is killed while the publisher waits for it, then the publisher while the other waits.
    [Theory]
    [MemberData(nameof(AllSides))]
    public async Task WhoIsKilledHoldsNobodyUpAndLeavesNothing(string publishing, string subscribing)
    {
        const int Soon = 2000;
        var name = $"conformance-{Guid.NewGuid():N}";
        var address = $"broadcast://{name}?size=64k";
        using var publisher = new PuppetProcess(publishing);
        using var victim = new PuppetProcess(subscribing);
        using var survivor = new PuppetProcess(subscribing);
        await publisher.Ok($"publisher p {address}");
        await victim.Ok($"subscriber s {address} 5000");
        await survivor.Ok($"subscriber s {address} 5000");
        await publisher.Ok("subscribers p", 2);
        await publisher.Ok("publish p 30000 1 1 5000");
        await publisher.Ok("publish p 30000 1 2 5000");
        foreach (var puppet in new[] { victim, survivor })
            await puppet.Ok("take s 30000 1 1 5000", "30000 0");
        await survivor.Ok("take s 30000 1 2 5000", "30000 0");
        await publisher.Ok("publish p 30000 1 3 5000");
        await publisher.Refuses(IpcStatus.TimedOut, "publish p 30000 1 4 0");
        var waiting = publisher.Give("blocked", "publish p 30000 1 4 -1");
        await Task.Delay(50);
        victim.Kill();
        var killed = Environment.TickCount64;
        (await waiting).Ok();
        Assert.InRange(Environment.TickCount64 - killed, 0, Soon);
        await publisher.Ok("subscribers p", 1);
        for (var i = 3; i <= 4; i++)
            await survivor.Ok($"take s 30000 1 {i} 5000", "30000 0");
        await publisher.Ok("publish p 0 1 5 5000");
        await survivor.Ok("take s 30000 1 5 5000", "0 0");

        var receiving = survivor.Give("blocked", "take s 30000 1 6 -1");
        await Task.Delay(50);
        publisher.Kill();
        killed = Environment.TickCount64;
        (await receiving).Refused(IpcStatus.PeerClosed);
        Assert.InRange(Environment.TickCount64 - killed, 0, Soon);
        Assert.Empty(Directory.GetFiles(Names.PrivateFolder, $"*{name}*"));
        await survivor.Refuses(IpcStatus.PeerClosed, "take s 30000 1 6 5000");
    }

    // What was published before the end is read after it.
    [Theory]
    [MemberData(nameof(AllSides))]
    public async Task WhatAKilledPublisherPublishedIsRead(string publishing, string subscribing)
    {
        var address = NewAddress("size=64k");
        using var publisher = new PuppetProcess(publishing);
        using var subscriber = new PuppetProcess(subscribing);
        await publisher.Ok($"publisher p {address}");
        await subscriber.Ok($"subscriber s {address} 5000");
        for (var i = 1; i <= 5; i++)
            await publisher.Ok($"publish p {i * 1000} 1 {i} 5000");
        publisher.Kill();
        for (var i = 1; i <= 5; i++)
            await subscriber.Ok($"take s 30000 1 {i} 5000", $"{i * 1000} 0");
        (await subscriber.Refuses(IpcStatus.PeerClosed, "take s 30000 1 6 5000")).Within(2000);
    }
}
