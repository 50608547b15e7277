namespace Ipc.Tests;

/// <summary>What a ring does for its users, both orders, every way of waiting; openers that die; damaged words.</summary>
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

    private static string NewAddress(string options = "") => Pair.NewAddress("ring", options);

    private static string PathOf(string address) => $"{RingFile.Folder}/ring-{Address.Parse(address).Name}";

    private static string Received(MessageQueue ring, int timeout = Pair.Patience)
    {
        var buffer = new byte[5000];
        return ring.TryDequeue(buffer, out var length, timeout) ? System.Text.Encoding.ASCII.GetString(buffer, 0, length) : "nothing";
    }

    private static bool Send(MessageQueue ring, string text, int timeout = Pair.Patience) =>
        ring.TryEnqueue(System.Text.Encoding.ASCII.GetBytes(text), timeout);

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
        Assert.Equal(1000, ring.Limit);
        ring.Enqueue([], 0);
        Assert.Equal(0, ring.Dequeue([], 0));
        ring.Enqueue(Pair.Bytes(1000), 0);
        var failure = Assert.Throws<IpcException>(() => ring.Dequeue(new byte[999], 0));
        Assert.Equal(Status.BufferTooSmall, failure.Status);
        Assert.Contains("1000", failure.Message, StringComparison.Ordinal);
        var buffer = new byte[1000];
        Assert.Equal(1000, ring.Dequeue(buffer, 0));
        Assert.Equal(Pair.Bytes(1000), buffer);
        failure = Assert.Throws<IpcException>(() => ring.Enqueue(new byte[1001]));
        Assert.Equal(Status.MessageTooLarge, failure.Status);
        Assert.Contains("block=", failure.Message, StringComparison.Ordinal);
        Assert.Equal(Status.InvalidArgument, Pair.StatusOf(() => ring.TryEnqueue([], -2)));
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
        Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ring.Enqueue([1], 1)));
        var writing = Aside.Run(() => Send(ring, "3"));
        Thread.Sleep(30);
        var got = new HashSet<string> { Received(other), Received(other), Received(other) };
        Assert.True(writing.Join());
        Assert.Equal(new HashSet<string> { "1", "2", "3" }, got);
        var reading = Aside.Run(() => Received(other));
        Thread.Sleep(30);
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
        Thread.Sleep(20);
        ring.Close();
        Assert.Equal(Status.Closed, reading.Join());
        Assert.Equal(Status.Closed, Pair.StatusOf(() => ring.TryEnqueue([1])));
        Assert.True(Send(other, "1", 0) && Send(other, "2", 0));
        var writing = Aside.Run(() => Pair.StatusOf(() => other.Enqueue([3])));
        Thread.Sleep(20);
        other.Close();
        Assert.Equal(Status.Closed, writing.Join());
    }

    [Fact]
    public void TheMakersSizesHoldAndTheRingGoesWithItsLastHandle()
    {
        var address = NewAddress();
        var maker = ManagedIpc.OpenQueue(address + "?blocks=2&block=100&order=lifo");
        using (var guest = ManagedIpc.OpenQueue(address + "?blocks=64&block=9k"))
        {
            Assert.Equal(100, guest.Limit);
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
        Assert.Equal(4096, anew.Limit);
    }

    [Fact]
    public void RemovedItLivesOnNameless()
    {
        var address = NewAddress();
        Assert.Equal(Status.NoServer, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
        using var one = ManagedIpc.OpenQueue(address);
        using var two = ManagedIpc.OpenQueue(address);
        ManagedIpc.RemoveQueue(address);
        Assert.Equal(Status.NoServer, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
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
        Assert.Equal(Status.BadOption, Pair.StatusOf(() => ManagedIpc.OpenQueue(NewAddress(options))));

    [Fact]
    public void WhatIsNotARingIsLeftAlone()
    {
        ManagedIpc.OpenQueue(NewAddress()).Dispose(); // makes the folder
        var address = NewAddress();
        File.WriteAllText(PathOf(address), "precious");
        Assert.Equal(Status.NotOurProtocol, Pair.StatusOf(() => ManagedIpc.OpenQueue(address)));
        Assert.Equal(Status.NotOurProtocol, Pair.StatusOf(() => ManagedIpc.RemoveQueue(address)));
        Assert.Equal("precious", File.ReadAllText(PathOf(address)));
        File.Delete(PathOf(address));
        File.CreateSymbolicLink(PathOf(address), "/etc/passwd");
        Assert.Equal(Status.NoPermission, Pair.StatusOf(() => ManagedIpc.OpenQueue(address)));
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

    /// <summary>An opener of which only the file and its number exist: closing the file without finishing is what the kernel does to a
    /// process killed there.</summary>
    private sealed class Victim : IDisposable
    {
        private readonly RingFile _file;
        private readonly RingFifo _fifo;
        private readonly RingLifo _lifo;

        public unsafe Victim(string address)
        {
            _file = RingFile.Open(Address.Parse(address));
            Blocks = new RingBlocks(_file.Memory, _file.BlockCount, _file.BlockBytes);
            _fifo = new RingFifo(Blocks);
            _lifo = new RingLifo(Blocks);
        }

        public RingBlocks Blocks { get; }

        public void Claim(bool writes)
        {
            var claim = (_file.Order, writes) switch
            {
                (RingOrder.Fifo, true) => _fifo.ClaimWrite(_file.Number, out _, out _),
                (RingOrder.Fifo, false) => _fifo.ClaimRead(_file.Number, 100, out _, out _, out _),
                (_, true) => _lifo.ClaimWrite(_file.Number, out _),
                _ => _lifo.ClaimRead(_file.Number, 100, out _, out _),
            };
            Assert.Equal(RingClaim.Taken, claim);
        }

        /// <summary>Lifo: only announces the claim of a free block, as one killed right after its first step.</summary>
        public unsafe void Announce()
        {
            var head = *Blocks.FreeHead;
            *Blocks.FreeHead = RingHead.Of(RingHead.Tag(head) + 1, RingHead.First(head), _file.Number, RingStep.Pop);
        }

        /// <summary>Fifo: only claims the block; the cursor has not followed.</summary>
        public unsafe void ClaimWithoutCursor()
        {
            var at = *Blocks.WriteEnd;
            Assert.True(RingBlocks.Swap(Blocks.State((uint)at & (Blocks.Count - 1)), RingState.Of(at, 0, RingPhase.Free), RingState.Of(at, _file.Number, RingPhase.Writing)));
        }

        public void Dispose() => _file.Dispose();
    }

    private static void ExpectAWorkingRing(MessageQueue ring, int blocks)
    {
        while (Received(ring, 0) != "nothing")
        {
        }
        for (var lap = 0; lap < 3; lap++)
        {
            for (var i = 0; i < blocks; i++)
                Assert.True(Send(ring, $"{i}"), "a block did not come back");
            Assert.Equal(blocks, Enumerable.Range(0, blocks).Select(_ => Received(ring)).Distinct().Count());
        }
    }

    [Theory]
    [InlineData("fifo", true)]
    [InlineData("fifo", false)]
    [InlineData("lifo", true)]
    [InlineData("lifo", false)]
    public void ADeathWithABlockStopsNobody(string order, bool writes)
    {
        foreach (var wait in new[] { "block", "spin" })
        {
            var address = NewAddress($"blocks=2&block=100&order={order}&wait={wait}");
            using var ring = ManagedIpc.OpenQueue(address);
            if (!writes)
                Send(ring, "taken along");
            using (var victim = new Victim(address))
                victim.Claim(writes);
            ExpectAWorkingRing(ring, 2);
        }
    }

    [Fact]
    public void ADeathBetweenItsFirstTwoStepsStopsNobody()
    {
        var fifo = NewAddress("blocks=2&block=100&wait=block");
        using var ring = ManagedIpc.OpenQueue(fifo);
        using (var victim = new Victim(fifo))
            victim.ClaimWithoutCursor();
        ExpectAWorkingRing(ring, 2);
        var lifo = NewAddress("blocks=2&block=100&wait=block&order=lifo");
        using var stack = ManagedIpc.OpenQueue(lifo);
        using (var victim = new Victim(lifo))
            victim.Announce();
        using var heir = ManagedIpc.OpenQueue(lifo); // has the dead one's number
        ExpectAWorkingRing(stack, 2);
    }

    [Fact]
    public void TheLivingAreLeftAlone()
    {
        var address = NewAddress("blocks=2&block=100&wait=block");
        using var ring = ManagedIpc.OpenQueue(address);
        using var slow = new Victim(address);
        slow.Claim(true);
        Assert.True(Send(ring, "behind it", 0));
        Assert.Equal("nothing", Received(ring, 250));
    }

    [Fact]
    public unsafe void PositionsPassTheEndOfTheirWords()
    {
        foreach (var first in new[] { (1UL << 48) - 3, ulong.MaxValue - 3 })
        {
            var address = NewAddress("blocks=4&block=100");
            var file = RingFile.Open(Address.Parse(address));
            RingBlocks.Format(file.Memory, RingOrder.Fifo, 4, 100, first);
            using var ring = new RingQueue(file, new WaitPolicy(WaitMode.Block, 0), 100);
            for (var i = 0; i < 50; i++)
            {
                Assert.True(Send(ring, $"{i}", 0) && Send(ring, $"{i}+", 0) && Send(ring, $"{i}++", 0));
                Assert.Equal($"{i} {i}+ {i}++", $"{Received(ring, 0)} {Received(ring, 0)} {Received(ring, 0)}");
            }
        }
    }

    [Fact]
    public unsafe void DamageIsFoundOutAndLeadsNobodyAstray()
    {
        var random = new Random(5);
        for (var round = 0; round < 200; round++)
        {
            var address = NewAddress($"blocks=4&block=100&order={(round % 2 == 0 ? "fifo" : "lifo")}");
            using var ring = ManagedIpc.OpenQueue(address);
            using var hostile = new Victim(address);
            Assert.True(Send(ring, "x", 0));
            if (round < 2)
            {
                for (uint i = 0; i < 4; i++)
                    *hostile.Blocks.Length(i) = round == 0 ? 101 : uint.MaxValue;
                Assert.Equal(Status.NotOurProtocol, Pair.StatusOf(() => ring.TryDequeue(new byte[200], out _, 50)));
                continue;
            }
            for (var i = 0; i < 3; i++)
            {
                var noise = random.Next(4) == 0 ? (ulong)random.NextInt64() : (ulong)random.Next(64);
                var word = random.Next(4) switch
                {
                    0 => hostile.Blocks.WriteEnd,
                    1 => hostile.Blocks.ReadEnd,
                    2 => random.Next(2) == 0 ? hostile.Blocks.FreeHead : hostile.Blocks.FullHead,
                    _ => hostile.Blocks.State((uint)random.Next(4)),
                };
                *word = noise;
            }
            for (var i = 0; i < 4; i++)
            {
                try
                {
                    ring.TryEnqueue([1], 0);
                    ring.TryDequeue(new byte[100], out _, 0);
                }
                catch (IpcException e)
                {
                    Assert.Equal(Status.NotOurProtocol, e.Status);
                }
            }
        }
    }
}
