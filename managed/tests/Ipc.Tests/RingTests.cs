using static Ipc.Tests.RingText;

namespace Ipc.Tests;

/// <summary>What a ring does for its users, both orders, every way of waiting.</summary>
public sealed class RingTests
{
    public static TheoryData<string> Orders => ["fifo", "lifo"];

    public static TheoryData<string, string> OrdersAndWaits
    {
        get
        {
            var data = new TheoryData<string, string>();
            foreach (var order in new[] { "fifo", "lifo" })
            {
                foreach (var wait in new[] { "adaptive", "spin", "block" })
                    data.Add(order, wait);
            }
            return data;
        }
    }

    [Fact]
    public void TheOldestOrTheNewestMessageComesFirst()
    {
        using var fifo = ManagedIpc.OpenQueue(NewAddress("blocks=4"));
        using var lifo = ManagedIpc.OpenQueue(NewAddress("blocks=4&order=lifo"));
        for (var lap = 0; lap < 5; lap++)
        {
            foreach (var text in new[] { "one", "two", "three" })
                Assert.True(Send(fifo, text, 0) && Send(lifo, text, 0));
            Assert.Equal("one two three", $"{Received(fifo)} {Received(fifo)} {Received(fifo)}");
            Assert.Equal("three two one", $"{Received(lifo)} {Received(lifo)} {Received(lifo)}");
            Assert.Equal("nothing", Received(fifo, 0));
            Assert.Equal("nothing", Received(lifo, 0));
        }
    }

    [Theory]
    [MemberData(nameof(Orders))]
    public void LengthsFromEmptyToTheWholeBlock(string order)
    {
        using var ring = ManagedIpc.OpenQueue(NewAddress($"block=1000&order={order}"));
        Assert.Equal(1000, ring.MaxMessageLength);
        ring.Enqueue([], 0);
        Assert.Equal(0, ring.Dequeue([], 0));
        ring.Enqueue(Pair.Bytes(1000), 0);
        var failure = Assert.Throws<IpcException>(() => ring.Dequeue(new byte[999], 0));
        Assert.Equal(IpcStatus.BufferTooSmall, failure.Status);
        Assert.Contains("1000", failure.Message, StringComparison.Ordinal);
        var buffer = new byte[1000];
        Assert.Equal(1000, ring.Dequeue(buffer, 0));
        Assert.Equal(Pair.Bytes(1000), buffer);
        failure = Assert.Throws<IpcException>(() => ring.Enqueue(new byte[1001]));
        Assert.Equal(IpcStatus.MessageTooLarge, failure.Status);
        Assert.Contains("block=", failure.Message, StringComparison.Ordinal);
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => ring.TryEnqueue([], -2)));
    }

    [Theory]
    [MemberData(nameof(OrdersAndWaits))]
    public void BothEndsWaitForTheirTime(string order, string wait)
    {
        var address = NewAddress($"blocks=2&order={order}&wait={wait}");
        using var ring = ManagedIpc.OpenQueue(address);
        using var other = ManagedIpc.OpenQueue(address);
        var start = Environment.TickCount64;
        Assert.Equal("nothing", Received(ring, 60));
        Assert.True(Environment.TickCount64 - start >= 45);
        Assert.True(Send(ring, "1", 0) && Send(ring, "2", 0));
        Assert.False(Send(ring, "3", 0));
        Assert.False(Send(ring, "3", 60));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ring.Enqueue([1], 1)));
        var writing = Aside.Run(() => Send(ring, "3"));
        writing.UntilItWaits();
        var got = new HashSet<string> { Received(other), Received(other), Received(other) };
        Assert.True(writing.Join());
        Assert.Equal(new HashSet<string> { "1", "2", "3" }, got);
        var reading = Aside.Run(() => Received(other));
        reading.UntilItWaits();
        Assert.True(Send(ring, "hello"));
        Assert.Equal("hello", reading.Join());
    }

    [Theory]
    [MemberData(nameof(OrdersAndWaits))]
    public void CloseInterruptsThisHandleOnly(string order, string wait)
    {
        var address = NewAddress($"blocks=2&order={order}&wait={wait}");
        using var ring = ManagedIpc.OpenQueue(address);
        using var other = ManagedIpc.OpenQueue(address);
        var reading = Aside.Run(() => Pair.StatusOf(() => ring.Dequeue(new byte[10])));
        reading.UntilItWaits();
        ring.Close();
        Assert.Equal(IpcStatus.Closed, reading.Join());
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => ring.TryEnqueue([1])));
        Assert.True(Send(other, "1", 0) && Send(other, "2", 0));
        var writing = Aside.Run(() => Pair.StatusOf(() => other.Enqueue([3])));
        writing.UntilItWaits();
        other.Close();
        Assert.Equal(IpcStatus.Closed, writing.Join());
    }

    [Fact]
    public void TheMakersSizesHoldAndTheRingGoesWithItsLastHandle()
    {
        var address = NewAddress();
        var maker = ManagedIpc.OpenQueue(address + "?blocks=2&block=100&order=lifo");
        using (var guest = ManagedIpc.OpenQueue(address + "?blocks=64&block=9k"))
        {
            Assert.Equal(100, guest.MaxMessageLength);
            Assert.True(Send(guest, "1", 0) && Send(guest, "2", 0));
            Assert.False(Send(guest, "3", 0));
            Assert.True(Libc.GetStatus(PathOf(address), out var status));
            Assert.Equal(0b110_000_000u, status.Mode & ~Libc.S_IFMT);
            maker.Dispose();
            Assert.Equal("2", Received(guest, 0));
        }
        Assert.False(File.Exists(PathOf(address)));
        using var anew = ManagedIpc.OpenQueue(address);
        Assert.Equal("nothing", Received(anew, 0));
        Assert.Equal(4096, anew.MaxMessageLength);
    }

    [Fact]
    public void RemovedItLivesOnNameless()
    {
        var address = NewAddress();
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
        using var one = ManagedIpc.OpenQueue(address);
        using var two = ManagedIpc.OpenQueue(address);
        ManagedIpc.RemoveQueue(address);
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
        using var anew = ManagedIpc.OpenQueue(address);
        Assert.True(Send(one, "still here", 0));
        Assert.Equal("still here", Received(two));
        Assert.Equal("nothing", Received(anew, 0));
    }

    [Theory]
    [InlineData("blocks=1")]
    [InlineData("blocks=3")]
    [InlineData("blocks=131072")]
    [InlineData("block=2G")]
    [InlineData("order=random")]
    public void OptionsThatCannotBeAreRefused(string options) =>
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.OpenQueue(NewAddress(options))));

    [Fact]
    public void WhatIsNotARingIsLeftAlone()
    {
        ManagedIpc.OpenQueue(NewAddress()).Dispose(); // makes the folder
        var address = NewAddress();
        File.WriteAllText(PathOf(address), "precious");
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => ManagedIpc.OpenQueue(address)));
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
        Assert.Equal("precious", File.ReadAllText(PathOf(address)));
        File.Delete(PathOf(address));
        File.CreateSymbolicLink(PathOf(address), "/etc/passwd");
        Assert.Equal(IpcStatus.NoPermission, Pair.StatusOf(() => ManagedIpc.OpenQueue(address)));
        File.Delete(PathOf(address));
    }

    [Theory]
    [MemberData(nameof(Orders))]
    public void ManyWritersAndReadersLoseDoubleAndTearNothing(string order)
    {
        const int Each = 3000;
        var address = NewAddress($"blocks=8&block=128&order={order}");
        using var keeper = ManagedIpc.OpenQueue(address);
        var writers = Enumerable.Range(0, 3).Select(writer => Aside.Run(() =>
        {
            using var ring = ManagedIpc.OpenQueue(address);
            Span<byte> message = stackalloc byte[128];
            for (var number = 1; number <= Each; number++)
                ring.Enqueue(message[..Fill(message, writer, number)], Pair.Patience);
        })).ToList();
        var count = 0;
        var readers = Enumerable.Range(0, 3).Select(_ => Aside.Run(() =>
        {
            using var ring = ManagedIpc.OpenQueue(address);
            var got = new List<(int, int)>();
            var latest = new int[3];
            Span<byte> message = stackalloc byte[128];
            Span<byte> wanted = stackalloc byte[128];
            while (Volatile.Read(ref count) < 3 * Each)
            {
                if (!ring.TryDequeue(message, out var length, 200))
                    continue;
                Interlocked.Increment(ref count);
                var (writer, number) = (message[0], BitConverter.ToInt32(message[1..]));
                Assert.True(message[..length].SequenceEqual(wanted[..Fill(wanted, writer, number)]));
                Assert.True(order == "lifo" || latest[writer] < number);
                latest[writer] = number;
                got.Add((writer, number));
            }
            return got;
        })).ToList();
        writers.ForEach(w => w.Join());
        var all = readers.SelectMany(r => r.Join()).ToList();
        Assert.Equal(3 * Each, all.Count);
        Assert.Equal(all.Count, all.Distinct().Count());
    }

    private static int Fill(Span<byte> message, int writer, int number)
    {
        var length = 5 + (((number * 7) + writer) % 100);
        message[0] = (byte)writer;
        BitConverter.TryWriteBytes(message[1..], number);
        for (var i = 5; i < length; i++)
            message[i] = (byte)(writer + number + i);
        return length;
    }

    [Theory]
    [InlineData(0)]
    [InlineData(20)]
    public void OpeningKeepsItsTimeOutWhileAnotherHasTheFolderLocked(int timeout)
    {
        var address = NewAddress();
        using (LocalNames.Lock(LinuxRingFile.Folder))
        {
            var thrown = Assert.Throws<IpcException>(() => ManagedIpc.OpenQueue(address, timeout));
            Assert.Equal(IpcStatus.TimedOut, thrown.Status);
            Assert.Contains("locked", thrown.Message, StringComparison.Ordinal);
        }
        ManagedIpc.OpenQueue(address, Pair.Patience).Dispose();
    }

    [Theory]
    [MemberData(nameof(Orders))]
    public void MessagesAllocateNothing(string order)
    {
        using var ring = ManagedIpc.OpenQueue(NewAddress($"order={order}"));
        var buffer = new byte[100];
        long before = 0;
        for (var i = 0; i < 1100; i++)
        {
            if (i == 100)
                before = GC.GetAllocatedBytesForCurrentThread();
            ring.Enqueue(buffer, Pair.Patience);
            ring.Dequeue(buffer, Pair.Patience);
            ring.TryDequeue(buffer, out _, 0);
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 24 * 1000 - 1);
    }
}
