namespace Ipc.Tests;

/// <summary>Which slots a writer suspects of a sequence that comes due, and the calls that go back to a ring's first slots. Twin of
/// native/tests/shm/turns_test.cpp.</summary>
public sealed class ShmTurnsTests
{
    private static int BytesOf(int slots) => (slots * SharedMemoryLayout.SlotBytes) - ShmRingMemory.HeaderBytes;

    // Only before a message in turn, as a call's are, a writer relies on what it remembers, and does not look.
    private static void Call(SharedMemoryEnds ends)
    {
        var calling = Aside.Run(() => ends.Client.Call([1], new byte[1], Pair.Patience));
        Assert.Equal(1, ends.Server.ReceiveRequest(Pair.Patience).Length);
        ends.Server.Reply([2], Pair.Patience);
        Assert.Equal(1, calling.Join());
    }

    /// <summary>A slot that was passed over again and again may still hold the sequence of 2^32 slots before.</summary>
    [Theory]
    [InlineData(1ul), InlineData(2ul), InlineData(7ul)]
    public unsafe void AnEraEndsBeforeItsSequencesComeAgain(ulong eras)
    {
        const ulong slots = 8;
        var end = eras << 31;
        using var ends = new SharedMemoryEnds(true, firstSlot: end - (2 * slots), slots: (uint)slots);
        *(ulong*)new ShmRingMemory(ends.ClientSegment, 0).Slot(7) = ShmRingMemory.Sequence(end + 7) | (5ul << 32);
        var buffer = new byte[1000];
        void exchange(int count)
        {
            var sent = Pair.Bytes(BytesOf(count), count);
            ends.Client.Send(sent, 0);
            Assert.Equal(sent.Length, ends.Server.Receive(buffer, 0));
            Assert.True(buffer.AsSpan(0, sent.Length).SequenceEqual(sent));
        }
        void expectNothing() => Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
        exchange(4);
        exchange(2);
        // Four more do not go before the ring's end: slot 7 is passed over, in this lap and in the next.
        exchange(4);
        exchange(2);
        exchange(4);
        for (var slot = 4; slot < 8; slot++)
        {
            Call(ends);
            expectNothing();
        }
    }

    /// <summary>Whoever reserved more than was sent may have written to all of it.</summary>
    [Theory]
    [InlineData(1), InlineData(2), InlineData(3), InlineData(4)]
    public void RoomThatWasNotUsedWholeLeavesNoSequence(int reserved)
    {
        for (var used = 1; used <= reserved; used++)
        {
            using var ends = new SharedMemoryEnds(true, slots: 8);
            var room = ends.Client.Reserve(BytesOf(reserved), 0);
            for (var slot = 1; slot < reserved; slot++)
                BitConverter.TryWriteBytes(room[(BytesOf(slot))..], ShmRingMemory.Sequence((ulong)slot) | 5ul << 32);
            ends.Client.Commit(BytesOf(used), 0);
            var buffer = new byte[1000];
            Assert.Equal(BytesOf(used), ends.Server.Receive(buffer, 0));
            for (var next = used; next < reserved; next++)
            {
                Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
                Call(ends);
            }
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ends.Server.Receive(buffer, 0)));
        }
    }

    /// <summary>Short calls one after another never leave the first slots.</summary>
    [Fact]
    public unsafe void CallsStayInTheFirstSlots()
    {
        const int slots = 1024;
        using var ends = new SharedMemoryEnds(true, slots: slots);
        var serving = Aside.Run(() => ends.Server.Serve(static (request, reply) => request.CopyTo(reply.Reserve(request.Length))));
        var reply = new byte[200];
        for (var i = 0; i < 10_000; i++)
        {
            var request = Pair.Bytes(i % 113, i);
            Assert.Equal(request.Length, ends.Client.Call(request, reply, Pair.Patience));
            Assert.True(reply.AsSpan(0, request.Length).SequenceEqual(request));
        }
        for (var ring = 0; ring < 2; ring++)
        {
            var memory = new ShmRingMemory(ends.ClientSegment, ring);
            for (var slot = ShmRingMemory.SlotsOfTurns + 1; slot < slots; slot++)
                Assert.True(*(ulong*)memory.Slot(slot) == 0, $"ring {ring}, slot {slot} was used");
        }
        ends.Client.Close();
        serving.Join();
    }

    private static int ReplyLength(int seed) =>
        seed % 5 == 0 ? seed % 3000 : seed % 97 == 1 ? 40_000 + (seed % 100_000) : seed % 120;

    /// <summary>All lengths in both directions, some calls given up before they are answered: every answer is the right one.</summary>
    [Theory]
    [InlineData(8u), InlineData(16u), InlineData(64u), InlineData(256u), InlineData(4096u)]
    public void EveryCallGetsItsAnswer(uint slots)
    {
        using var ends = new SharedMemoryEnds(true, slots: slots);
        var serving = Aside.Run(() => Pair.StatusOf(() => Serve(ends.Server)));
        var random = new Random(11);
        var reply = new byte[200_000];
        var givenUp = 0;
        for (var seed = 1; seed < 6_000; seed++)
        {
            var impatient = seed % 501 == 0; // with short requests: half of a long one would end the channel
            var length = impatient ? seed % 100 : random.Next(20) == 0 ? random.Next(100_000) : random.Next(4) == 0 ? random.Next(2500) : random.Next(110);
            byte[] request = [.. BitConverter.GetBytes(seed), .. Pair.Bytes(length, seed)];
            var got = 0;
            var status = IpcStatus.Ok;
            try
            {
                got = ends.Client.Call(request, reply, impatient ? 1 : Pair.Patience);
            }
            catch (IpcException failure)
            {
                status = failure.Status;
            }
            if (impatient && status == IpcStatus.TimedOut)
            {
                givenUp++;
                continue;
            }
            if (seed % 61 == 7)
            {
                Assert.Equal(IpcStatus.HandlerFailed, status);
                continue;
            }
            Assert.Equal(IpcStatus.Ok, status);
            Assert.Equal(ReplyLength(seed), got);
            Assert.True(reply.AsSpan(0, got).SequenceEqual(Pair.Bytes(got, seed + 1)), $"the answer to call {seed} is another one");
        }
        Assert.NotEqual(0, givenUp);
        ends.Client.Close();
        Assert.Equal(IpcStatus.PeerClosed, serving.Join());
    }

    private static void Serve(IpcChannel server)
    {
        while (true)
        {
            var request = server.ReceiveRequest(Pair.Patience);
            var seed = BitConverter.ToInt32(request);
            if (!request[sizeof(int)..].SequenceEqual(Pair.Bytes(request.Length - sizeof(int), seed)))
                throw new InvalidOperationException($"request {seed} was damaged");
            if (seed % 501 == 0)
                Thread.Sleep(4);
            if (seed % 61 == 7)
            {
                server.FailRequest("no", Pair.Patience);
                continue;
            }
            var reply = Pair.Bytes(ReplyLength(seed), seed + 1);
            if (seed % 3 == 0)
            {
                reply.CopyTo(server.ReserveReply(reply.Length + (seed % 70), Pair.Patience));
                server.CommitReply(reply.Length, Pair.Patience);
            }
            else
            {
                server.Reply(reply, Pair.Patience);
            }
        }
    }
}
