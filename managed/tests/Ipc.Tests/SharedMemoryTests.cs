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

        public Ends(bool rings, string options = "", ulong firstSlot = 0, ulong firstData = 0)
        {
            var address = Address.Parse($"{(rings ? "shm" : "shm-event")}://test-{Guid.NewGuid():N}?wait=block{options}");
            var name = LocalNames.InPrivateFolder(address, "shm-");
            var layout = rings ? SharedMemoryLayout.Slots : SharedMemoryLayout.Event;
            var policy = WaitPolicy.Of(address);
            SharedMemoryLink? offered = null;
            _listener = LocalListener.Open(name, connection =>
            {
                offered = SharedMemoryHandover.Offer(new SocketPeer(connection, null), layout, rings ? 16u : 0, 64 * 1024, policy)!;
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
        Assert.InRange(receiving.Join() - sent, 0, 300);
    }
}
