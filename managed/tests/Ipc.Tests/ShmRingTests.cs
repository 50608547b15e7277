namespace Ipc.Tests;

/// <summary>Rings of `shm`: laps, runs, counters near their end, and slots in which a peer wrote nonsense.</summary>
public sealed class ShmRingTests
{
    [Fact]
    public void PositionsPassTheEndOf32Bits()
    {
        const ulong End = 1UL << 32;
        using var ends = new SharedMemoryEnds(true, "", End - 40, End - (3 * 64 * 1024));
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

    public static TheoryData<string, IpcStatus> Nonsense => new()
    {
        { "length", IpcStatus.NotOurProtocol },
        { "negative length", IpcStatus.NotOurProtocol },
        { "kind 0", IpcStatus.NotOurProtocol },
        { "kind 5", IpcStatus.NotOurProtocol },
        { "flags", IpcStatus.NotOurProtocol },
        { "leaves the slots", IpcStatus.NotOurProtocol },
        { "skip of everything", IpcStatus.NotOurProtocol },
        { "continues nothing", IpcStatus.NotOurProtocol },
        { "run of empty messages", IpcStatus.NotOurProtocol },
        { "run that does not divide", IpcStatus.NotOurProtocol },
        { "run over a record", IpcStatus.NotOurProtocol },
        { "run of more", IpcStatus.NotOurProtocol },
        { "in turn in the data area", IpcStatus.NotOurProtocol },
        { "skip in turn", IpcStatus.NotOurProtocol },
        { "total too large", IpcStatus.PeerTooLarge },
        { "total too small", IpcStatus.NotOurProtocol },
        { "over the limit", IpcStatus.PeerTooLarge },
    };

    [Theory]
    [MemberData(nameof(Nonsense))]
    public unsafe void NonsenseInASlotBreaksTheChannel(string what, IpcStatus status)
    {
        using var ends = new SharedMemoryEnds(true, "&max=20k");
        var slot = new ShmRingMemory(ends.ClientSegment, 0).Slot(0);
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
            "in turn in the data area" => (100, 1u | ShmRingMemory.InData | ShmRingMemory.InTurn, 0ul),
            "skip in turn" => (0, ShmRingMemory.Skip | ShmRingMemory.TurnFlags, 0ul),
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
        using var ends = new SharedMemoryEnds(true);
        var slot = new ShmRingMemory(ends.ClientSegment, 0).Slot(0);
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
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>A batch of messages of one length is one record, which can be taken in portions and one by one.</summary>
    [Fact]
    public void MessagesOfOneLengthTravelAsOneRecord()
    {
        using var ends = new SharedMemoryEnds(true);
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
            Assert.Equal(IpcStatus.BufferTooSmall, Pair.StatusOf(() => ends.Server.ReceiveBatch(new byte[31], taken, 0)));
            Assert.Equal(55, ends.Server.ReceiveBatch(buffer.AsSpan(9 * 32), taken, 0));
            Assert.Equal(32, taken[54]);
            messages.AsSpan(8 * 32, 32).CopyTo(buffer.AsSpan(8 * 32)); // which was only looked at
            Assert.True(messages.AsSpan().SequenceEqual(buffer));
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.ReceiveBatch(buffer, taken, 0)));
        }
    }

    /// <summary>Slots that short laps leave out may hold the sequences they will have 2^32 slots later, in this very lap.</summary>
    [Theory]
    [InlineData(127), InlineData(128), InlineData(129), InlineData(255), InlineData(256), InlineData(257), InlineData(300), InlineData(511), InlineData(512),
        InlineData(513), InlineData(767), InlineData(1023), InlineData(1024)]
    public unsafe void SlotsLeftOutForLongAreNotMistakenForMessages(int sent)
    {
        const ulong slots = 1024;
        using var ends = new SharedMemoryEnds(true, slots: (uint)slots);
        var memory = new ShmRingMemory(ends.ClientSegment, 0);
        for (var position = 1ul; position < slots; position++)
            *(ulong*)memory.Slot(position) = ShmRingMemory.Sequence(position) | (1ul << 32);
        for (var i = 0; i < sent; i++)
            ends.Client.Send(BitConverter.GetBytes(i), 0);
        var buffer = new byte[100];
        for (var i = 0; i < sent; i++)
        {
            Assert.Equal(4, ends.Server.Receive(buffer, 0));
            Assert.Equal(i, BitConverter.ToInt32(buffer));
        }
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>What a short lap passes over before its own end, the next one may look at.</summary>
    [Fact]
    public unsafe void TheEndOfAShortLapIsNotMistakenForAMessage()
    {
        const ulong slots = 1024;
        using var ends = new SharedMemoryEnds(true, slots: (uint)slots);
        var memory = new ShmRingMemory(ends.ClientSegment, 0);
        *(ulong*)memory.Slot(memory.ShortLap) = ShmRingMemory.Sequence(slots + memory.ShortLap) | (1ul << 32);
        var buffer = new byte[1000];
        void exchange(int count, int length)
        {
            for (var i = 0; i < count; i++)
            {
                ends.Client.Send(new byte[length], 0);
                Assert.Equal(length, ends.Server.Receive(buffer, 0));
                Answer(ends, buffer);
            }
        }
        exchange(21, 100); // two slots each: up to slot 42
        exchange(29, 150); // three each: the last one, which would end at 129, begins the next lap
        exchange((int)memory.ShortLap - 3, 1);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
    }

    /// <summary>Stretches in which the reader keeps up, and others in which the writer is far ahead.</summary>
    [Theory]
    [InlineData(0ul), InlineData((1ul << 32) - 4096)]
    public void LapsOfEveryLengthKeepOrder(ulong firstSlot)
    {
        using var ends = new SharedMemoryEnds(true, firstSlot: firstSlot, slots: 1024);
        var random = new Random(13);
        var buffer = new byte[2000];
        var (written, read, answers) = (0, 0, false);
        static int lengthOf(int number) => number % 7 == 0 ? number % 2000 : number % 60;
        bool write()
        {
            var message = new byte[lengthOf(written)];
            Array.Fill(message, (byte)written);
            try
            {
                ends.Client.Send(message, 0);
            }
            catch (IpcException full) when (full.Status == IpcStatus.TimedOut)
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
            if (answers)
                Answer(ends, buffer);
        }
        for (var stretch = 0; stretch < 200; stretch++)
        {
            var ahead = stretch % 3 == 0 ? random.Next(2000) : random.Next(4);
            answers = stretch % 2 == 0;
            for (var step = random.Next(2000); step != 0; step--)
            {
                if (!(written - read <= ahead && write()) && read != written)
                    readOne();
            }
            while (read != written)
                readOne();
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
        }
        Assert.True(written > 50_000, $"only {written} messages");
    }

    // The other half of a dialogue.
    private static void Answer(SharedMemoryEnds ends, byte[] buffer)
    {
        ends.Server.Send([1], 0);
        Assert.Equal(1, ends.Client.Receive(buffer, 0));
    }

    /// <summary>Calls and other dialogues stay within the nearest caches.</summary>
    [Fact]
    public unsafe void ADialogueGoesRoundInTheFirstSlots()
    {
        using var ends = new SharedMemoryEnds(true, slots: Slots);
        var memory = new ShmRingMemory(ends.ClientSegment, 0);
        var buffer = new byte[8];
        for (var i = 0ul; i < 10 * memory.ShortLap; i++)
        {
            ends.Client.Send(BitConverter.GetBytes(i), 0);
            Assert.Equal(8, ends.Server.Receive(buffer, 0));
            Answer(ends, buffer);
        }
        // The slot behind the lap has what ends it.
        for (var slot = memory.ShortLap + 1; slot < Slots; slot++)
            Assert.Equal(0u, (uint)*(ulong*)memory.Slot(slot));
    }

    private const uint Slots = 1024;
    private const int Portion = 32;

    // Sends messages of one slot, numbered, until there is no room.
    private static void Fill(SharedMemoryEnds ends, ref int number)
    {
        try
        {
            for (; ; number++)
                ends.Client.Send(BitConverter.GetBytes(number), 0);
        }
        catch (IpcException full) when (full.Status == IpcStatus.TimedOut)
        {
        }
    }

    private static void ReceiveUpTo(SharedMemoryEnds ends, ref int number, int end)
    {
        var buffer = new byte[4];
        for (; number != end; number++)
        {
            Assert.Equal(4, ends.Server.Receive(buffer, 0));
            Assert.Equal(number, BitConverter.ToInt32(buffer));
        }
    }

    /// <summary>Whatever was sent before, and wherever in the ring that ended: bursts find room for all but what the reader may keep to itself, and
    /// after the reader has looked in vain for all.</summary>
    [Fact]
    public void WhoOnlySendsHasAllOfTheRing()
    {
        using var ends = new SharedMemoryEnds(true, slots: Slots);
        var (written, read) = (0, 0);
        for (var before = 0; before < 300; before++)
        {
            for (var i = 0; i < before; i++)
            {
                ends.Client.Send(BitConverter.GetBytes(written), 0);
                ReceiveUpTo(ends, ref read, ++written);
            }
            Fill(ends, ref written);
            Assert.True(written - read > Slots - (Slots / 4) - (2 * Portion), $"room for {written - read} after {before} messages");
            ReceiveUpTo(ends, ref read, written);
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(new byte[4], 0)));
            Fill(ends, ref written);
            Assert.Equal((int)Slots, written - read);
            ReceiveUpTo(ends, ref read, written);
        }
    }

    /// <summary>A fast reader tells of several portions at once; a slow one must not, or whoever waits for room would run into its time-out beside free
    /// slots.</summary>
    [Fact]
    public unsafe void ASlowReaderTellsOfEachPortion()
    {
        using var ends = new SharedMemoryEnds(true, slots: Slots);
        var (written, read) = (0, 0);
        Fill(ends, ref written);
        ReceiveUpTo(ends, ref read, 8 * Portion);
        for (var turn = 0; turn < 3; turn++)
        {
            Thread.Sleep(40); // no system's coarse clock stands still for so long
            ReceiveUpTo(ends, ref read, read + Portion);
            Assert.Equal((ulong)read, Volatile.Read(ref *ends.ClientSegment.Outgoing.SlotsRead));
        }
    }

    [Fact]
    public unsafe void AWriterThatSleepsIsToldOfEachPortion()
    {
        using var ends = new SharedMemoryEnds(true, slots: Slots);
        var (written, read) = (0, 0);
        while (read < 12 * Portion)
        {
            Fill(ends, ref written);
            var number = written++;
            var sending = Aside.Run(() => ends.Client.Send(BitConverter.GetBytes(number), Pair.Patience));
            Pair.Until(() => Volatile.Read(ref *ends.ClientSegment.Outgoing.WriterParked) != 0);
            ReceiveUpTo(ends, ref read, read + Portion);
            sending.Join(); // throws what Send has thrown
        }
    }

    /// <summary>What a message left in its later slots must never pass for the sequence of a later message.</summary>
    [Fact]
    public unsafe void BytesThatLookLikeSequencesAreNone()
    {
        using var ends = new SharedMemoryEnds(true);
        var buffer = new byte[500];
        var position = 0UL;
        for (var i = 0; i < 2000; i++)
        {
            var length = 49 + (i % 350);
            var slots = ShmRingMemory.SlotsFor(length);
            if ((position % 16) + slots > 16)
                position += 16 - (position % 16);
            var message = new byte[length];
            // In each place where a slot's first word will be: the sequence that slot would have in the next lap.
            for (var at = 48; at + 8 <= length; at += 64)
                BitConverter.TryWriteBytes(message.AsSpan(at), ShmRingMemory.Sequence(position + 1 + (ulong)((at - 48) / 64) + 16) | (7UL << 32));
            ends.Client.Send(message, Pair.Patience);
            Assert.Equal(length, ends.Server.Receive(buffer, Pair.Patience));
            Assert.True(message.AsSpan().SequenceEqual(buffer.AsSpan(0, length)));
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
            position += slots;
        }
    }

    [Fact]
    public unsafe void AReaderThatClaimsWhatWasNeverWrittenBreaksTheWriter()
    {
        using var ends = new SharedMemoryEnds(true);
        Volatile.Write(ref *ends.ClientSegment.Outgoing.SlotsRead, 1000ul);
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() =>
        {
            for (var i = 0; i < 100; i++)
                ends.Client.Send([1], Pair.Patience);
        }));
    }
}
