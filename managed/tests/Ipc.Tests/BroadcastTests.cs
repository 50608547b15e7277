using System.Buffers.Binary;

namespace Ipc.Tests;

/// <summary>What a broadcast owes its users: everything in order to who is waited for, exact losses to who is not.</summary>
public sealed class BroadcastTests
{
    private const int Spread = 500;

    public static TheoryData<string> Modes => ["spin", "adaptive", "block"];

    private static string NewAddress(string options = "") => Pair.NewAddress("broadcast", options);

    private static string PathOf(string address) => $"{LocalNames.PrivateFolder}/broadcast-{address.Split("://")[1].Split('?')[0]}";

    // Message `index`, whose length and bytes follow from the index alone.
    private static int Write(Span<byte> message, long index, int spread = Spread)
    {
        var length = 8 + (int)((index * 7919) % (spread + 1));
        BinaryPrimitives.WriteInt64LittleEndian(message, index);
        for (var i = 8; i < length; i++)
            message[i] = (byte)((index * 31) + (i * 7));
        return length;
    }

    private static long IndexOf(ReadOnlySpan<byte> message, int spread = Spread)
    {
        var index = BinaryPrimitives.ReadInt64LittleEndian(message);
        var expected = new byte[8 + spread];
        return index >= 0 && message.SequenceEqual(expected.AsSpan(0, Write(expected, index, spread))) ? index : -1;
    }

    private static void Publish(Publisher publisher, long from, long to, int timeout = Pair.Patience)
    {
        var message = new byte[8 + Spread];
        for (var i = from; i < to; i++)
            publisher.Publish(message.AsSpan(0, Write(message, i)), timeout);
    }

    // Reads until message `count - 1` and checks that every message that did not come was told of; how many were lost.
    private static long ReadAll(Subscriber subscriber, long count, int pauseEvery = 0)
    {
        var buffer = new byte[8 + Spread];
        long next = 0, lostInAll = 0;
        for (var received = 1; next != count; received++)
        {
            var length = subscriber.Receive(buffer, out var lost, Pair.Patience);
            var index = IndexOf(buffer.AsSpan(0, length));
            Assert.True(index >= 0, "torn");
            Assert.Equal(next + lost, index);
            next = index + 1;
            lostInAll += lost;
            if (pauseEvery != 0 && received % pauseEvery == 0)
                Thread.Sleep(1);
        }
        return lostInAll;
    }

    [Theory]
    [MemberData(nameof(Modes))]
    public void ReadersThatAreWaitedForGetEverythingInOrder(string wait)
    {
        const int Count = 20_000;
        var address = NewAddress($"size=64k&wait={wait}");
        using var publisher = ManagedIpc.Publish(address);
        var subscribers = Enumerable.Range(0, 3).Select(_ => ManagedIpc.Subscribe(address, Pair.Patience)).ToArray();
        Assert.Equal(3, publisher.Subscribers);
        var readers = subscribers.Select(subscriber => Aside.Run(() =>
        {
            Assert.Equal(0, ReadAll(subscriber, Count));
            return Pair.StatusOf(() => subscriber.Receive(new byte[1], out _, Pair.Patience));
        })).ToArray();
        Publish(publisher, 0, Count);
        publisher.Close();
        foreach (var reader in readers)
            Assert.Equal(IpcStatus.PeerClosed, reader.Join());
        foreach (var subscriber in subscribers)
            subscriber.Dispose();
    }

    [Theory]
    [MemberData(nameof(Modes))]
    public void ReadersThatAreNotWaitedForAreToldExactlyWhatTheyLost(string wait)
    {
        const int Count = 60_000;
        var address = NewAddress($"size=64k&policy=drop&wait={wait}");
        using var publisher = ManagedIpc.Publish(address);
        var half = new ManualResetEventSlim();
        var readers = Enumerable.Range(0, 3).Select(reader =>
        {
            var subscriber = ManagedIpc.Subscribe(address, Pair.Patience);
            return Aside.Run(() =>
            {
                using (subscriber)
                {
                    // The last comes so late that it must have been overtaken, however the machine schedules.
                    if (reader == 2)
                        half.Wait();
                    return ReadAll(subscriber, Count, reader * 100);
                }
            });
        }).ToArray();
        // Not waiting at all: nobody can delay the publisher.
        Publish(publisher, 0, Count / 2, 0);
        half.Set();
        Publish(publisher, Count / 2, Count, 0);
        Assert.All(readers.SkipLast(1), reader => reader.Join());
        Assert.InRange(readers[2].Join(), 1, Count);
    }

    [Theory]
    [MemberData(nameof(Modes))]
    public void TimesOutInTime(string wait)
    {
        var address = NewAddress($"size=64k&wait={wait}");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address);
        var buffer = new byte[1000];
        foreach (var timeout in new[] { 0, 40 })
        {
            var start = Environment.TickCount64;
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => subscriber.Receive(buffer, out _, timeout)));
            Assert.True(Environment.TickCount64 - start >= timeout - 20);
        }
        var published = 0;
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() =>
        {
            for (; published < 1000; published++)
                publisher.Publish(buffer, 0);
        }));
        Assert.InRange(published, 60, 66);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => publisher.Publish(buffer, 40)));
        // What timed out was not published, and room for one is room for one.
        Assert.Equal(1000, subscriber.Receive(buffer, out _, 0));
        publisher.Publish(buffer, 0);
        for (var i = 0; i < published; i++)
            Assert.Equal(1000, subscriber.Receive(buffer, out _, 0));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => subscriber.Receive(buffer, out _, 0)));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => subscriber.Receive(buffer, out _, -2)));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => publisher.Publish(buffer, -2)));
    }

    [Theory]
    [MemberData(nameof(Modes))]
    public void ClosingInterruptsBothSides(string wait)
    {
        var address = NewAddress($"size=64k&wait={wait}");
        using var publisher = ManagedIpc.Publish(address);
        using var idle = ManagedIpc.Subscribe(address);
        using var other = ManagedIpc.Subscribe(address);
        var receiving = Aside.Run(() => Pair.StatusOf(() => idle.Receive(new byte[1], out _)));
        receiving.UntilItWaits();
        var start = Environment.TickCount64;
        idle.Close();
        Assert.Equal(IpcStatus.Closed, receiving.Join());
        Assert.InRange(Environment.TickCount64 - start, 0, 1000); // 100 ms are promised; the machine may be busy
        Pair.Until(() => publisher.Subscribers == 1);

        const int AtLeast = 60, AtMost = 66; // messages that lie in the ring
        var published = 0;
        var publishing = Aside.Run(() => Pair.StatusOf(() =>
        {
            for (; ; Volatile.Write(ref published, published + 1))
                publisher.Publish(new byte[1000]);
        }));
        // A thread that begins may wait, too.
        Pair.Until(() => Volatile.Read(ref published) >= AtLeast);
        publishing.UntilItWaits();
        start = Environment.TickCount64;
        publisher.Close();
        Assert.Equal(IpcStatus.Closed, publishing.Join());
        Assert.InRange(Environment.TickCount64 - start, 0, 1000);
        Assert.False(File.Exists(PathOf(address)));
        Assert.Equal(0, publisher.Subscribers);
        // What was published before the end is still read.
        var received = 0;
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() =>
        {
            for (; received < 1000; received++)
                Assert.Equal(1000, other.Receive(new byte[1000], out _, Pair.Patience));
        }));
        Assert.InRange(received, AtLeast, AtMost);
        idle.Dispose();
        idle.Close();
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => idle.Receive(new byte[1], out _)));
        publisher.Dispose();
        publisher.Dispose();
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => publisher.Publish([])));
    }

    [Fact]
    public void EmptyLargestAndTooLargeMessages()
    {
        var address = NewAddress("size=64k");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address);
        Assert.Equal(32768, publisher.MaxMessageLength);
        publisher.Publish([], 0);
        Assert.Equal(0, subscriber.Receive([], out _, 0));
        var buffer = new byte[32768];
        for (var i = 0; i < 20; i++)
        {
            var sent = Pair.Bytes(32768 - i, i);
            publisher.Publish(sent, 0);
            if (i == 3)
                Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => subscriber.Receive(new byte[100], out _, 0)));
            Assert.Equal(sent.Length, subscriber.Receive(buffer, out _, 0));
            Assert.True(sent.AsSpan().SequenceEqual(buffer.AsSpan(0, sent.Length)));
        }
        Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => publisher.Publish(new byte[32769], 0)));
        using var strict = ManagedIpc.Subscribe(address + "&max=100");
        publisher.Publish(new byte[101], 0);
        Assert.Equal(IpcStatus.PeerTooLarge, Pair.StatusOf(() => strict.Receive(buffer, out _, 0)));
        Assert.Equal(IpcStatus.PeerTooLarge, Pair.StatusOf(() => strict.Receive(buffer, out _, 0)));
    }

    [Fact]
    public void LateJoinersBeginWithWhatComesNext()
    {
        var address = NewAddress("size=64k");
        using var publisher = ManagedIpc.Publish(address);
        Publish(publisher, 0, 1000, 0); // nobody is there
        using var early = ManagedIpc.Subscribe(address + "&policy=drop");
        Publish(publisher, 1000, 1001, 0);
        using var late = ManagedIpc.Subscribe(address);
        Publish(publisher, 1001, 1002, 0);
        var buffer = new byte[8 + Spread];
        Assert.Equal(1000, IndexOf(buffer.AsSpan(0, early.Receive(buffer, out var lost, 0))));
        Assert.Equal(0, lost);
        Assert.Equal(1001, IndexOf(buffer.AsSpan(0, early.Receive(buffer, out _, 0))));
        Assert.Equal(1001, IndexOf(buffer.AsSpan(0, late.Receive(buffer, out lost, 0))));
        Assert.Equal(0, lost);
    }

    [Fact]
    public void SixtyFourReadersAndNoMore()
    {
        var address = NewAddress("size=64k&wait=block");
        using var publisher = ManagedIpc.Publish(address);
        var subscribers = Enumerable.Range(0, 64).Select(i => ManagedIpc.Subscribe(address + (i % 2 == 0 ? "" : "&policy=drop"))).ToArray();
        Assert.Equal(64, publisher.Subscribers);
        Assert.Equal(IpcStatus.NotAvailable, Pair.StatusOf(() => ManagedIpc.Subscribe(address)));
        var buffer = new byte[8 + Spread];
        for (var i = 0; i < 300; i++)
        {
            Publish(publisher, i, i + 1, 0);
            foreach (var subscriber in subscribers)
                Assert.Equal(i, IndexOf(buffer.AsSpan(0, subscriber.Receive(buffer, out _, 0))));
        }
        subscribers[17].Dispose();
        Pair.Until(() => publisher.Subscribers == 63);
        using var another = ManagedIpc.Subscribe(address);
        Publish(publisher, 5, 6, 0);
        Assert.Equal(5, IndexOf(buffer.AsSpan(0, another.Receive(buffer, out _, 0))));
        foreach (var subscriber in subscribers)
            subscriber.Dispose();
        Pair.Until(() => publisher.Subscribers == 1);
    }

    [Theory]
    [InlineData("wait")]
    [InlineData("drop")]
    public void PositionsAndNumbersMayWrap(string policy)
    {
        var address = IpcAddress.Parse(NewAddress($"size=64k&policy={policy}"));
        using var publisher = new BroadcastPublisher(address, LocalNames.InPrivateFolder(address, "broadcast-"), 64 * 1024,
            new BroadcastStart(unchecked(0UL - (16 * 7000)), ulong.MaxValue - 700));
        using var subscriber = ManagedIpc.Subscribe(address.ToString());
        var reading = Aside.Run(() => ReadAll(subscriber, 3000));
        Publish(publisher, 0, 3000);
        Assert.InRange(reading.Join(), 0, policy == "wait" ? 0 : 3000);
    }

    [Fact]
    public void AReaderThatDiesWhileItIsWaitedForIsForgotten()
    {
        foreach (var wait in new[] { "spin", "adaptive", "block" })
        {
            var address = IpcAddress.Parse(NewAddress($"size=64k&wait={wait}"));
            using var publisher = ManagedIpc.Publish(address.ToString());
            var name = LocalNames.InPrivateFolder(address, "broadcast-");
            var socket = LocalSocket.Connect(name, new Deadline(Pair.Patience));
            using var subscriber = new BroadcastSubscriber(address, name, socket, new Deadline(Pair.Patience));
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => Publish(publisher, 0, 10_000, 0)));
            var publishing = Aside.Run(() => publisher.Publish(new byte[1000]));
            publishing.UntilItWaits();
            var start = Environment.TickCount64;
            // What the kernel does when a process is killed: its end of the socket goes, and nothing else happens.
            LocalSocket.ShutDown(socket);
            publishing.Join();
            Assert.InRange(Environment.TickCount64 - start, 0, 2000);
            Assert.Equal(0, publisher.Subscribers);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public unsafe void AReaderWhoseCursorIsImpossibleIsDroppedAndNobodyElse(bool beyond)
    {
        var address = NewAddress("size=64k");
        using var publisher = ManagedIpc.Publish(address);
        using var honest = ManagedIpc.Subscribe(address);
        using var liar = new RawSubscriber(address);
        Assert.Equal(2, publisher.Subscribers);
        *new BroadcastPage(liar.Page.Pointer).Cursor = liar.Greeting.Position + (beyond ? 1UL << 40 : ~15UL);
        var buffer = new byte[8 + Spread];
        for (var i = 0; i < 600; i++)
        {
            Publish(publisher, i, i + 1, 0); // several rings: without the check this would wait, or overwrite
            Assert.Equal(i, IndexOf(buffer.AsSpan(0, honest.Receive(buffer, out _, 0))));
        }
        Assert.NotEqual(0, Libc.Poll(liar.Socket, Libc.POLLIN, Pair.Patience));
        Pair.Until(() => publisher.Subscribers == 1);
    }

    [Fact]
    public void ASubscriberCannotWriteToTheMessages()
    {
        var address = NewAddress("size=64k");
        using var publisher = ManagedIpc.Publish(address);
        using var raw = new RawSubscriber(address);
        var bytes = SealedMemory.BytesOf(raw.Data);
        Assert.Equal(BroadcastLayout.DataFileBytes(64 * 1024), bytes);
        Assert.Equal(IpcStatus.System, Pair.StatusOf(() => SealedMemory.Map(raw.Data, bytes, writable: true)));
        Assert.NotEqual(0, Libc.Truncate(raw.Data, 0));
        // The owner of a file may open it again for writing; the seal still refuses.
        using var again = Libc.Open($"/proc/self/fd/{raw.Data.DangerousGetHandle()}", Libc.O_RDWR);
        if (again is not null)
            Assert.Equal(IpcStatus.System, Pair.StatusOf(() => SealedMemory.Map(again, bytes, writable: true)));
    }

    [Fact]
    public void NamesAndOptions()
    {
        var address = NewAddress();
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Subscribe(address)));
        using (ManagedIpc.Publish(address))
        {
            Assert.True(File.Exists(PathOf(address)));
            Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Publish(address)));
            Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => ManagedIpc.Listen(address)));
        }
        Assert.False(File.Exists(PathOf(address)));
        ManagedIpc.Publish(address).Dispose();
        foreach (var size in new[] { "63k", "96k", "8G" })
            Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.Publish(NewAddress($"size={size}"))));
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.Subscribe(NewAddress("policy=maybe"))));
    }

    [Theory]
    [InlineData("wait")]
    [InlineData("drop")]
    public void MessagesAllocateNothing(string policy)
    {
        const int Messages = 2000;
        var address = NewAddress($"size=64k&policy={policy}");
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = ManagedIpc.Subscribe(address);
        var buffer = new byte[1000];
        long before = 0;
        for (var i = 0; i < Messages + 100; i++)
        {
            if (i == 100)
                before = GC.GetAllocatedBytesForCurrentThread();
            publisher.Publish(buffer.AsSpan(0, i % 1000), Pair.Patience);
            if (subscriber.Receive(buffer, out _, Pair.Patience) != i % 1000)
                Assert.Fail("another message"); // Assert.Equal allocates
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 24 * Messages / 2);
    }
}
