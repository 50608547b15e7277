namespace Ipc.Tests;

/// <summary>Rings near the end of their counters, and peers that die or write nonsense into the shared memory.</summary>
public sealed class SharedMemoryTests
{
    /// <summary>Both ends of one mapping, with a hand on the client's socket and on the memory itself.</summary>
    private sealed class Ends : IDisposable
    {
        private readonly LocalListener _listener;

        public Descriptor ClientSocket { get; }
        public SharedMemoryLink ClientLink { get; }
        public SharedMemoryLink ServerLink { get; }
        public Channel Client { get; }
        public Channel Server { get; }

        public Ends(bool rings, string options = "", ulong firstSlot = 0, ulong firstData = 0, uint slots = 16)
        {
            var address = Address.Parse($"{(rings ? "shm" : "shm-event")}://test-{Guid.NewGuid():N}?wait=block{options}");
            var name = LocalNames.InPrivateFolder(address, "shm-");
            var layout = rings ? SharedMemoryLayout.Slots : SharedMemoryLayout.Event;
            var policy = WaitPolicy.Of(address);
            SharedMemoryLink? offered = null;
            _listener = LocalListener.Open(name, connection =>
            {
                offered = SharedMemoryHandover.Offer(new SocketPeer(connection, null), layout, rings ? slots : 0, 64 * 1024, policy)!;
                return Over(offered);
            });
            ClientSocket = LocalSocket.Connect(name, new Deadline(Pair.Patience));
            Server = _listener.Accept(Pair.Patience);
            ServerLink = offered!;
            ClientLink = SharedMemoryHandover.TakeUp(new SocketPeer(ClientSocket, name), layout, policy, name.Address, new Deadline(Pair.Patience));
            Client = Over(ClientLink);

            Channel Over(SharedMemoryLink link) => rings
                ? new ShmChannel(link, address.Limit, "test", firstSlot, firstData)
                : new ShmEventChannel(link, address.Limit, "test");
        }

        /// <summary>What the kernel does when a process is killed: its end of the socket goes, and nothing else happens.</summary>
        public void KillClient() => LocalSocket.ShutDown(ClientSocket);

        public void Dispose()
        {
            Client.Dispose();
            Server.Dispose();
            _listener.Dispose();
        }
    }

    /// <summary>What the system refuses is said in one sentence; what it grants works like any other memory.</summary>
    [Theory]
    [InlineData("pages=huge")]
    [InlineData("prefault=yes")]
    public void HugePagesAndPrefaultingAreHadOrRefused(string option)
    {
        var address = $"shm://test-{Guid.NewGuid():N}?{option}";
        using var listener = ManagedIpc.Listen(address);
        var connecting = Aside.Run(() =>
        {
            try
            {
                using var client = ManagedIpc.Connect(address, Pair.Patience);
                client.Send(new byte[50_000], Pair.Patience);
                return Status.Ok;
            }
            catch (IpcException e)
            {
                return e.Status;
            }
        });
        try
        {
            using var server = listener.Accept(Pair.Patience);
            Assert.Equal(50_000, server.Receive(new byte[50_000], Pair.Patience));
            Assert.Equal(Status.Ok, connecting.Join());
        }
        catch (IpcException e) when (e.Status == Status.NotAvailable)
        {
            Assert.Contains(option, e.Message, StringComparison.Ordinal);
            Assert.NotEqual(Status.Ok, connecting.Join());
        }
    }

    [Fact]
    public void PositionsPassTheEndOf32Bits()
    {
        const ulong End = 1UL << 32;
        using var ends = new Ends(true, "", End - 40, End - (3 * 64 * 1024));
        var random = new Random(3);
        var buffer = new byte[200_000];
        var echoing = Aside.Run(() =>
        {
            for (var i = 0; i < 500; i++)
                ends.Server.Reply(ends.Server.ReceiveRequest(Pair.Patience), Pair.Patience);
        });
        for (var i = 0; i < 500; i++)
        {
            var request = Pair.Bytes(random.Next(3) switch { 0 => random.Next(600), 1 => random.Next(5000), _ => random.Next(150_000) }, i);
            Assert.Equal(request.Length, ends.Client.Call(request, buffer, Pair.Patience));
            Assert.True(request.AsSpan().SequenceEqual(buffer.AsSpan(0, request.Length)));
        }
        echoing.Join();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void AKilledPeerIsNoticed(bool rings)
    {
        foreach (var timeout in new[] { Channel.Forever, Pair.Patience })
        {
            using var ends = new Ends(rings);
            ends.Client.Send([1]);
            Assert.Equal(1, ends.Server.Receive(new byte[1], timeout));
            var receiving = Aside.Run(() => Pair.StatusOf(() => ends.Server.Receive(new byte[1], timeout)));
            Thread.Sleep(30);
            var start = Environment.TickCount64;
            ends.KillClient();
            Assert.Equal(Status.PeerClosed, receiving.Join());
            Assert.InRange(Environment.TickCount64 - start, 0, 600);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void WhatAKilledPeerSentIsStillReceived(bool rings)
    {
        using var ends = new Ends(rings);
        ends.Client.Send([1]);
        ends.KillClient();
        Thread.Sleep(100);
        Assert.Equal(1, ends.Server.Receive(new byte[1], Pair.Patience));
        Assert.Equal(Status.PeerClosed, Pair.StatusOf(() => ends.Server.Receive(new byte[1], Pair.Patience)));
    }

    [Fact]
    public void APeerKilledInTheMiddleOfAMessageIsTruncated()
    {
        using var ends = new Ends(true);
        var sending = Aside.Run(() => Pair.StatusOf(() => ends.Client.Send(new byte[500_000])));
        Assert.Equal(500_000, PeekedLength(ends.Server));
        ends.KillClient();
        Assert.Equal(Status.PeerClosed, sending.Join());
        Assert.Equal(Status.Truncated, Pair.StatusOf(() => ends.Server.Receive(new byte[500_000], Pair.Patience)));
    }

    // The length of the next message as its first record tells it, without waiting for the rest.
    private static int PeekedLength(Channel channel)
    {
        var failure = Assert.Throws<IpcException>(() => channel.Receive([], Pair.Patience));
        Assert.Equal(Status.BufferTooSmall, failure.Status);
        return int.Parse(failure.Message.Split(' ')[3], System.Globalization.CultureInfo.InvariantCulture);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void ATimeOutInTheMiddleKeepsWhatHasCome(bool inPlace)
    {
        using var ends = new Ends(true);
        var message = Pair.Bytes(150_000);
        var sending = Aside.Run(() => ends.Client.Send(message, Pair.Patience));
        // The reader stops the writer by not reading: the ring holds no more than 64 kB of it.
        Assert.Equal(message.Length, PeekedLength(ends.Server));
        var received = new byte[message.Length];
        for (var done = false; !done;)
        {
            try
            {
                Array.Clear(received);
                if (inPlace)
                    ends.Server.Peek(0).CopyTo(received);
                else
                    ends.Server.Receive(received, 0);
                done = true;
            }
            catch (IpcException e) when (e.Status == Status.TimedOut)
            {
                Thread.Sleep(1);
            }
        }
        Assert.True(message.AsSpan().SequenceEqual(received));
        sending.Join();
    }

    public static TheoryData<string, Status> Nonsense => new()
    {
        { "length", Status.NotOurProtocol },
        { "negative length", Status.NotOurProtocol },
        { "kind 0", Status.NotOurProtocol },
        { "kind 5", Status.NotOurProtocol },
        { "flags", Status.NotOurProtocol },
        { "leaves the slots", Status.NotOurProtocol },
        { "skip of everything", Status.NotOurProtocol },
        { "continues nothing", Status.NotOurProtocol },
        { "run of empty messages", Status.NotOurProtocol },
        { "run that does not divide", Status.NotOurProtocol },
        { "run over a record", Status.NotOurProtocol },
        { "run of more", Status.NotOurProtocol },
        { "total too large", Status.PeerTooLarge },
        { "total too small", Status.NotOurProtocol },
        { "over the limit", Status.PeerTooLarge },
    };

    [Theory]
    [MemberData(nameof(Nonsense))]
    public unsafe void NonsenseInASlotBreaksTheChannel(string what, Status status)
    {
        using var ends = new Ends(true, "&max=20k");
        var slot = new ShmRingMemory(ends.ClientLink, 0).Slot(0);
        var (length, kindAndFlags, total) = what switch
        {
            "length" => (32 * 1024 + 1, 1u | ShmRingMemory.InData, 0ul),
            "negative length" => (-5, 1u, 0ul),
            "kind 0" => (1, 0u, 0ul),
            "kind 5" => (1, 5u, 0ul),
            "flags" => (1, 1u | (16 << 16), 0ul),
            "leaves the slots" => (497, 1u, 0ul),
            "skip of everything" => (0, ShmRingMemory.Skip, 0ul),
            "continues nothing" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.Continues, 0ul),
            "run of empty messages" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.Run, 0ul),
            "run that does not divide" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.Run, 33ul),
            "run over a record" => (64 * 1024, 1u | ShmRingMemory.InData | ShmRingMemory.Run, 16ul),
            "run of more" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.Run | ShmRingMemory.More, 10ul),
            "total too large" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.More, ulong.MaxValue),
            "total too small" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.More, 100ul),
            _ => (20 * 1024 + 1, 1u | ShmRingMemory.InData, 0ul),
        };
        *(int*)(slot + 4) = length;
        *(uint*)(slot + 8) = kindAndFlags;
        *(ulong*)(slot + 16) = total;
        Volatile.Write(ref *(uint*)slot, 1);
        for (var i = 0; i < 2; i++)
            Assert.Equal(status, Pair.StatusOf(() => ends.Server.Receive(new byte[64 * 1024], Pair.Patience)));
        Assert.Equal(status, Pair.StatusOf(() => ends.Server.ReceiveBatch(new byte[64 * 1024], new int[10], Pair.Patience)));
    }

    /// <summary>A run is what it said at first, whatever its slot says later.</summary>
    [Fact]
    public unsafe void ARunThatChangesWhileItIsReadStaysWhatItWas()
    {
        using var ends = new Ends(true);
        var slot = new ShmRingMemory(ends.ClientLink, 0).Slot(0);
        void forge(int length, ulong each)
        {
            *(int*)(slot + 4) = length;
            *(uint*)(slot + 8) = 1u | ShmRingMemory.InData | ShmRingMemory.Run;
            *(ulong*)(slot + 16) = each;
            Volatile.Write(ref *(uint*)slot, 1);
        }
        forge(100, 10);
        var buffer = new byte[1000];
        Assert.Equal(10, ends.Server.Receive(buffer, 0));
        forge(-1, 1000);
        Assert.Equal(2, ends.Server.ReceiveBatch(buffer, new int[2], 0));
        for (var i = 3; i < 10; i++)
            Assert.Equal(10, ends.Server.Receive(buffer, 0));
        Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>A batch of messages of one length is one record, which can be taken in portions and one by one.</summary>
    [Fact]
    public void MessagesOfOneLengthTravelAsOneRecord()
    {
        using var ends = new Ends(true);
        var messages = new byte[64 * 32];
        var lengths = Enumerable.Repeat(32, 64).ToArray();
        var buffer = new byte[messages.Length];
        var taken = new int[64];
        for (var lap = 0; lap < 100; lap++)
        {
            new Random(lap).NextBytes(messages);
            Assert.Equal(64, ends.Client.SendBatch(messages, lengths, 0)); // into 16 slots
            Assert.Equal(5, ends.Server.ReceiveBatch(buffer, taken.AsSpan(0, 5), 0));
            Assert.Equal(32, ends.Server.Receive(buffer.AsSpan(5 * 32), 0));
            Assert.Equal(2, ends.Server.ReceiveBatch(buffer.AsSpan(6 * 32, 95), taken, 0));
            Assert.Equal(32, ends.Server.Peek(0).Length);
            ends.Server.Release();
            Assert.Equal(Status.BufferTooSmall, Pair.StatusOf(() => ends.Server.ReceiveBatch(new byte[31], taken, 0)));
            Assert.Equal(55, ends.Server.ReceiveBatch(buffer.AsSpan(9 * 32), taken, 0));
            Assert.Equal(32, taken[54]);
            messages.AsSpan(8 * 32, 32).CopyTo(buffer.AsSpan(8 * 32)); // which was only looked at
            Assert.True(messages.AsSpan().SequenceEqual(buffer));
            Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.ReceiveBatch(buffer, taken, 0)));
        }
    }

    /// <summary>Slots that short laps leave out may hold the stamps they will have 2^32 slots later, in this very lap.</summary>
    [Theory]
    [InlineData(255), InlineData(256), InlineData(257), InlineData(300), InlineData(511), InlineData(512), InlineData(513), InlineData(767), InlineData(1023), InlineData(1024)]
    public unsafe void SlotsLeftOutForLongAreNotMistakenForMessages(int sent)
    {
        const ulong slots = 1024;
        using var ends = new Ends(true, slots: (uint)slots);
        var memory = new ShmRingMemory(ends.ClientLink, 0);
        for (var position = memory.ShortLap + 1; position < slots; position++)
            *(ulong*)memory.Slot(position) = ShmRingMemory.Stamp(position) | (1ul << 32);
        for (var i = 0; i < sent; i++)
            ends.Client.Send(BitConverter.GetBytes(i), 0);
        var buffer = new byte[100];
        for (var i = 0; i < sent; i++)
        {
            Assert.Equal(4, ends.Server.Receive(buffer, 0));
            Assert.Equal(i, BitConverter.ToInt32(buffer));
        }
        Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>What a short lap passes over before its own end, the next one may look at.</summary>
    [Fact]
    public unsafe void TheEndOfAShortLapIsNotMistakenForAMessage()
    {
        const ulong slots = 1024;
        using var ends = new Ends(true, slots: (uint)slots);
        var memory = new ShmRingMemory(ends.ClientLink, 0);
        *(ulong*)memory.Slot(memory.ShortLap) = ShmRingMemory.Stamp(slots + memory.ShortLap) | (1ul << 32);
        var buffer = new byte[1000];
        void exchange(int count, int length)
        {
            for (var i = 0; i < count; i++)
            {
                ends.Client.Send(new byte[length], 0);
                Assert.Equal(length, ends.Server.Receive(buffer, 0));
            }
        }
        exchange(85, 100); // two slots each: up to slot 170
        exchange(29, 150); // three each: the last one, which would end at 257, begins the next lap
        exchange((int)memory.ShortLap - 3, 1);
        Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>Stretches in which the reader keeps up, and others in which the writer is far ahead.</summary>
    [Theory]
    [InlineData(0ul), InlineData((1ul << 32) - 4096)]
    public void LapsOfEveryLengthKeepOrder(ulong firstSlot)
    {
        using var ends = new Ends(true, firstSlot: firstSlot, slots: 1024);
        var random = new Random(13);
        var buffer = new byte[2000];
        var (written, read) = (0, 0);
        static int lengthOf(int number) => number % 7 == 0 ? number % 2000 : number % 60;
        bool write()
        {
            var message = new byte[lengthOf(written)];
            Array.Fill(message, (byte)written);
            try
            {
                ends.Client.Send(message, 0);
            }
            catch (IpcException full) when (full.Status == Status.TimedOut)
            {
                return false;
            }
            written++;
            return true;
        }
        void readOne()
        {
            var length = ends.Server.Receive(buffer, 0);
            Assert.Equal(lengthOf(read), length);
            Assert.False(buffer.AsSpan(0, length).ContainsAnyExcept((byte)read));
            read++;
        }
        for (var stretch = 0; stretch < 200; stretch++)
        {
            var ahead = stretch % 3 == 0 ? random.Next(2000) : random.Next(4);
            for (var step = random.Next(2000); step != 0; step--)
            {
                if (!(written - read <= ahead && write()) && read != written)
                    readOne();
            }
            while (read != written)
                readOne();
            Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
        }
        Assert.True(written > 50_000, $"only {written} messages");
    }

    /// <summary>What a message left in its later slots must never pass for the stamp of a later message.</summary>
    [Fact]
    public unsafe void BytesThatLookLikeStampsAreNone()
    {
        using var ends = new Ends(true);
        var buffer = new byte[500];
        var position = 0UL;
        for (var i = 0; i < 2000; i++)
        {
            var length = 49 + (i % 350);
            var slots = ShmRingMemory.SlotsFor(length);
            if ((position % 16) + slots > 16)
                position += 16 - (position % 16);
            var message = new byte[length];
            // In each place where a slot's first word will be: the stamp that slot would have in the next lap.
            for (var at = 48; at + 8 <= length; at += 64)
                BitConverter.TryWriteBytes(message.AsSpan(at), ShmRingMemory.Stamp(position + 1 + (ulong)((at - 48) / 64) + 16) | (7UL << 32));
            ends.Client.Send(message, Pair.Patience);
            Assert.Equal(length, ends.Server.Receive(buffer, Pair.Patience));
            Assert.True(message.AsSpan().SequenceEqual(buffer.AsSpan(0, length)));
            Assert.Equal(Status.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
            position += slots;
        }
    }

    [Fact]
    public unsafe void AReaderThatClaimsWhatWasNeverWrittenBreaksTheWriter()
    {
        using var ends = new Ends(true);
        Volatile.Write(ref *ends.ClientLink.Outgoing.SlotsRead, 1000ul);
        Assert.Equal(Status.NotOurProtocol, Pair.StatusOf(() =>
        {
            for (var i = 0; i < 100; i++)
                ends.Client.Send([1], Pair.Patience);
        }));
    }

    [Fact]
    public unsafe void NonsenseInABlockBreaksTheChannel()
    {
        foreach (var (kind, length, status) in new[] { (7u, 1u, Status.NotOurProtocol), (1u, 64 * 1024 + 1u, Status.PeerTooLarge), (1u, uint.MaxValue, Status.PeerTooLarge) })
        {
            using var ends = new Ends(false);
            var block = ends.ClientLink.Memory + 2048;
            *(uint*)(block + 4) = length;
            *(uint*)(block + 8) = kind;
            Volatile.Write(ref *(uint*)block, 1);
            Assert.Equal(status, Pair.StatusOf(() => ends.Server.Receive(new byte[10], Pair.Patience)));
        }
    }

    [Fact]
    public void AParkedSideIsWokenAtOnceAndIdleCostsNothing()
    {
        using var ends = new Ends(true);
        var buffer = new byte[1];
        var receiving = Aside.Run(() =>
        {
            for (var i = 0; i < 20; i++)
                ends.Server.Receive(buffer, Pair.Patience);
            return Environment.TickCount64;
        });
        for (var i = 0; i < 20; i++)
        {
            unsafe
            {
                Pair.Until(() => Volatile.Read(ref *ends.ServerLink.Incoming.ReaderParked) == 1);
            }
            ends.Client.Send([1]);
        }
        var sent = Environment.TickCount64;
        // Twenty wake-ups by the end of a slice instead of at once would take a second.
        var late = receiving.Join() - sent; // below 0 when this thread was held up after its last send
        Assert.True(late < 300, $"the last message came {late} ms after it was sent");
    }
}
